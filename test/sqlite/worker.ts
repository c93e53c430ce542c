// Runs the suite of stores in a Durable Object, each test on an empty storage.
import { DurableObject } from 'cloudflare:workers'
import { ObjectSessionStore } from '../../runtimes/cloudflare/session-store.ts'
import { run } from '../runtimes/harness.ts'
import { storeSuite } from '../session/store-suite.ts'

export class McpSession extends DurableObject {
  async fetch(): Promise<Response> {
    const { storage } = this.ctx
    const mintId = (): string => `shared.${crypto.randomUUID()}`
    const open = () => new ObjectSessionStore(storage, { mintId })
    const suite = storeSuite(async () => {
      await storage.deleteAll()
      return { store: open(), reopen: open }
    })
    const lines: string[] = []
    await run(suite, (result) => lines.push(JSON.stringify(result)))
    return new Response(lines.join('\n'))
  }
}
export class McpHub extends DurableObject {}

interface Env {
  MCP_SESSION: { newUniqueId(): unknown; get(id: unknown): { fetch(url: string): Response } }
}

export default {
  fetch: (_request: Request, { MCP_SESSION: objects }: Env) =>
    objects.get(objects.newUniqueId()).fetch('https://suite/'),
}
