// The Worker of the other tests, whose hubs fail or hang on request, and whose sessions
// have storage that takes nothing more.
import worker, { McpHub, McpSession as Session } from './worker.ts'

/** What becomes of calls of the hubs: they fail, or wait until it is well again; what hangs is slow. */
let state = 'well'
/** The methods of which that is so. */
let methods: readonly string[] = []
/** How often each method was called. */
const called: Record<string, number> = {}

const waits = (): boolean => state === 'hanging' || state === 'slow'

async function suffer(method: string): Promise<void> {
  called[method] = (called[method] ?? 0) + 1
  if (state === 'failing' && methods.includes(method)) throw new Error('Unwell by a test')
  if (!waits() || !methods.includes(method)) return
  // Those that waited go on in the order in which they came.
  const place = waiting.came++
  while (waits() || waiting.left < place) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  waiting.left++
}

/** How many calls had to wait, and how many of them did so. */
const waiting = { came: 0, left: 0 }

const prototype: object = Object.getPrototypeOf(McpHub.prototype) as object
for (const name of ['fetch', 'watch', 'listens', 'leave', 'publish']) {
  const method = Reflect.get(prototype, name) as (...args: unknown[]) => unknown
  Reflect.set(prototype, name, async function (this: unknown, ...args: unknown[]) {
    await suffer(name)
    aheadMs += hubsAheadMs
    try {
      return await Reflect.apply(method, this, args)
    } finally {
      aheadMs -= hubsAheadMs
    }
  })
}

/** By how much the clock of this isolate is ahead, in milliseconds. */
let aheadMs = 0
/** By how much it is ahead while a hub is called. */
let hubsAheadMs = 0
const { now } = Date
Date.now = () => now() + aheadMs

/** What the storage of sessions refuses: nothing, values and rows, to forget values, or alarms. */
let refused = 'nothing'

interface ObjectState {
  readonly storage: {
    kv: { put(...args: unknown[]): void; delete(...args: unknown[]): unknown }
    sql: { exec(...args: unknown[]): unknown }
    setAlarm(...args: unknown[]): Promise<void>
  }
}

function limit({ storage }: ObjectState): void {
  const { kv, sql } = storage
  const put = kv.put.bind(kv)
  const remove = kv.delete.bind(kv)
  const exec = sql.exec.bind(sql)
  const setAlarm = storage.setAlarm.bind(storage)
  kv.put = (...args) => {
    if (refused === 'values') throw new Error('Full')
    put(...args)
  }
  kv.delete = (...args) => {
    if (refused === 'deletions') throw new Error('Full')
    return remove(...args)
  }
  sql.exec = (...args) => {
    const writes = /^\s*(INSERT|UPDATE|CREATE)/.test(String(args[0]))
    if (writes && refused === 'values') throw new Error('Full')
    if (/^\s*DELETE/.test(String(args[0])) && refused === 'deletions') throw new Error('Full')
    return exec(...args)
  }
  storage.setAlarm = async (...args) => {
    if (refused === 'alarms') throw new Error('Full')
    return setAlarm(...args)
  }
}

interface Bindings {
  MCP_SESSION: {
    idFromString(id: string): unknown
    get(id: unknown): {
      ring(): Promise<void>
      kept(): Promise<{ keys: string[]; alarm: number | null }>
    }
  }
}

export default {
  async fetch(...args: Parameters<typeof worker.fetch>): Promise<Response> {
    const { pathname, searchParams } = new URL(args[0].url)
    const session = searchParams.get('session')
    const { MCP_SESSION: sessions } = args[1] as Bindings
    const object = session === null ? undefined : sessions.get(sessions.idFromString(session))
    switch (pathname) {
      case '/hubs-are':
        state = String(searchParams.get('state'))
        methods = searchParams.getAll('method')
        Reflect.set(globalThis, 'impatient', state === 'hanging')
        return new Response()
      case '/clock-is-ahead':
        aheadMs = Number(searchParams.get('ms'))
        return new Response()
      case '/clock-of-hubs-is-ahead':
        hubsAheadMs = Number(searchParams.get('ms'))
        return new Response()
      case '/storage-refuses':
        refused = String(searchParams.get('what'))
        return new Response()
      case '/called':
        return Response.json(called)
      case '/notify-and-say': {
        const notification = new Request(new URL('/notify', args[0].url))
        const said = (error: unknown): Response => new Response(String(error))
        return Promise.resolve(worker.fetch(notification, args[1], args[2])).catch(said)
      }
      case '/notify-many':
        for (let n = 0; n < 200; n++) {
          const notification = new URL(
            `/notify?uri=note://one/${n}${'z'.repeat(8000)}`,
            args[0].url,
          )
          await worker.fetch(new Request(notification), args[1], args[2])
        }
        return new Response()
      case '/ring-session':
        await object?.ring()
        return new Response()
      case '/kept':
        return Response.json(await object?.kept())
    }
    return worker.fetch(...args)
  },
}

export class McpSession extends Session {
  constructor(...args: ConstructorParameters<typeof Session>) {
    limit(args[0] as ObjectState)
    super(...args)
  }

  /** Rings the alarm, which cannot be called from outside, and is cleared then. */
  async ring(): Promise<void> {
    await this.ctx.storage.deleteAlarm()
    await this.alarm()
  }

  /** What the object keeps. */
  async kept(): Promise<{ keys: string[]; alarm: number | null }> {
    const { storage } = this.ctx
    return { keys: [...(await storage.list()).keys()], alarm: await storage.getAlarm() }
  }
}
export { McpHub }
