// What processes share in Postgres, as a portable suite.
import postgres from 'postgres'
import { createServer, type Server } from '../../../src/presets/server.ts'
import { createPostgresStorage, type PostgresStorage } from '../../../src/postgres/index.ts'
import { taskStoreSuite } from '../../tasks/store-suite.ts'
import { equal, until, type Suite } from '../harness.ts'
import { sessionSuite } from './session-suite.ts'

/** The suite, and what closes its connections and drops its schemas. */
export function postgresSuite(url: string): { suite: Suite; close(): Promise<void> } {
  const sql = postgres(url, { max: 2, fetch_types: false, onnotice: () => {} })
  const schemas: string[] = []
  const storages: PostgresStorage[] = []
  const clients = [sql]

  function createSchema(): string {
    const schema = `test_${crypto.randomUUID().replaceAll('-', '_')}`
    schemas.push(schema)
    return schema
  }

  /** A storage with connections of its own, as another process has. */
  function openStorage(schema: string): PostgresStorage {
    const client = postgres(url, {
      max: 2,
      fetch_types: false,
      onnotice: () => {},
      backoff: () => 0.1,
      connection: { application_name: schema },
    })
    const storage = createPostgresStorage(client, { schema })
    clients.push(client)
    storages.push(storage)
    return storage
  }

  async function openServer(schema: string): Promise<{ server: Server; uris: string[] }> {
    const server = createServer({ name: 'a', version: '1' })
    const uris: string[] = []
    server.notify.subscribe((change) => 'uri' in change && uris.push(change.uri))
    await openStorage(schema).connect(server)
    return { server, uris }
  }

  const suite: Suite = {
    ...taskStoreSuite(() => {
      const schema = createSchema()
      return Promise.resolve({
        store: openStorage(schema).taskStore(),
        reopen: () => openStorage(schema).taskStore(),
      })
    }),

    ...sessionSuite(() => {
      const schema = createSchema()
      return [openStorage(schema), openStorage(schema)]
    }),

    'A change of one process is announced by another, also after its connection was lost':
      async () => {
        const schema = createSchema()
        const [one, two] = [await openServer(schema), await openServer(schema)]
        one.server.notify.resourceUpdated('a')
        await until('the change arrives', () => two.uris.length === 1)
        await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = ${schema} AND query ILIKE 'listen %'`
        one.server.notify.resourceUpdated('b')
        await until('the change arrives', () => two.uris.length === 2)
        equal(
          [one.uris, two.uris],
          [
            ['a', 'b'],
            ['a', 'b'],
          ],
        )
      },
  }

  return {
    suite,
    async close() {
      await Promise.all(storages.map((storage) => storage.close()))
      for (const schema of schemas) await sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`
      await Promise.all(clients.map((client) => client.end()))
    },
  }
}
