/** The Worker of the bench of Durable Objects: the floors, and an echo tool served by createWorker. */
import { DurableObject } from 'cloudflare:workers'
import * as z from 'zod'
import { createWorker } from '../runtimes/cloudflare/index.ts'
import { createServer } from '../src/server/index.ts'

interface Call {
  id: number
  params: { arguments: { text: string } }
}

const server = createServer({ name: 'bench', version: '1.0.0' })
server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
const worker = createWorker(server)

function answer({ id, params }: Call): Response {
  const result = { content: [{ type: 'text', text: params.arguments.text }] }
  return Response.json({ jsonrpc: '2.0', id, result })
}

/** Parses, reads a row, and answers. */
export class Bare extends DurableObject {
  async fetch(request: Request): Promise<Response> {
    const { sql } = this.ctx.storage
    const call = (await request.json()) as Call
    if (call.params.arguments === undefined) {
      sql.exec('CREATE TABLE record (id TEXT PRIMARY KEY, value TEXT)')
      sql.exec("INSERT INTO record VALUES ('one', '{}')")
      return Response.json({ jsonrpc: '2.0', id: call.id, result: {} })
    }
    JSON.parse(String(sql.exec("SELECT value FROM record WHERE id = 'one'").one().value))
    return answer(call)
  }
}

interface Env {
  BARE: {
    newUniqueId(): object
    idFromString(id: string): object
    get(id: object): { fetch(request: Request): Promise<Response> }
  }
}

export default {
  async fetch(request: Request, env: Env, ctx: never): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/mcp') return worker.fetch(request, env, ctx)
    if (pathname === '/floor') return answer((await request.json()) as Call)
    const known = request.headers.get('mcp-session-id')
    const id = known === null ? env.BARE.newUniqueId() : env.BARE.idFromString(known)
    const response = await env.BARE.get(id).fetch(request)
    if (known !== null) return response
    return new Response(response.body, { headers: { 'mcp-session-id': String(id) } })
  },
}
export const { McpSession, McpHub } = worker.durableObjects
