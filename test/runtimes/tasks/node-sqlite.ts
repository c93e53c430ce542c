// Runs the suite of stores of tasks on `node:sqlite`, where there is one.
import { DatabaseSync } from 'node:sqlite'
import { adaptSqlite, SqlTaskStore } from '../../../src/sqlite/index.ts'
import { run } from '../harness.ts'
import { taskStoreSuite } from '../../tasks/store-suite.ts'

const suite = taskStoreSuite(() => {
  const sql = adaptSqlite(new DatabaseSync(':memory:'))
  return Promise.resolve({ store: new SqlTaskStore(sql), reopen: () => new SqlTaskStore(sql) })
})
await run(suite, (result) => console.log(JSON.stringify(result)))
