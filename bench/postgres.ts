/**
 * What several processes share in Postgres: a call in a session, a change that another process
 * announces, and a task, compared to the queries that could do the same. All of it runs in this process,
 * over two clients; the database is another one, on the same machine.
 */
import { createPostgresStorage } from 'edgewise/postgres'
import { createHandler, createServer, statefulSessions } from 'edgewise/server'
import { tasks } from 'edgewise/tasks'
import postgres, { type Sql } from 'postgres'
import * as z from 'zod'
import { startPostgres } from '../test/postgres/server.ts'
import { type Bench, ratioTable, type Table } from './bench.ts'
import { compare, type Contender } from './compare.ts'
import { costOfWork } from './load.ts'
import { queriesTable } from './postgres-queries.ts'
import { handshake, template, url, type Template } from './requests.ts'
import { scenarios } from './scenarios.ts'
import { taskCall } from './tasks-calls.ts'

const CALLS = 400
const WARM_ROUNDS = 3

type Handle = ReturnType<typeof createHandler>

/** A contender that does one thing over and over, four at a time. */
function contender(name: string, note: string, operation: () => Promise<void>): Contender {
  const round = (): ReturnType<Contender['round']> => costOfWork(process.pid, operation, CALLS)
  return { name, note, round, close: () => Promise.resolve() }
}

async function post(handle: Handle, { headers, body }: Template): Promise<string> {
  const response = await handle(new Request(url, { method: 'POST', headers, body: body(1) }))
  const text = await response.text()
  if (!response.ok) throw new Error(`Answered ${response.status}: ${text}`)
  return text
}

function createEcho(): ReturnType<typeof createServer> {
  const server = createServer({ name: 'bench', version: '1.0.0' })
  server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
  return server
}

async function sessionCalls(sql: Sql): Promise<Contender[]> {
  const storage = createPostgresStorage(sql)
  const { method, params } = scenarios.echo
  const open = async (sessions: ReturnType<typeof statefulSessions>) => {
    const handle = createHandler(createEcho(), { sessions })
    return { handle, call: template(method, params, await handshake(handle)), ids: 0 }
  }
  const call = async (opened: Awaited<ReturnType<typeof open>>): Promise<void> => {
    const { handle, call: asked } = opened
    // No two requests of a session that are open have the same id
    const id = ++opened.ids
    const text = await post(handle, { ...asked, body: () => asked.body(id) })
    if (!text.includes('quick brown fox')) throw new Error(`Answered ${text}`)
  }
  const memory = await open(statefulSessions())
  const stored = await open(storage.sessions())
  await sql`CREATE TABLE IF NOT EXISTS bench_rows (id text PRIMARY KEY, record text NOT NULL)`
  await sql`INSERT INTO bench_rows VALUES ('one', ${'x'.repeat(500)}) ON CONFLICT DO NOTHING`
  return [
    contender('floor', 'memory and one read', async () => {
      await sql`SELECT record FROM bench_rows WHERE id = ${'one'}`
      await call(memory)
    }),
    { ...contender('edgewise', 'session', () => call(stored)), close: () => storage.close() },
  ]
}

async function changes(sql: Sql, other: Sql): Promise<Contender[]> {
  await sql`CREATE TABLE IF NOT EXISTS bench_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text NOT NULL)`
  const waiting = new Map<string, () => void>()
  const arrive = (key: string): void => waiting.get(key)?.()
  const arrivalOf = (key: string): Promise<void> =>
    new Promise((resolve) => {
      waiting.set(key, () => {
        waiting.delete(key)
        resolve()
      })
    })
  const read = async (id: string): Promise<void> => {
    const [row] = await other<{ text: string }[]>`SELECT text FROM bench_log WHERE id = ${id}`
    arrive(row?.text ?? '')
  }
  const { unlisten } = await other.listen('bench', (id) => void read(id))
  const storages = [createPostgresStorage(sql), createPostgresStorage(other)]
  const servers = [createEcho(), createEcho()]
  for (const [n, storage] of storages.entries()) await storage.connect(servers[n] ?? createEcho())
  servers[1]?.notify.subscribe((change) => 'uri' in change && arrive(change.uri))
  let n = 0
  return [
    {
      ...contender('floor', 'row, notification, read', async () => {
        const key = `floor:${++n}`
        const arrived = arrivalOf(key)
        await sql`WITH added AS (INSERT INTO bench_log (text) VALUES (${key}) RETURNING id)
          SELECT pg_notify('bench', id::text) FROM added`
        await arrived
      }),
      close: unlisten,
    },
    {
      ...contender('edgewise', 'change', async () => {
        const uri = `note:${++n}`
        const arrived = arrivalOf(uri)
        servers[0]?.notify.resourceUpdated(uri)
        await arrived
      }),
      close: async () => {
        for (const storage of storages) await storage.close()
      },
    },
  ]
}

async function taskCalls(sql: Sql, other: Sql): Promise<Contender[]> {
  await sql`CREATE TABLE IF NOT EXISTS bench_tasks (
    id text PRIMARY KEY, version integer NOT NULL, record text NOT NULL)`
  const storages = [createPostgresStorage(sql), createPostgresStorage(other)]
  const [create, read] = storages.map((storage) => {
    const server = createServer({ name: 'bench', version: '1.0.0' })
    server.extend(tasks({ store: storage.taskStore(), maxTasks: Infinity, ttlMs: 60_000 }))
    server.tool('task', { task: 'required' }, () => 'done')
    return createHandler(server)
  })
  if (!create || !read) throw new Error('Expected two storages')
  const record = 'x'.repeat(600)
  return [
    contender('floor', 'insert, update, read', async () => {
      const id = crypto.randomUUID()
      await sql`INSERT INTO bench_tasks VALUES (${id}, 1, ${record})`
      await sql`UPDATE bench_tasks SET version = 2, record = ${record} WHERE id = ${id} AND version = 1`
      await other`SELECT record FROM bench_tasks WHERE id = ${id}`
    }),
    {
      ...contender('edgewise', 'task', async () => {
        const created = await post(create, taskCall('tools/call', { name: 'task' }))
        const taskId = /"taskId":"([^"]+)"/.exec(created)?.[1]
        const get = taskCall('tasks/get', { taskId })
        while (!(await post(read, get)).includes('"status":"completed"')) {
          // The task runs in the process that created it, so only its state is read here
        }
      }),
      close: async () => {
        for (const storage of storages) await storage.close()
      },
    },
  ]
}

async function table(
  label: string,
  goal: string,
  open: () => Promise<Contender[]>,
  rounds: number,
): Promise<Table> {
  const warm = async (): Promise<Contender[]> => {
    const contenders = await open()
    for (let round = 0; round < WARM_ROUNDS; round++) {
      for (const each of contenders) await each.round()
    }
    return contenders
  }
  return ratioTable(label, goal, await compare(warm, { generations: 1, rounds }))
}

export const bench: Bench = {
  title: 'State that processes share in Postgres',
  async tables({ scale }) {
    const server = await startPostgres()
    const clients = [1, 2].map(() => postgres(server.url, { fetch_types: false, onnotice() {} }))
    const [sql, other] = clients
    if (!sql || !other) throw new Error('Expected two clients')
    const rounds = Math.max(3, Math.round(20 * scale))
    try {
      return [
        await table('a call in a session', '', () => sessionCalls(sql), rounds),
        await table('a change, to another process', '', () => changes(sql, other), rounds),
        await table('a task, read by another process', '', () => taskCalls(sql, other), rounds),
        await queriesTable(sql),
      ]
    } finally {
      for (const client of clients) await client.end()
      await server.stop()
    }
  },
}
