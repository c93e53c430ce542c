// What works while the database cannot be used, and afterwards.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createHandler, createServer, type Handler } from '../../src/presets/server.ts'
import { gate, makeFixture, textOf, wireTo, KNOWS } from '../tasks/fixture.ts'
import { modernHeaders, modernRequest, post } from '../transport/streamable-http/post.ts'
import { eventually, openSchema, type TestSchema } from './database.ts'
import { startPostgres, type PostgresServer } from './server.ts'
import { watchTask } from './watch-task.ts'

let postgres: PostgresServer

beforeAll(async () => {
  postgres = await startPostgres()
})

afterAll(() => postgres.stop())

/** Makes a server whose tasks are in the database, and a handler of it. */
function serveTasks(schema: TestSchema, errors: unknown[] = []) {
  const { storage } = schema.open({ timeoutMs: 1_000, onError: (error) => errors.push(error) })
  const fixture = makeFixture({ store: storage.taskStore() })
  const handle = createHandler(fixture.server)
  onTestFinished(() => handle.close())
  return { ...fixture, handle, storage }
}

function request(handle: Handler, method: string, params: Record<string, unknown>) {
  const name = params.taskId ?? params.name
  return post(handle, modernRequest(method, params, KNOWS), modernHeaders(method, name))
}

describe.each([
  ['was killed', () => postgres.kill(), () => postgres.start()],
  ['does not answer', () => postgres.freeze(), () => postgres.unfreeze()],
])('While the database %s', (_name, breakDown, recover) => {
  it('calls that need it are answered with 503 and Retry-After, others as always, and all afterwards', async () => {
    const errors: unknown[] = []
    const { server, handle } = serveTasks(openSchema(postgres.url), errors)
    const taskId = await eventually(() => wireTo(server).start('quick'))
    await eventually(() => wireTo(server).until(taskId, 'completed'))
    errors.length = 0
    await breakDown()
    for (const [method, params] of [
      ['tasks/get', { taskId }],
      ['tasks/cancel', { taskId }],
      ['tools/call', { name: 'wait', arguments: {} }],
    ] as const) {
      const response = await request(handle, method, params)
      expect([response.status, response.headers.get('retry-after')], method).toEqual([503, '5'])
      expect(await response.json()).toMatchObject({
        error: { code: -32603, message: 'The storage is not available at the moment' },
      })
    }
    const plain = await request(handle, 'tools/call', { name: 'plain', arguments: {} })
    expect(plain.status).toBe(200)
    expect(errors).toHaveLength(1)
    await recover()
    await eventually(async () => {
      expect((await request(handle, 'tasks/get', { taskId })).status).toBe(200)
    })
  })

  it('a task goes on, and its steps and its result are stored afterwards', async () => {
    const { server, handle } = serveTasks(openSchema(postgres.url))
    const { opened, open } = gate()
    const steps: string[] = []
    server.tool('long', { task: 'required' }, async (_args, ctx) => {
      steps.push('begun')
      await opened
      await ctx.progress(1)
      await ctx.step('one', () => void steps.push('one'))
      await ctx.step('two', () => void steps.push('two'))
      return 'done'
    })
    const taskId = await eventually(() => wireTo(server).start('long'))
    await eventually(() => expect(steps).toEqual(['begun']))
    await breakDown()
    open()
    await eventually(() => expect(steps).toEqual(['begun', 'one']))
    expect((await request(handle, 'tasks/get', { taskId })).status).toBe(503)
    await recover()
    await eventually(async () => {
      expect((await request(handle, 'tasks/get', { taskId })).status).toBe(200)
    })
    const done = await eventually(() => wireTo(server).until(taskId, 'completed'))
    expect(textOf(done.result)).toBe('done')
    expect(steps).toEqual(['begun', 'one', 'two'])
  })

  it('a client goes on listening to a task, and is notified of its end afterwards', async () => {
    const { server, gate: waiting, storage } = serveTasks(openSchema(postgres.url))
    const taskId = await eventually(() => wireTo(server).start('wait'))
    const seen = await eventually(() => watchTask(server, taskId))
    await eventually(() => expect(seen).toContainEqual(['working', 'Half way']))
    await breakDown()
    await expect(storage.taskStore().count()).rejects.toThrow('The storage is not available')
    await recover()
    waiting.open()
    await eventually(() => expect(seen.at(-1)).toEqual(['completed', undefined]))
  })

  it('changes are announced by the process of origin, and by the others afterwards', async () => {
    const schema = openSchema(postgres.url)
    const heard: string[][] = []
    const servers = []
    for (const n of [0, 1]) {
      const server = createServer({ name: 'a', version: '1' })
      const { storage } = schema.open({ timeoutMs: 1_000, onError: () => {} })
      const uris: string[] = (heard[n] = [])
      server.notify.subscribe((change) => 'uri' in change && uris.push(change.uri))
      await eventually(() => storage.connect(server))
      servers.push(server)
    }
    await breakDown()
    for (const uri of ['a', 'b', 'c']) servers[0]?.notify.resourceUpdated(uri)
    expect(heard).toEqual([['a', 'b', 'c'], []])
    await recover()
    await eventually(() => expect(heard[1]).toEqual(['a', 'b', 'c']))
    servers[1]?.notify.resourceUpdated('d')
    await eventually(() => expect(heard[0]).toEqual(['a', 'b', 'c', 'd']))
  })
})

it('A process that starts while the database is down works once it is there', async () => {
  const schema = openSchema(postgres.url)
  await postgres.kill()
  const server = createServer({ name: 'a', version: '1' })
  const { storage } = schema.open({ timeoutMs: 1_000, onError: () => {} })
  await expect(storage.connect(server)).rejects.toThrow('The storage is not available')
  const { server: other, handle } = serveTasks(schema)
  expect((await request(handle, 'tasks/get', { taskId: 'x' })).status).toBe(503)
  await postgres.start()
  const heard: unknown[] = []
  server.notify.subscribe((change) => heard.push(change))
  await eventually(() => storage.connect(server))
  const publisher = createServer({ name: 'a', version: '1' })
  const publishing = schema.open().storage
  await eventually(() => publishing.connect(publisher))
  publisher.notify.resourceUpdated('a')
  await eventually(() => expect(heard).toHaveLength(1))
  const taskId = await eventually(() => wireTo(other).start('quick'))
  await eventually(() => wireTo(other).until(taskId, 'completed'))
})

it('A process whose listening connection hangs reads what it missed at the next heartbeats', async () => {
  const schema = openSchema(postgres.url)
  const publisher = createServer({ name: 'a', version: '1' })
  await schema.open().storage.connect(publisher)
  const backends = async (): Promise<number[]> => {
    const rows = await schema.sql`SELECT pid FROM pg_stat_activity
      WHERE application_name = ${schema.schema} AND query ILIKE 'listen %'`
    return rows.map(({ pid }) => Number(pid))
  }
  const own = await backends()
  const server = createServer({ name: 'a', version: '1' })
  const heard: unknown[] = []
  server.notify.subscribe((change) => heard.push(change))
  await schema.open().storage.connect(server)
  const [hung] = (await backends()).filter((pid) => !own.includes(pid))
  if (hung === undefined) throw new Error('No connection listens')
  process.kill(hung, 'SIGSTOP')
  onTestFinished(() => void process.kill(hung, 'SIGCONT'))
  publisher.notify.resourceUpdated('a')
  await eventually(() => expect(heard).toHaveLength(1))
  process.kill(hung, 'SIGCONT')
  publisher.notify.resourceUpdated('b')
  await eventually(() => expect(heard).toHaveLength(2))
})
