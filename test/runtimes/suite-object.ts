// Runs a suite in a Durable Object, as the Worker's answer: a line of JSON for each result.
import { DurableObject } from 'cloudflare:workers'
import { run, type Suite } from './harness.ts'

export abstract class SuiteObject extends DurableObject {
  abstract suite(): Suite

  async fetch(): Promise<Response> {
    const lines: string[] = []
    await run(this.suite(), (result) => lines.push(JSON.stringify(result)))
    return new Response(lines.join('\n'))
  }
}
export class McpHub extends DurableObject {}

interface Env {
  MCP_SESSION: { newUniqueId(): unknown; get(id: unknown): { fetch(url: string): Response } }
}

export default {
  fetch: (_request: Request, { MCP_SESSION: objects }: Env): Response =>
    objects.get(objects.newUniqueId()).fetch('https://suite/'),
}
