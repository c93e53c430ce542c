// Runs the suite of storages of events in a Durable Object, each test on an empty storage.
import { sqlIn } from '../../../runtimes/cloudflare/sql.ts'
import { SqlEventStorage } from '../../../src/sqlite/index.ts'
import { eventStorageSuite } from '../../events/storage-suite.ts'
import type { Suite } from '../harness.ts'
import { SuiteObject } from '../suite-object.ts'

export class McpSession extends SuiteObject {
  suite(): Suite {
    const { storage } = this.ctx
    const open = () => new SqlEventStorage(sqlIn(storage), { checkMs: 20 })
    return eventStorageSuite(async () => {
      await storage.deleteAll()
      return { storage: open(), reopen: open }
    })
  }
}
export { default, McpHub } from '../suite-object.ts'
