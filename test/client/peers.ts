/**
 * Scripted servers for tests of the client: one behind `fetch`, one behind a transport.
 */
import { connect, type Client, type ConnectOptions } from '../../src/client/index.ts'
import type { JsonObject, JsonRpcMessage } from '../../src/protocol/jsonrpc.ts'
import { inMemoryTransports } from '../../src/transport/in-memory.ts'
import type { Transport } from '../../src/transport/transport.ts'

/** What a scripted server can say of one request. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  /** The JSON-RPC message of a POST. */
  readonly message: JsonObject & { id?: string | number; method?: string; params?: JsonObject }
  readonly signal: AbortSignal
}

/** A server behind `fetch`, and everything that it was sent. */
export interface HttpPeer {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly seen: Seen[]
  /** The messages with a method. */
  sent(method: string): Seen[]
}

/** Makes a server of a function from request to response. */
export function httpPeer(answer: (seen: Seen) => Response | Promise<Response>): HttpPeer {
  const seen: Seen[] = []
  return {
    seen,
    sent: (method) => seen.filter((one) => one.message.method === method),
    async fetch(url, init) {
      const one: Seen = {
        method: init.method ?? 'GET',
        url,
        headers: new Headers(init.headers),
        message: typeof init.body === 'string' ? JSON.parse(init.body) : {},
        signal: init.signal ?? new AbortController().signal,
      }
      seen.push(one)
      one.signal.throwIfAborted()
      return await new Promise<Response>((resolve, reject) => {
        const abort = (): void => reject(one.signal.reason as Error)
        one.signal.addEventListener('abort', abort)
        Promise.resolve(answer(one))
          .then(resolve, reject)
          .finally(() => one.signal.removeEventListener('abort', abort))
      })
    },
  }
}

/** A JSON response. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** A result as JSON. */
export function result(seen: Seen, body: JsonObject, headers?: Record<string, string>): Response {
  return json({ jsonrpc: '2.0', id: seen.message.id, result: body }, 200, headers)
}

/** An error as JSON. */
export function error(seen: Seen, code: number, status = 200, data?: unknown): Response {
  const body = { code, message: `error ${code}`, ...(data !== undefined && { data }) }
  return json({ jsonrpc: '2.0', id: seen.message.id, error: body }, status)
}

/** A stream that a test writes to. */
export interface EventStream {
  readonly response: Response
  /** Writes raw text. */
  write(text: string): void
  /** Writes one message as an event. */
  event(message: unknown, id?: string): void
  end(): void
  fail(): void
  /** Whether the reader has gone. */
  readonly cancelled: boolean
}

/** Makes an event stream. */
export function eventStream(headers: Record<string, string> = {}): EventStream {
  let controller!: ReadableStreamDefaultController<Uint8Array>
  let cancelled = false
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given
    },
    cancel() {
      cancelled = true
    },
  })
  const write = (text: string): void => controller.enqueue(new TextEncoder().encode(text))
  return {
    response: new Response(body, { headers: { 'content-type': 'text/event-stream', ...headers } }),
    write,
    event: (message, id) =>
      write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`),
    end: () => controller.close(),
    fail: () => controller.error(new TypeError('socket reset')),
    get cancelled() {
      return cancelled
    },
  }
}

const serverInfo = { name: 'peer', version: '1' }

/** The result of `server/discover`. */
export function discovered(capabilities: JsonObject = everything): JsonObject {
  return {
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities,
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
  }
}

/** The result of `initialize`. */
export function initialized(
  version = '2025-11-25',
  capabilities: JsonObject = everything,
): JsonObject {
  return { protocolVersion: version, capabilities, serverInfo, instructions: 'Be kind' }
}

/** Every capability of a server. */
export const everything: JsonObject = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
}

/** A server of 2026-07-28 behind `fetch`: answers `server/discover`, a script the rest. */
export function modernPeer(
  answer: (seen: Seen) => Response | Promise<Response>,
  capabilities?: JsonObject,
): HttpPeer {
  return httpPeer((seen) =>
    seen.message.method === 'server/discover'
      ? result(seen, discovered(capabilities))
      : answer(seen),
  )
}

/** A server with sessions behind `fetch`: does the handshake, a script the rest. */
export function legacyPeer(
  answer: (seen: Seen) => Response | Promise<Response>,
  { version = '2025-11-25', session = 's1', capabilities = everything } = {},
): HttpPeer {
  return httpPeer((seen) => {
    const { method } = seen.message
    if (method === 'server/discover') return error(seen, -32600, 400)
    if (method === 'initialize') {
      return result(
        seen,
        initialized(version, capabilities),
        session ? { 'Mcp-Session-Id': session } : {},
      )
    }
    if (seen.method === 'POST' && (method?.startsWith('notifications/') || !method)) {
      return new Response(null, { status: 202 })
    }
    if (seen.method === 'DELETE') return new Response(null, { status: 204 })
    return seen.method === 'GET' ? new Response(null, { status: 405 }) : answer(seen)
  })
}

/** A server behind a transport. */
export interface DuplexPeer {
  readonly transport: Transport
  readonly seen: (JsonObject & { id?: number; method?: string; params?: JsonObject })[]
  send(frame: unknown): void
  close(): void
  sent(method: string): JsonObject[]
}

/** Makes a server of a function that is given each message, and gives what to send back. */
export function duplexPeer(
  answer: (message: JsonObject & { id?: number; method?: string }) => unknown,
): DuplexPeer {
  const [transport, mine] = inMemoryTransports()
  const seen: DuplexPeer['seen'] = []
  const send = (frame: unknown): void => void mine.send(frame as JsonRpcMessage).catch(() => {})
  void mine.start({
    message(frame) {
      seen.push(frame as JsonObject)
      const reply = answer(frame as JsonObject)
      if (reply !== undefined) send(reply)
    },
    malformed() {},
    closed() {},
  })
  return {
    transport,
    seen,
    send,
    close: () => void mine.close(),
    sent: (method) => seen.filter((one) => one.method === method),
  }
}

/** The answer to a request over a transport. */
export function reply(message: JsonObject, body: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id: message.id, result: body }
}

/** The failure of a request over a transport. */
export function refuse(message: JsonObject, code: number, data?: unknown): JsonObject {
  const body = { code, message: `error ${code}`, ...(data !== undefined && { data }) }
  return { jsonrpc: '2.0', id: message.id, error: body }
}

/** Connects with a cache of eras of its own. */
export function connectTo(
  peer: HttpPeer | DuplexPeer,
  options: ConnectOptions = {},
): Promise<Client> {
  return 'transport' in peer
    ? connect(peer.transport, options)
    : connect('https://peer.example/mcp', { fetch: peer.fetch, eras: new Map(), ...options })
}

/** Waits until something is so; fails after a second. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    if (turn > 200) throw new Error('It never came true')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
