/** The called Worker of the binding benchmark: an echo tool over RPC and over HTTP, and the floors. */
import { RpcTarget, WorkerEntrypoint } from 'cloudflare:workers'
import * as z from 'zod'
import { createWorker } from '../runtimes/cloudflare/index.ts'
import { createServer } from '../src/presets/server.ts'

const server = createServer({ name: 'bench', version: '1.0.0' })
server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
const worker = createWorker(server)

/** Parses and answers. */
function answer(text: string): string {
  const { id, params } = JSON.parse(text) as {
    id: number
    params: { arguments: { text: string } }
  }
  const result = { content: [{ type: 'text', text: params.arguments.text }] }
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

class BareConnection extends RpcTarget {
  send(text: string): string {
    return answer(text)
  }
}

/** The floor over RPC. */
export class Bare extends WorkerEntrypoint {
  open(): BareConnection {
    return new BareConnection()
  }
}

export const Mcp = worker.entrypoint
export const { McpSession, McpHub } = worker.durableObjects

export default {
  async fetch(...[request, env, ctx]: Parameters<typeof worker.fetch>): Promise<Response> {
    if (new URL(request.url).pathname === '/mcp') return worker.fetch(request, env, ctx)
    const headers = { 'content-type': 'application/json' }
    return new Response(answer(await request.text()), { headers })
  },
}
