// A Worker whose sessions end after a given time, share an object per user, and can be counted.
import { env } from 'cloudflare:workers'
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { makeServer } from '../../server/fixture.ts'
import * as z from 'zod'

const { server, ran } = makeServer()
server.tool('count', { input: z.object({ to: z.number() }) }, async ({ to }, ctx) => {
  for (let n = 1; n <= to; n++) await ctx.progress(n)
  return 'done'
})
server.tool('large', { input: z.object({ characters: z.number() }) }, async (args, ctx) => {
  await ctx.progress(1)
  return 'x'.repeat(args.characters)
})
server.tool('stay', {}, async (_args, ctx) => {
  await ctx.progress(1)
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
  ran.push('left alone')
  return 'too late'
})

const worker = createWorker(server, {
  // A client that is gone is noticed when something is written to it.
  keepAliveMs: 500,
  sessionIdleMs: Number(env.IDLE_MS),
  sessionKey: (request) => request.headers.get('x-user') ?? undefined,
})

interface ObjectState {
  readonly id: object
  readonly storage: {
    setAlarm(...args: unknown[]): Promise<void>
    kv: { put(...args: unknown[]): void }
    sql: {
      exec(...args: unknown[]): { rowsWritten: number; toArray(): unknown[] }
    }
  }
}

interface Env {
  MCP_HUB: {
    idFromName(name: string): unknown
    get(id: unknown): { listens(session: string): Promise<boolean> }
  }
  MCP_SESSION: {
    idFromString(id: string): unknown
    get(id: unknown): {
      counts(): Promise<object>
      ring(): Promise<void>
      exists(): Promise<boolean>
      crash(): Promise<void>
      held(): Promise<number>
    }
  }
}

export default {
  async fetch(request: Request, env: Env, ctx: never): Promise<Response> {
    const [, route, id] = new URL(request.url).pathname.split('/')
    if (route === 'notify') {
      const uri = new URL(request.url).searchParams.get('uri')
      const { notify } = worker
      await (uri === null ? notify.toolsListChanged() : notify.resourceUpdated(uri))
      return new Response('notified')
    }
    if (route === 'notify-many') {
      for (let n = 0; n < 3000; n++) {
        await worker.notify.resourceUpdated(`note://one/${n}${'z'.repeat(8000)}`)
      }
      return new Response('notified')
    }
    if (route === 'break-hub') {
      full.add('hub')
      return new Response()
    }
    if (route === 'repair-hub') {
      full.delete('hub')
      return new Response()
    }
    if (route === 'listens' && id) {
      const { MCP_HUB: hubs } = env
      return Response.json(await hubs.get(hubs.idFromName('hub 0')).listens(id))
    }
    if (route === 'ran') return Response.json(ran)
    if (route === 'written' && id === 'hub') return Response.json(written.hub ?? 0)
    if (!id) return worker.fetch(request, env, ctx)
    const { MCP_SESSION: sessions } = env
    const object = sessions.get(sessions.idFromString(id))
    switch (route) {
      case 'written':
        return Response.json(written[id] ?? 0)
      case 'counts':
        return Response.json(await object.counts())
      case 'alarm':
        return Response.json((await object.ring()) ?? null)
      case 'held':
        return Response.json(await object.held())
      case 'exists':
        return Response.json(await object.exists())
      case 'crash':
        return Response.json((await object.crash().catch(() => {})) ?? null)
      case 'break':
        full.add(id)
        return new Response()
      default:
        return new Response(null, { status: 404 })
    }
  },
}

/** How many rows were written to the storage of each object, by its id. */
const written: Record<string, number> = {}

/** The objects whose storage takes nothing more. */
const full = new Set<string>()

/** Counts what a storage is billed for. */
function count({ id: object, storage }: ObjectState, id = object.toString()): void {
  const { sql, kv } = storage
  const note = (rows: number): void => void (written[id] = (written[id] ?? 0) + rows)
  const [exec, put, setAlarm] = [
    sql.exec.bind(sql),
    kv.put.bind(kv),
    storage.setAlarm.bind(storage),
  ]
  sql.exec = (...args) => {
    if (full.has(id) && /^\s*(INSERT|UPDATE|CREATE)/.test(String(args[0]))) throw new Error('Full')
    const cursor = exec(...args)
    const toArray = cursor.toArray.bind(cursor)
    note(cursor.rowsWritten)
    let noted = cursor.rowsWritten
    cursor.toArray = () => {
      const rows = toArray()
      note(cursor.rowsWritten - noted)
      noted = cursor.rowsWritten
      return rows
    }
    return cursor
  }
  kv.put = (...args) => {
    if (full.has(id)) throw new Error('Full')
    note(1)
    put(...args)
  }
  storage.setAlarm = (...args) => {
    note(1)
    return setAlarm(...args)
  }
}

/** The maps and sets of each object, by its id. */
const collections: Record<string, { readonly size: number }[]> = {}

/** Notes which maps and sets are made, until the function that it returns is called. */
function noteCollections(id: string): () => void {
  const made: { readonly size: number }[] = (collections[id] = [])
  const { Map, Set } = globalThis
  /** A class whose instances are noted. */
  const noting = <Class extends object>(known: Class): Class =>
    new Proxy(known, {
      construct(target, args, derived) {
        const one = Reflect.construct(target as never, args, derived) as { readonly size: number }
        made.push(one)
        return one
      },
    })
  Object.assign(globalThis, { Map: noting(Map), Set: noting(Set) })
  return () => Object.assign(globalThis, { Map, Set })
}

export class McpSession extends worker.durableObjects.McpSession {
  constructor(...args: ConstructorParameters<typeof worker.durableObjects.McpSession>) {
    const state = args[0] as ObjectState
    count(state)
    const done = noteCollections(state.id.toString())
    super(...args)
    done()
  }

  /** How much the maps and sets hold that were made with the object. */
  held(): number {
    const made = collections[this.ctx.id.toString()] ?? []
    return made.reduce((sum, { size }) => sum + size, 0)
  }

  /** Ends as an object does whose code throws where nothing catches it. */
  crash(): void {
    this.ctx.abort('Crashed by a test')
  }

  /** Rings the alarm, which cannot be called from outside. */
  ring(): Promise<void> {
    return this.alarm()
  }

  /** Whether anything is kept. */
  async exists(): Promise<boolean> {
    return (await this.ctx.storage.list()).size > 0
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
export class McpHub extends worker.durableObjects.McpHub {
  constructor(...args: ConstructorParameters<typeof worker.durableObjects.McpHub>) {
    count(args[0] as ObjectState, 'hub')
    super(...args)
  }
}
