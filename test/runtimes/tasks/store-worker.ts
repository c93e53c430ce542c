// Runs the suite of stores of tasks in a Durable Object, each test on an empty storage.
import { ObjectTaskStore } from '../../../runtimes/cloudflare/task-store.ts'
import type { Suite } from '../harness.ts'
import { SuiteObject } from '../suite-object.ts'
import { taskRecordStoreSuite } from '../../tasks/store-suite.ts'

export class McpSession extends SuiteObject {
  suite(): Suite {
    const { storage } = this.ctx
    const open = () => new ObjectTaskStore(storage)
    return taskRecordStoreSuite(async () => {
      await storage.deleteAll()
      return { store: open(), reopen: open }
    })
  }
}
export { default, McpHub } from '../suite-object.ts'
