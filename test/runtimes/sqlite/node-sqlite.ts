// Runs the suite of stores on `node:sqlite`, where there is one.
import { DatabaseSync } from 'node:sqlite'
import { SqlSessionStore, adaptSqlite } from '../../../src/sqlite/index.ts'
import { run } from '../harness.ts'
import { storeSuite } from '../../session/store-suite.ts'

const suite = storeSuite(() => {
  const sql = adaptSqlite(new DatabaseSync(':memory:'))
  return Promise.resolve({
    store: new SqlSessionStore(sql),
    reopen: () => new SqlSessionStore(sql),
  })
})
await run(suite, (result) => console.log(JSON.stringify(result)))
