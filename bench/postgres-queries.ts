/** How many queries reach the database for what clients and servers do, in two processes. */
import { createPostgresStorage, type PostgresClient } from 'edgewise/postgres'
import { createHandler, createServer, resumableCalls, type Handler } from 'edgewise/server'
import { tasks } from 'edgewise/tasks'
import type { Sql } from 'postgres'
import type { Table } from './bench.ts'
import { handshake, template, url, type Template } from './requests.ts'
import { taskCall } from './tasks-calls.ts'

/** How often each operation is repeated, to average over what is written in batches. */
const REPETITIONS = 50
/** How long to wait until the writes that no operation waits for are over, in milliseconds. */
const SETTLED_MS = 300

/** A client that counts what it sends; a transaction is two queries more. */
function countingClient(sql: Sql): { client: PostgresClient; count: () => number } {
  let count = 0
  const client: PostgresClient = {
    unsafe(text, values, options) {
      count++
      return sql.unsafe(text, values, options)
    },
    begin(work) {
      count += 2
      return sql.begin((queries) =>
        work({
          unsafe(text, values, options) {
            count++
            return queries.unsafe(text, values, options)
          },
        }),
      )
    },
    listen: (channel, listener, listening) => sql.listen(channel, listener, listening),
  }
  return { client, count: () => count }
}

interface Process {
  server: ReturnType<typeof createServer>
  handle: Handler
  count: () => number
  close(): Promise<void>
}

async function start(sql: Sql): Promise<Process> {
  const { client, count } = countingClient(sql)
  const storage = createPostgresStorage(client)
  const server = createServer({ name: 'bench', version: '1.0.0' })
  server.extend(tasks({ store: storage.taskStore(), maxTasks: Infinity }))
  server.tool('plain', {}, () => 'done')
  server.tool('progress', {}, async (_args, ctx) => {
    for (let n = 0; n < 10; n++) await ctx.progress(n)
    return 'done'
  })
  server.tool('steps', {}, async (_args, ctx) => {
    await ctx.progress(0)
    for (let n = 0; n < 10; n++) await ctx.step(`step ${n}`, () => n)
    return 'done'
  })
  server.tool('task', { task: 'required' }, () => 'done')
  await storage.connect(server)
  const handle = createHandler(server, {
    sessions: storage.sessions({ calls: resumableCalls }),
    keepAliveMs: 0,
  })
  const close = async (): Promise<void> => {
    await handle.close()
    await storage.close()
  }
  return { server, handle, count, close }
}

async function post(handle: Handler, { headers, body }: Template, id: number): Promise<string> {
  const response = await handle(new Request(url, { method: 'POST', headers, body: body(id) }))
  const text = await response.text()
  if (!response.ok || text.includes('"error"')) throw new Error(`Answered ${text}`)
  return text
}

/** The queries that each operation takes, here and in the other process. */
export async function queriesTable(sql: Sql): Promise<Table> {
  const [here, there] = [await start(sql), await start(sql)]
  const session = await handshake(here.handle)
  const call = (name: string): Template =>
    template('tools/call', { name, arguments: {}, _meta: { progressToken: name } }, session)
  let id = 0
  const operations: Record<string, () => Promise<unknown>> = {
    'a call in a session': () => post(here.handle, call('plain'), ++id),
    'the same with ten notifications': () => post(here.handle, call('progress'), ++id),
    'the same with ten steps': () => post(here.handle, call('steps'), ++id),
    'a call without a session': () =>
      post(here.handle, template('tools/call', { name: 'plain', arguments: {} }, undefined), ++id),
    'opening a session': () => handshake(here.handle),
    'a change': async () => {
      here.server.notify.resourceUpdated(`note:${++id}`)
      await settled()
    },
    'a task': () => post(here.handle, taskCall('tools/call', { name: 'task' }), ++id),
  }
  const rows: string[][] = []
  const data: Record<string, { here: number; there: number }> = {}
  for (const [name, operation] of Object.entries(operations)) {
    await operation()
    await settled()
    const before = [here.count(), there.count()] as const
    for (let n = 0; n < REPETITIONS; n++) await operation()
    await settled()
    const each = {
      here: (here.count() - before[0]) / REPETITIONS,
      there: (there.count() - before[1]) / REPETITIONS,
    }
    data[name] = each
    rows.push([name, '', each.here.toFixed(1), each.there.toFixed(1)])
  }
  await Promise.all([here.close(), there.close()])
  return { label: 'queries', goal: '', head: ['', 'here', 'elsewhere'], rows, data }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
}
