/**
 * A scripted server behind `fetch`. It responds as the test says, even if the response violates the
 * protocol, and records the requests that it receives.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { JsonObject } from '../protocol/types.ts'

/** One HTTP request that a scripted server received. */
export interface ScriptedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  /** The JSON-RPC message of a POST; empty if the POST has no message. */
  readonly message: JsonObject & { id?: string | number; method?: string; params?: JsonObject }
  /** Aborts when the client aborts the request. */
  readonly signal: AbortSignal
}

/** A server behind `fetch`, with everything that it received. */
export interface ScriptedFetch {
  /** The `fetch` to pass to `connect`. Rejects when the client aborts the request. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** All received HTTP requests, in order. */
  readonly requests: ScriptedRequest[]
  /** The received requests whose message has this JSON-RPC method. */
  received(method: string): ScriptedRequest[]
}

/**
 * Creates a server behind `fetch` from a function that maps requests to responses.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { scriptedFetch } from 'edgewise/testing'
 *
 * const down = scriptedFetch(() => new Response('Bad gateway', { status: 502 }))
 * await connect('https://test.example/mcp', { fetch: down.fetch }).catch(({ code }) => {
 *   console.log(code, down.requests.length) // HTTP
 * })
 * ```
 */
export function scriptedFetch(
  answer: (request: ScriptedRequest) => Response | Promise<Response>,
): ScriptedFetch {
  const requests: ScriptedRequest[] = []
  return {
    requests,
    received: (method) => requests.filter(({ message }) => message.method === method),
    async fetch(url, init) {
      const request: ScriptedRequest = {
        method: init.method ?? 'GET',
        url,
        headers: new Headers(init.headers),
        message: typeof init.body === 'string' ? (JSON.parse(init.body) as JsonObject) : {},
        signal: init.signal ?? new AbortController().signal,
      }
      requests.push(request)
      request.signal.throwIfAborted()
      return await new Promise<Response>((resolve, reject) => {
        const abort = (): void => reject(request.signal.reason as Error)
        request.signal.addEventListener('abort', abort)
        Promise.resolve(answer(request))
          .then(resolve, reject)
          .finally(() => request.signal.removeEventListener('abort', abort))
      })
    },
  }
}

/** An event stream to which a test writes. */
export interface ScriptedEvents {
  /** The response to return from the script of {@link scriptedFetch}. */
  readonly response: Response
  /** Writes raw text. */
  write(text: string): void
  /** Writes one message as an event. */
  event(message: unknown, id?: string): void
  /** Ends the stream normally. */
  end(): void
  /** Ends the stream with an error, as a network failure does. */
  fail(): void
  /** Whether the reader has cancelled the stream. */
  readonly cancelled: boolean
}

/** Creates an event stream as the response of a scripted server. */
export function scriptedEvents(headers: Readonly<Record<string, string>> = {}): ScriptedEvents {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let cancelled = false
  const body = new ReadableStream<Uint8Array>({
    start(streamController) {
      controller = streamController
    },
    cancel() {
      cancelled = true
    },
  })
  const write = (text: string): void => controller?.enqueue(new TextEncoder().encode(text))
  return {
    response: new Response(body, { headers: { 'content-type': 'text/event-stream', ...headers } }),
    write,
    event: (message, id) =>
      write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`),
    end: () => controller?.close(),
    fail: () => controller?.error(new TypeError('The connection broke')),
    get cancelled() {
      return cancelled
    },
  }
}
