// The fixture's server as a Worker, with tools for what objects go through and routes that show what
// tests need to know.
import * as z from 'zod'
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { objectStorage } from '../../../runtimes/cloudflare/storage.ts'
import { authenticate, createServer, text, fromServer } from '../../../src/presets/server.ts'
import { makeServer } from '../../server/fixture.ts'

const { server, ran } = makeServer()
const bound = createServer<{ GREETING: string }>({ name: 'bound', version: '1' })
const schema = z.object({ yes: z.boolean() })

server.tool('confirmTwice', { input: z.object({}) }, async (_args, ctx) => {
  const first = await ctx.elicit({ message: 'Sure?', schema })
  const second = await ctx.elicit({ message: 'Really?', schema })
  return text([first, second].map((a) => a.action === 'accept' && a.content.yes).join(', '))
})
server.tool('work', { input: z.object({}) }, async (_args, ctx) => {
  await ctx.progress(1)
  await new Promise(() => {})
  return text('never')
})
server.tool('count', { input: z.object({ to: z.number() }) }, async ({ to }, ctx) => {
  for (let n = 1; n <= to; n++) await ctx.progress(n)
  return text('done')
})
server.tool('large', { input: z.object({ bytes: z.number() }) }, async ({ bytes }, ctx) => {
  await ctx.progress(1)
  return text('é𝄞'.repeat(bytes / 4))
})

server.tool('visit', {}, async (_args, ctx) => {
  const answer = await ctx.elicitUrl({ message: 'Sign in', url: 'https://example.com/in' })
  return text(String(answer.elicitationId))
})
server.tool('echoAnswer', { input: z.object({ text: z.string() }) }, async (args, ctx) => {
  const answer = await ctx.elicit({ message: 'Say', schema: z.object({ text: z.string() }) })
  const answered = answer.action === 'accept' ? answer.content.text.length : 0
  return text(`${args.text.length} asked, ${answered} answered`)
})
server.tool('largeStep', {}, async (_args, ctx) => {
  const value = await ctx.step('large', () => 'x'.repeat(3e6))
  await ctx.elicit({ message: 'Say', schema: z.object({ text: z.string() }) })
  return text(`${value.length} characters`)
})
server.tool('touch', { input: z.object({ uri: z.string() }) }, ({ uri }) => {
  server.notify.resourceUpdated(uri)
  return text('touched')
})

server.tool('visits', { input: z.object({}) }, async (_args, ctx) => {
  const storage = objectStorage(ctx)
  const visits = Number((await storage.get('visits')) ?? 0) + 1
  await storage.put('visits', visits)
  return text(`${visits}, ${[...(await storage.list()).keys()].join()}`)
})
bound.tool('environment', { input: z.object({}) }, (_args, ctx) => ctx.env.GREETING)
server.mount('bound', fromServer(bound))
server.tool('later', { input: z.object({}) }, (_args, ctx) => {
  const work = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 300))
    ran.push(`later than ${ctx.revision}`)
  }
  ctx.waitUntil(work())
  return text('now')
})

const worker = createWorker(server, {
  hubShards: 2,
  ssePath: '/sse',
  auth: authenticate((request) => {
    const principal = request.headers.get('x-user')
    if (principal === 'nobody') return new Response('Who are you?', { status: 401 })
    return principal === null ? {} : { principal }
  }),
})

export default {
  async fetch(...args: Parameters<typeof worker.fetch>): Promise<Response> {
    const { pathname, searchParams } = new URL(args[0].url)
    switch (pathname) {
      case '/ran':
        return Response.json(ran)
      case '/lives':
        return Response.json(lives)
      case '/complete':
        return worker.notify
          .elicitationComplete(String(searchParams.get('id')))
          .then(() => new Response('notified'))
      case '/hub-rows':
        return hubRows(args[1] as Bindings, String(searchParams.get('session')))
      case '/crash-hubs':
        return allHubs(args[1] as Bindings, (hub) => hub.crash().catch(() => {}))
      case '/fill-hubs':
        return allHubs(args[1] as Bindings, (hub) => hub.fill())
      case '/break-hubs':
        return allHubs(args[1] as Bindings, (hub) => hub.break(String(searchParams.get('what'))))
      case '/age-hubs':
        return allHubs(args[1] as Bindings, (hub) => hub.age().catch(() => {}))
      case '/hub-changes':
        return Response.json(await hubsOf(args[1] as Bindings)[0]!.changes())
      case '/sockets':
        return hubSockets(args[1] as Bindings)
      case '/ring-hubs':
        return allHubs(args[1] as Bindings, (hub) => hub.ring())
      case '/lose':
        return lose(args[1] as Bindings, String(searchParams.get('session')))
      case '/notify':
        return notify(searchParams.get('uri')).then(() => new Response('notified'))
    }
    return worker.fetch(...args)
  },
}

function notify(uri: string | null): Promise<void> {
  return uri === null ? worker.notify.toolsListChanged() : worker.notify.resourceUpdated(uri)
}

