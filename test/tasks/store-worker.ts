// Runs the suite of stores of tasks in a Durable Object, each test on an empty storage.
import { DurableObject } from 'cloudflare:workers'
import { ObjectTaskStore } from '../../runtimes/cloudflare/task-store.ts'
import { run } from '../runtimes/harness.ts'
import { taskKeeperSuite } from './store-suite.ts'

export class McpSession extends DurableObject {
  async fetch(): Promise<Response> {
    const { storage } = this.ctx
    const open = () => new ObjectTaskStore(storage)
    const suite = taskKeeperSuite(async () => {
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
