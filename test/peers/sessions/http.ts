/**
 * The servers of the contract of sessions over HTTP, with all that sessions can do: streams that are
 * resumed, and announcements.
 */
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

import { toNodeListener } from '../../../runtimes/node/index.ts'
import { createSseHandler } from '../../../src/presets/server.ts'
import { listen, listenByFetch, sessionsV1, sessionsV2, type Listening } from '../servers/http.ts'
import { AWAY_MS } from './contract.ts'
import { createEdgewise, createV1, createV2 } from './servers.ts'

/** Keeps the events of one session, as the official transports ask for it. */
class Events<Message> {
  readonly #kept: { id: string; stream: string; message: Message }[] = []

  storeEvent(stream: string, message: Message): Promise<string> {
    const id = `${stream}_${this.#kept.length}`
    this.#kept.push({ id, stream, message })
    return Promise.resolve(id)
  }

  async replayEventsAfter(
    lastId: string,
    { send }: { send: (id: string, message: Message) => Promise<void> },
  ): Promise<string> {
    const at = this.#kept.findIndex(({ id }) => id === lastId)
    const stream = this.#kept[at]?.stream ?? ''
    for (const event of this.#kept.slice(at + 1)) {
      // An event without a message only carries its id
      const isMessage = Object.keys(event.message as object).length > 0
      if (event.stream === stream && isMessage) await send(event.id, event.message)
    }
    return stream
  }
}

/** Serves the contract built with SDK v1. */
export function listenV1(): Promise<Listening> {
  const more = () => ({ eventStore: new Events<JSONRPCMessage>(), retryInterval: AWAY_MS })
  return listen(sessionsV1(createV1, more))
}

/** Serves the contract built with SDK v2, with sessions. */
export function listenV2(): Promise<Listening> {
  const more = () => ({ eventStore: new Events<JSONRPCMessage>(), retryInterval: AWAY_MS })
  return listenByFetch(sessionsV2(createV2, more))
}

/** Serves the contract built with SDK v1 over HTTP+SSE. */
export function listenSseV1(): Promise<Listening> {
  const sessions = new Map<string, SSEServerTransport>()
  return listen(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (url.pathname !== '/mcp') return void response.writeHead(404).end()
    const known = sessions.get(url.searchParams.get('sessionId') ?? '')
    if (request.method === 'POST' && known) return known.handlePostMessage(request, response)
    if (request.method !== 'GET') return void response.writeHead(405).end()
    const transport = new SSEServerTransport('/mcp', response)
    sessions.set(transport.sessionId, transport)
    await createV1().connect(transport)
  })
}

/** Serves the contract built with Edgewise over HTTP+SSE. */
export function listenSseEdgewise(): Promise<Listening> {
  const handle = toNodeListener(createSseHandler(createEdgewise()))
  return listen((request, response) => Promise.resolve(handle(request, response)))
}
