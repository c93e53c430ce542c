// Runs the suite of stores on `bun:sqlite`.
import { Database } from 'bun:sqlite'
import { SqlSessionStore, adaptSqlite } from '../../../src/sqlite/index.ts'
import { run } from '../harness.ts'
import { storeSuite } from '../../session/store-suite.ts'

const suite = storeSuite(() => {
  const sql = adaptSqlite(new Database(':memory:'))
  return Promise.resolve({
    store: new SqlSessionStore(sql),
    reopen: () => new SqlSessionStore(sql),
  })
})
await run(suite, (result) => console.log(JSON.stringify(result)))
