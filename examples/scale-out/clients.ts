// Clients of both eras: the official one, and Edgewise for tasks, which the official one lacks.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** The official client of one era, connected through the proxy. */
export interface Caller extends AsyncDisposable {
  /** The server's questions, in order. */
  readonly asked: readonly string[]
  /** How often the client was notified that the menu has changed. */
  changes(): number
  call(name: string, args?: Record<string, unknown>): Promise<string>
  watchMenu(): Promise<void>
  readMenu(): Promise<string>
}

const ADDRESS = 'Harbour Street 1'
// A call of a killed process is taken over within 20 seconds
const reconnectionOptions = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 60,
}

/** Connects the official client, with a session (2025-11-25) or without (2026-07-28). */
export async function connectOfficial(url: string, era: 'legacy' | 'modern'): Promise<Caller> {
  const asked: string[] = []
  let changes = 0
  const client = new Client(
    { name: 'customer', version: '1.0.0' },
    {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : era },
    },
  )
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { address: ADDRESS } }
  })
  client.setNotificationHandler('notifications/resources/updated', () => void changes++)
  const transport = new StreamableHTTPClientTransport(new URL(url), { reconnectionOptions })
  await client.connect(transport)
  return {
    asked,
    changes: () => changes,
    async call(name, args = {}) {
      // Without a session, this client notices that its connection broke when the call times out
      const timeout = era === 'legacy' ? 60_000 : 10_000
      const options = { onprogress: () => {}, timeout, resetTimeoutOnProgress: true }
      const { content, isError } = await client.callTool({ name, arguments: args }, options)
      const text = textOf(content)
      if (isError) throw new Error(text)
      return text
    },
    async watchMenu() {
      const uri = 'bakery://menu'
      if (era === 'legacy') await client.subscribeResource({ uri })
      else await client.listen({ resourceSubscriptions: [uri] })
    },
    async readMenu() {
      return textOf((await client.readResource({ uri: 'bakery://menu' })).contents)
    },
    async [Symbol.asyncDispose]() {
      if (era === 'legacy') await transport.terminateSession()
      await client.close()
    },
  }
}

/** The text of the first block of content. */
export function textOf(content: unknown): string {
  const block: unknown = Array.isArray(content) ? content[0] : content
  if (typeof block === 'object' && block && 'text' in block) return String(block.text)
  throw new TypeError(`No text in ${JSON.stringify(content)}`)
}
