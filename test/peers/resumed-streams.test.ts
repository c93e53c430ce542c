/**
 * Streams of 2025-11-25 that break again and again, before they bring anything: each begins with an
 * id, so that clients can resume them.
 */
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { serve } from '../../runtimes/node/index.ts'
import { connect } from '../../src/presets/client.ts'
import { createServer, statefulSessions, text } from '../../src/presets/server.ts'
import { PATIENCE } from '../patience.ts'

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** How often a stream breaks before it is left alone. */
const BREAKS = 2
const reconnectionOptions = {
  initialReconnectionDelay: 10,
  maxReconnectionDelay: 10,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 10,
}
const info = { name: 'peer', version: '1.0.0' }

let finish: () => void
const server = createServer({ name: 'server', version: '1.0.0' })
server.tool('slow', {}, async (_args, ctx) => {
  await ctx.log('info', 'It began')
  await new Promise<void>((resolve) => (finish = resolve))
  return text('done')
})

let http: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  http = await serve(server, { port: 0, sessions: statefulSessions() })
})
afterAll(() => http.close())

/** A network that breaks the first streams after what they begin with, and reports each request. */
function breaking(isCut: (init: RequestInit) => boolean): { fetch: Fetch; resumed: string[] } {
  const resumed: string[] = []
  let cuts = 0
  return {
    resumed,
    async fetch(url, init = {}) {
      const after = new Headers(init.headers).get('last-event-id')
      if (after !== null) resumed.push(after)
      const response = await fetch(url, init)
      const isStream = response.headers.get('content-type') === 'text/event-stream'
      if (!isStream || !isCut(init) || cuts >= BREAKS) return response
      cuts++
      return new Response(afterFirstEvent(response), response)
    },
  }
}

/** A body that breaks after its first event; each event is a chunk of its own. */
function afterFirstEvent({ body }: Response): ReadableStream<Uint8Array> {
  const reader = body!.getReader()
  let count = 0
  return new ReadableStream({
    async pull(controller) {
      const value = count++ === 0 ? (await reader.read()).value : undefined
      if (value) return controller.enqueue(value)
      await reader.cancel()
      controller.error(new TypeError('The connection broke'))
    },
  })
}

/** What every client can do. */
interface Peer {
  call(): Promise<unknown>
  changes(): number
  close(): Promise<void>
}

const clients: Record<string, (fetch: Fetch) => Promise<Peer>> = {
  async 'the official v1 client'(fetch) {
    let changes = 0
    const client = new ClientV1(info)
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++)
    const transport = new HttpV1(new URL(http.url), { fetch, reconnectionOptions })
    await client.connect(transport)
    return {
      call: () => client.callTool({ name: 'slow' }),
      changes: () => changes,
      close: () => client.close(),
    }
  },
  async 'the official v2 client'(fetch) {
    let changes = 0
    const client = new ClientV2(info)
    client.setNotificationHandler('notifications/tools/list_changed', () => void changes++)
    await client.connect(new HttpV2(new URL(http.url), { fetch, reconnectionOptions }))
    return {
      call: () => client.callTool({ name: 'slow' }),
      changes: () => changes,
      close: () => client.close(),
    }
  },
  async 'our client'(fetch) {
    let changes = 0
    const client = await connect(http.url, {
      revision: '2025-11-25',
      fetch,
      onToolsChanged: () => void changes++,
    })
    return {
      call: () => client.callTool('slow'),
      changes: () => changes,
      close: () => client.close(),
    }
  },
}

describe.each(Object.entries(clients))('With %s', (_name, open) => {
  test('a call whose stream breaks before each event gets its answer [I013]', async () => {
    const { fetch, resumed } = breaking(({ method, headers }) => {
      return method === 'POST' || new Headers(headers).has('last-event-id')
    })
    const peer = await open(fetch)
    const answer = peer.call()
    await vi.waitFor(() => expect(resumed).toHaveLength(BREAKS), PATIENCE)
    finish()
    expect(await answer).toMatchObject({ content: [{ text: 'done' }] })
    await peer.close()
  })

  test('a GET stream that breaks before each event delivers the missed events [I013]', async () => {
    const { fetch, resumed } = breaking(({ method }) => method === 'GET')
    const peer = await open(fetch)
    await vi.waitFor(() => expect(resumed).toHaveLength(BREAKS), PATIENCE)
    const before = peer.changes()
    server.notify.toolsListChanged()
    await vi.waitFor(() => expect(peer.changes()).toBe(before + 1), PATIENCE)
    await peer.close()
  })
})
