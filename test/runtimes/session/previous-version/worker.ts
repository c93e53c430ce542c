// Runs the suite of the previous version's data in a Durable Object.
import type { Suite } from '../../harness.ts'
import { SuiteObject } from '../../suite-object.ts'
import { objectSuite } from './object-suite.ts'

export class McpSession extends SuiteObject {
  suite(): Suite {
    const { storage } = this.ctx
    return objectSuite(async () => {
      await storage.deleteAll()
      return storage
    })
  }
}
export { default, McpHub } from '../../suite-object.ts'
