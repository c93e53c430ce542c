// Runs the suite of stores of tasks on `bun:sqlite`.
import { Database } from 'bun:sqlite'
import { adaptSqlite, SqlTaskStore } from '../../../src/sqlite/index.ts'
import { run } from '../harness.ts'
import { taskStoreSuite } from '../../tasks/store-suite.ts'

const suite = taskStoreSuite(() => {
  const sql = adaptSqlite(new Database(':memory:'))
  return Promise.resolve({ store: new SqlTaskStore(sql), reopen: () => new SqlTaskStore(sql) })
})
await run(suite, (result) => console.log(JSON.stringify(result)))
