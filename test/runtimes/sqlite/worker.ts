// Runs the suite of stores in a Durable Object, each test on an empty storage.
import { ObjectSessionStore } from '../../../runtimes/cloudflare/session-store.ts'
import type { Suite } from '../harness.ts'
import { SuiteObject } from '../suite-object.ts'
import { storeSuite } from '../../session/store-suite.ts'

export class McpSession extends SuiteObject {
  suite(): Suite {
    const { storage } = this.ctx
    const createId = (): string => `shared.${crypto.randomUUID()}`
    const open = () => new ObjectSessionStore(storage, { createId })
    return storeSuite(async () => {
      await storage.deleteAll()
      return { store: open(), reopen: open }
    })
  }
}
export { default, McpHub } from '../suite-object.ts'
