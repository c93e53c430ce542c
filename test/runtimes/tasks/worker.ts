// A Worker whose tools are tasks. What handlers did is kept by an object, so that it outlives them.
import * as z from 'zod'
import { DurableObject } from 'cloudflare:workers'
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { ErrorCode, ProtocolError } from '../../../src/index.ts'
import { authenticate, createServer, text, ToolError } from '../../../src/presets/server.ts'
import { tasks } from '../../../src/tasks/index.ts'

interface Env {
  JOURNAL: { idFromName(name: string): unknown; get(id: unknown): Journal }
  MCP_TASK: {
    idFromString(id: string): unknown
    get(id: unknown): { crash(): Promise<void>; lastRing(): Promise<number | null> }
  }
}

/** Notes what happened, over restarts. */
export class Journal extends DurableObject {
  #sql(query: string): { name: string }[] {
    const { sql } = this.ctx.storage
    sql.exec('CREATE TABLE IF NOT EXISTS notes (name TEXT)')
    return sql.exec(query).toArray()
  }

  /** Notes something; how often it was noted. */
  note(what: string): Promise<number> {
    this.#sql(`INSERT INTO notes VALUES ('${what}')`)
    return Promise.resolve(this.#sql(`SELECT name FROM notes WHERE name = '${what}'`).length)
  }

  notes(): Promise<string[]> {
    return Promise.resolve(this.#sql('SELECT name FROM notes').map(({ name }) => name))
  }
}

const journal = ({ JOURNAL }: Env): Journal => JOURNAL.get(JOURNAL.idFromName('journal'))
const yes = z.object({ yes: z.boolean() })
const sleep = (delayMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, delayMs))

const kept = tasks({ pollIntervalMs: 50, list: true })
const server = createServer<Env>({ name: 'tasks', version: '1' })
server.extend(kept)

server.tool('quick', { task: 'optional' }, () => text('Hello, world!'))
server.tool('fail', { task: 'required' }, () => {
  throw new ToolError('Out of stock')
})
server.tool('crash', { task: 'required' }, () => {
  throw new ProtocolError(ErrorCode.INTERNAL_ERROR, 'The job crashed')
})
server.tool('short', { task: { support: 'required', ttlMs: 1500 } }, () => text('short'))
server.tool('for-ever', { task: 'required' }, async (_args, ctx) => {
  await journal(ctx.env).note('for-ever')
  ctx.signal.addEventListener('abort', () => void journal(ctx.env).note('aborted'))
  return new Promise<string>(() => {})
})
server.tool('ask', { task: 'required' }, async (_args, ctx) => {
  const price = await ctx.step('price', async () => {
    await journal(ctx.env).note('price')
    return 42
  })
  const answer = await ctx.elicit({ key: 'sure', message: `Pay ${price}?`, schema: yes })
  await ctx.step('pay', () => journal(ctx.env).note('pay'))
  return text(`${answer.action} ${answer.content?.yes ?? ''}`)
})
server.tool('steps', { task: 'required' }, async (_args, ctx) => {
  await journal(ctx.env).note('run')
  await ctx.step('first', () => journal(ctx.env).note('first'))
  await ctx.progress(1, { message: 'between' })
  // The first run is broken off here; the next one does not wait
  if ((await journal(ctx.env).note('between')) === 1) await sleep(60_000)
  await ctx.step('second', () => journal(ctx.env).note('second'))
  return text('both')
})
server.tool('mid-step', { task: 'required' }, async (_args, ctx) => {
  await ctx.step('first', () => journal(ctx.env).note('mid-first'))
  const times = await ctx.step('long', async () => {
    const begun = await journal(ctx.env).note('mid-begun')
    if (begun === 1) await sleep(60_000)
    await journal(ctx.env).note('mid-done')
    return begun
  })
  return text(`begun ${times} times`)
})
server.tool('job', { task: 'required' }, async (_args, ctx) => {
  const handle = kept.handle(ctx)
  await ctx.step('enqueue', () => journal(ctx.env).note(handle.taskId))
  return handle
})

const worker = createWorker<Env>(server, {
  auth: authenticate((request) => {
    const principal = request.headers.get('x-principal')
    return principal === null ? {} : { principal }
  }),
})

export default {
  async fetch(
    request: Request,
    env: Env,
    ctx: Parameters<typeof worker.fetch>[2],
  ): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/journal') return Response.json(await journal(env).notes())
    if (pathname === '/complete') {
      const done = await kept.complete(searchParams.get('id') ?? '', text('From a queue'))
      return Response.json(done)
    }
    if (pathname === '/crash') {
      const tasks = env.MCP_TASK
      await tasks
        .get(tasks.idFromString(searchParams.get('id') ?? ''))
        .crash()
        .catch(() => {})
      return new Response()
    }
    if (pathname === '/last-ring') {
      const tasks = env.MCP_TASK
      const id = tasks.idFromString(searchParams.get('id') ?? '')
      return Response.json(await tasks.get(id).lastRing())
    }
    if (pathname === '/alarms') {
      refused = searchParams.get('are') === 'refused'
      return Response.json(leftBehind)
    }
    return worker.fetch(request, env, ctx)
  },
}
export const { McpSession, McpHub } = worker.durableObjects

/** Whether no alarm can be set. */
let refused = false
/** What tasks that could not be begun have left in the storage of their objects. */
const leftBehind: string[] = []

export class McpTask extends worker.durableObjects.McpTask {
  constructor(...args: ConstructorParameters<typeof worker.durableObjects.McpTask>) {
    const { storage } = args[0] as {
      storage: {
        setAlarm(...args: unknown[]): Promise<void>
        list(): Promise<Map<string, unknown>>
      }
    }
    const setAlarm = storage.setAlarm.bind(storage)
    storage.setAlarm = (...args) =>
      refused ? Promise.reject(new Error('No alarm')) : setAlarm(...args)
    super(...args)
  }

  async create(...args: unknown[]): Promise<unknown> {
    const create = Reflect.get(worker.durableObjects.McpTask.prototype, 'create') as (
      ...args: unknown[]
    ) => Promise<unknown>
    try {
      return await Reflect.apply(create, this, args)
    } finally {
      if (refused) leftBehind.push(...(await this.ctx.storage.list()).keys())
    }
  }

  /** Rings the alarm as the platform does for the last time, while nothing can be kept; the next alarm. */
  async lastRing(): Promise<number | null> {
    const { storage } = this.ctx
    const { kv } = storage as unknown as { kv: { put(...args: unknown[]): void } }
    const put = kv.put.bind(kv)
    kv.put = () => {
      throw new Error('Full')
    }
    await storage.deleteAlarm()
    try {
      await (this as unknown as { alarm(info: object): Promise<void> }).alarm({ retryCount: 5 })
    } finally {
      kv.put = put
    }
    return storage.getAlarm()
  }

  crash(): void {
    this.ctx.abort('Crashed by a test')
  }
}
