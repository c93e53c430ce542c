// Connections whose packets are dropped without notice, as by a firewall or after a failover.
import { createServer as createTcpServer, connect, type AddressInfo, type Socket } from 'node:net'
import postgres from 'postgres'
import { expect, inject, it, onTestFinished } from 'vitest'
import { createHandler, createServer } from '../../src/presets/server.ts'
import { createPostgresStorage } from '../../src/postgres/index.ts'
import { eventually, openSchema } from './database.ts'
import { call, openSession, textOf } from './fleet.ts'

/** A proxy in front of the database that can drop what its connections carry. */
async function openProxy(): Promise<{ url: string; drop(): void }> {
  const target = new URL(inject('databaseUrl'))
  const sockets = new Set<Socket>()
  const server = createTcpServer((client) => {
    const database = connect(Number(target.port), target.hostname)
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        database.destroy()
      })
    }
    client.pipe(database).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    drop() {
      for (const socket of sockets) {
        socket.unpipe()
        socket.removeAllListeners('close')
        socket.resume()
      }
    },
  }
}

it('A process whose connections are dropped without notice works again soon', async () => {
  const proxy = await openProxy()
  const { schema, open } = openSchema()
  const clients: postgres.Sql[] = []
  const storage = createPostgresStorage(
    () => {
      const client = postgres(proxy.url, { max: 2, fetch_types: false, onnotice: () => {} })
      clients.push(client)
      return client
    },
    { schema, timeoutMs: 2_000, onError: () => {} },
  )
  onTestFinished(() => storage.close())
  const server = createServer({ name: 'a', version: '1' })
  server.tool('echo', {}, () => 'echo')
  const handle = createHandler(server, { sessions: storage.sessions() })
  onTestFinished(() => handle.close())
  await eventually(() => storage.migrate())
  const session = await openSession({ handle })
  const heard: string[] = []
  server.notify.subscribe((change) => heard.push(change.method))
  proxy.drop()
  expect((await session.send({ handle }, call(1, 'echo'))).status).toBe(503)
  await eventually(async () => {
    expect(textOf(await session.ask({ handle }, call(2, 'echo')))).toBe('echo')
  })
  const publisher = createServer({ name: 'a', version: '1' })
  await open().storage.connect(publisher)
  publisher.notify.toolsListChanged()
  await eventually(() => expect(heard).toContain('notifications/tools/list_changed'))
  expect(clients.length).toBeGreaterThan(1)
})

it('A slow query that ends once it is cancelled costs no connection', async () => {
  const proxy = await openProxy()
  const { schema, sql, open } = openSchema()
  await open().storage.migrate()
  const clients: postgres.Sql[] = []
  const storage = createPostgresStorage(
    () => {
      const client = postgres(proxy.url, { max: 2, fetch_types: false, onnotice: () => {} })
      clients.push(client)
      return client
    },
    { schema, timeoutMs: 2_000, onError: () => {} },
  )
  onTestFinished(() => storage.close())
  const store = storage.taskStore()
  await eventually(async () => expect(await store.count()).toBe(0))
  await sql.begin(async (lock) => {
    await lock`LOCK TABLE ${sql(`${schema}.mcp_tasks`)}`
    for (let n = 0; n < 4; n++) await expect(store.count()).rejects.toThrow('not available')
  })
  await eventually(async () => expect(await store.count()).toBe(0))
  expect(clients).toHaveLength(1)
})