interface Bindings {
  MCP_SESSION: {
    idFromString(id: string): unknown
    get(id: unknown): { lose(): Promise<void> }
  }
  MCP_HUB: {
    idFromName(name: string): unknown
    get(id: unknown): {
      rows(session: string): Promise<Record<string, number>>
      crash(): Promise<void>
      fill(): Promise<void>
      break(what: string): Promise<void>
      sockets(): Promise<number>
      changes(): Promise<number>
      ring(): Promise<void>
      age(): Promise<void>
    }
  }
}

function hubsOf({ MCP_HUB: hubs }: Bindings): ReturnType<Bindings['MCP_HUB']['get']>[] {
  return [0, 1].map((shard) => hubs.get(hubs.idFromName(`hub ${shard}`)))
}

/** How many rows a session has in the hubs. */
async function hubRows(bindings: Bindings, session: string): Promise<Response> {
  const sum: Record<string, number> = {}
  for (const hub of hubsOf(bindings)) {
    for (const [name, rows] of Object.entries(await hub.rows(session))) {
      sum[name] = (sum[name] ?? 0) + rows
    }
  }
  return Response.json(sum)
}

/** How many sockets the hubs have open. */
async function hubSockets(bindings: Bindings): Promise<Response> {
  const open = await Promise.all(hubsOf(bindings).map((hub) => hub.sockets()))
  return Response.json(open.reduce((sum, each) => sum + each, 0))
}

async function allHubs(
  bindings: Bindings,
  work: (hub: ReturnType<typeof hubsOf>[number]) => Promise<void>,
): Promise<Response> {
  await Promise.all(hubsOf(bindings).map(work))
  return new Response('done')
}

/** Deletes everything that a session's object stores, without notifying the hub. */
async function lose({ MCP_SESSION: sessions }: Bindings, id: string): Promise<Response> {
  await sessions
    .get(sessions.idFromString(id))
    .lose()
    .catch(() => {})
  return new Response('lost')
}

/** How often each kind of object came into memory. */
const lives = { sessions: 0, hubs: 0 }

export class McpSession extends worker.durableObjects.McpSession {
  constructor(...args: ConstructorParameters<typeof worker.durableObjects.McpSession>) {
    super(...args)
    lives.sessions++
  }

  async lose(): Promise<void> {
    await this.ctx.storage.deleteAll()
    await this.ctx.storage.sync()
    this.ctx.abort('Lost by a test')
  }
}
export class McpHub extends worker.durableObjects.McpHub {
  constructor(...args: ConstructorParameters<typeof worker.durableObjects.McpHub>) {
    super(...args)
    lives.hubs++
  }

  rows(session: string): Record<string, number> {
    const { sql } = this.ctx.storage
    const count = (table: string): number =>
      sql.exec(`SELECT count(*) AS n FROM ${table} WHERE session = ?`, session).one().n
    const others = `SELECT count(*) AS n FROM sqlite_master WHERE name = 'mcp_members'`
    if (sql.exec(others).one().n > 0) throw new Error('There are tables of another version')
    return { mcp_turns: count('mcp_turns'), mcp_watching: count('mcp_watching') }
  }

  /** How many changes are kept. */
  changes(): number {
    return this.ctx.storage.sql.exec('SELECT count(*) AS n FROM mcp_changes').one().n
  }

  sockets(): number {
    return this.ctx.getWebSockets().length
  }

  /** Rings the alarm, which cannot be called from outside. */
  ring(): Promise<void> {
    return this.alarm()
  }

  crash(): void {
    this.ctx.abort('Crashed by a test')
  }

  /** Puts tables of another version in place of those that are there. */
  async age(): Promise<void> {
    const { sql } = this.ctx.storage
    sql.exec('DROP VIEW mcp_schema')
    sql.exec('DROP TABLE mcp_turns')
    sql.exec('CREATE TABLE mcp_members (object TEXT PRIMARY KEY) WITHOUT ROWID')
    await this.ctx.storage.sync()
    this.ctx.abort('Deployed by a test')
  }

  /** Accepts as many sockets as an object takes. */
  fill(): void {
    for (let n = 0; n < 32_768; n++) {
      const { 0: client, 1: socket } = new WebSocketPair()
      this.ctx.acceptWebSocket(socket)
      held.push(client)
    }
  }

  /** Lets statements that begin like that fail, or the object die when a stream is opened. */
  break(what: string): void {
    if (what === 'sockets') {
      this.ctx.acceptWebSocket = () => this.ctx.abort('Crashed by a test')
      return
    }
    const { sql } = this.ctx.storage
    const exec = sql.exec.bind(sql)
    sql.exec = (query, ...bindings) => {
      if (query.trim().startsWith(what)) throw new Error('Full')
      return exec(query, ...bindings)
    }
  }
}

/** The other ends of sockets, which must not be collected. */
const held: object[] = []
