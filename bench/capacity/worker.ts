/** The Worker that the capacity model is checked with: it counts what the platform bills. */
import type { DurableObject } from 'cloudflare:workers'
import * as z from 'zod'
import { createWorker } from '../../runtimes/cloudflare/index.ts'
import { createServer, uriTemplate } from '../../src/presets/server.ts'
import { countRows } from '../count-rows.ts'
import { resourceOf, SHARDS } from './scale.ts'

const server = createServer({ name: 'capacity', version: '1.0.0' })
server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
server.resourceTemplate(uriTemplate('client://{id}'), { name: 'client' }, ({ uri }) => uri)
const worker = createWorker(server, { hubShards: SHARDS })

/** What was billed since the start. */
const counts = {
  sessionRequests: 0,
  sessionRowsRead: 0,
  sessionRowsWritten: 0,
  hubRequests: 0,
  hubRowsRead: 0,
  hubRowsWritten: 0,
}

/** The counts of this Worker, as `/counts` returns them. */
export type WorkerCounts = typeof counts

type Base = new (ctx: never, env: never) => DurableObject

/** Extends a class of objects, so that rows and invocations are counted. */
function counted(base: Base, kind: 'session' | 'hub', methods: readonly string[]): Base {
  const Counted = class extends base {
    constructor(ctx: never, env: never) {
      countRows(
        ctx,
        (rows) => (counts[`${kind}RowsWritten`] += rows),
        (rows) => (counts[`${kind}RowsRead`] += rows),
      )
      super(ctx, env)
    }
  }
  for (const name of methods) {
    const method: unknown = Reflect.get(base.prototype, name)
    if (typeof method !== 'function') continue
    Object.defineProperty(Counted.prototype, name, {
      value(this: object, ...args: unknown[]): unknown {
        counts[`${kind}Requests`]++
        return Reflect.apply(method, this, args)
      },
    })
  }
  return Counted
}

const { durableObjects } = worker
export const McpSession = counted(durableObjects.McpSession, 'session', ['fetch', 'alarm'])
export const McpHub = counted(durableObjects.McpHub, 'hub', [
  ...['fetch', 'alarm', 'publish', 'watch', 'listens', 'leave'],
])

export default {
  async fetch(request: Request, env: never, ctx: never): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/mcp') return worker.fetch(request, env, ctx)
    if (pathname === '/counts') return Response.json(counts)
    await worker.notify.resourceUpdated(resourceOf(Number(searchParams.get('client'))))
    return new Response('sent')
  },
}
