// Runs the suite of storages of events on `bun:sqlite`.
import { Database } from 'bun:sqlite'

import { adaptSqlite, SqlEventStorage } from '../../../src/sqlite/index.ts'
import { eventStorageSuite } from '../../events/storage-suite.ts'
import { run } from '../harness.ts'

const suite = eventStorageSuite(() => {
  const sql = adaptSqlite(new Database(':memory:'))
  return Promise.resolve({
    storage: new SqlEventStorage(sql, { checkMs: 20 }),
    reopen: () => new SqlEventStorage(sql, { checkMs: 20 }),
  })
})
await run(suite, (result) => console.log(JSON.stringify(result)))
