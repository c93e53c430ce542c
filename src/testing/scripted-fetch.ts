/**
 * A scripted server behind `fetch`: answers as a test says, right or wrong, and remembers what it was
 * sent.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'

/** One HTTP request that a scripted server got. */
export interface ScriptedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  /** The JSON-RPC message of a POST; empty without one. */
  readonly message: JsonObject & { id?: string | number; method?: string; params?: JsonObject }
  /** Fires when the client gives up. */
  readonly signal: AbortSignal
}

/** A server behind `fetch`, and everything that it was sent. */
export interface ScriptedFetch {
  /** What `connect` takes as its option `fetch`. Rejects when the client gives up meanwhile. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly seen: ScriptedRequest[]
  /** The messages with a method. */
  sent(method: string): ScriptedRequest[]
}

/** Makes a server of a function from request to response. */
export function scriptedFetch(
  answer: (request: ScriptedRequest) => Response | Promise<Response>,
): ScriptedFetch {
  const seen: ScriptedRequest[] = []
  return {
    seen,
    sent: (method) => seen.filter((one) => one.message.method === method),
    async fetch(url, init) {
      const one: ScriptedRequest = {
        method: init.method ?? 'GET',
        url,
        headers: new Headers(init.headers),
        message: typeof init.body === 'string' ? (JSON.parse(init.body) as JsonObject) : {},
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

/** An event stream that a test writes to. */
export interface ScriptedEvents {
  readonly response: Response
  /** Writes raw text. */
  write(text: string): void
  /** Writes one message as an event. */
  event(message: unknown, id?: string): void
  /** Ends the stream as servers do. */
  end(): void
  /** Breaks it, as networks do. */
  fail(): void
  /** Whether the reader has gone. */
  readonly cancelled: boolean
}

/** Makes an event stream, for a scripted server to answer with. */
export function scriptedEvents(headers: Readonly<Record<string, string>> = {}): ScriptedEvents {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let cancelled = false
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given
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
