/**
 * Watches what travels between the page and the server: a `fetch` that reports every message.
 * The body streams on untouched, so that aborting and backpressure stay as they are.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { createParser } from 'eventsource-parser'

/** Something that was sent or received. */
export interface WireEntry {
  direction: 'sent' | 'received'
  /** A method, or what an answer is. */
  title: string
  /** The message, or the text that was none. */
  body: unknown
  /** The HTTP line and the headers that are MCP's. */
  http: string[]
}

/** Wraps the page's `fetch`. */
export function watchedFetch(
  report: (entry: WireEntry) => void,
): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const request = requestLines(url, init)
    const sent = typeof init.body === 'string' ? init.body : undefined
    if (sent === undefined)
      report({ direction: 'sent', title: request[0] ?? '', body: undefined, http: request })
    else
      reportText(sent, (title, body) => report({ direction: 'sent', title, body, http: request }))

    const response = await fetch(url, init)
    const http = [
      `HTTP ${response.status} ${response.statusText}`.trim(),
      ...protocolHeaders(response.headers),
    ]
    const received = (title: string, body: unknown): void =>
      report({ direction: 'received', title, body, http })
    if (!response.body || response.status === 202) {
      received(http[0] ?? '', undefined)
      return response
    }
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    return new Response(response.body.pipeThrough(tap(isStream, received)), response)
  }
}

type Received = (title: string, body: unknown) => void

/** Passes bytes on and reports the messages in them. */
function tap(isStream: boolean, received: Received): TransformStream<Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder()
  const events = createParser({ onEvent: ({ data }) => data && reportText(data, received) })
  let text = ''
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk)
      const part = decoder.decode(chunk, { stream: true })
      if (isStream) events.feed(part)
      else text += part
    },
    flush() {
      if (text) reportText(text, received)
    },
  })
}

function reportText(text: string, report: (title: string, body: unknown) => void): void {
  let body: unknown = text
  try {
    body = JSON.parse(text)
  } catch {
    // Shown as the text it is.
  }
  report(titleOf(body), body)
}

function titleOf(body: unknown): string {
  if (Array.isArray(body)) return `Batch of ${body.length}`
  if (typeof body !== 'object' || body === null) return 'Not a message'
  if ('method' in body) return String(body.method)
  if ('error' in body) return 'Error'
  return 'id' in body ? 'Result' : 'Not a message'
}

function requestLines(url: string, { method = 'GET', headers }: RequestInit): string[] {
  return [`${method} ${new URL(url).pathname}`, ...protocolHeaders(new Headers(headers))]
}

function protocolHeaders(headers: Headers): string[] {
  return [...headers]
    .filter(([name]) => /^(mcp-|content-type$|accept$|last-event-id$)/.test(name))
    .map(([name, value]) => `${name}: ${value}`)
}
