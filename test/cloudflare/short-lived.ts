// A Worker whose sessions end after a given time, share an object per user, and can be counted.
import { env } from 'cloudflare:workers'
import { createWorker } from '../../runtimes/cloudflare/index.ts'
import { makeServer } from '../server/fixture.ts'
import * as z from 'zod'

const { server } = makeServer()
server.tool('count', { input: z.object({ to: z.number() }) }, async ({ to }, ctx) => {
  for (let n = 1; n <= to; n++) await ctx.progress(n)
  return 'done'
})

const worker = createWorker(server, {
  sessionIdleMs: Number(env.IDLE_MS),
  sessionKey: (request) => request.headers.get('x-user') ?? undefined,
})

interface Env {
  MCP_SESSION: {
    idFromString(id: string): unknown
    get(id: unknown): {
      counts(): Promise<object>
      alarm(): Promise<void>
      breakLog(): Promise<void>
    }
  }
}

export default {
  async fetch(request: Request, env: Env, ctx: never): Promise<Response> {
    const [, route, id] = new URL(request.url).pathname.split('/')
    if (route === 'notify') return Response.json((await worker.notify.toolsListChanged()) ?? null)
    if (!id) return worker.fetch(request, env, ctx)
    const { MCP_SESSION: sessions } = env
    const object = sessions.get(sessions.idFromString(id))
    switch (route) {
      case 'counts':
        return Response.json(await object.counts())
      case 'alarm':
        return Response.json((await object.alarm()) ?? null)
      case 'break':
        return Response.json((await object.breakLog()) ?? null)
      default:
        return new Response(null, { status: 404 })
    }
  },
}

export class McpSession extends worker.durableObjects.McpSession {
  /** Makes it impossible to keep what streams send. */
  breakLog(): void {
    this.ctx.storage.sql.exec('DROP TABLE mcp_events')
    this.ctx.storage.sql.exec('DROP TABLE mcp_streams')
  }

  /** How many rows each of the tables has. */
  counts(): Record<string, number> {
    const { sql } = this.ctx.storage
    const tables = sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'mcp_%'").toArray()
    return Object.fromEntries(
      tables.map(({ name }) => [name, sql.exec(`SELECT count(*) AS n FROM ${name}`).one().n]),
    )
  }
}
export const { McpHub } = worker.durableObjects
