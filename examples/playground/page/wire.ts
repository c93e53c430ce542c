/**
 * Watches what travels between the page and the server: a `fetch` that reports every message.
 * The body streams on untouched, so that aborting and backpressure stay as they are.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { isObject } from 'edgewise/browser'
import { createParser } from 'eventsource-parser'
import { duration } from './run.ts'

/** Something that was sent or received. */
export interface WireEntry {
  direction: 'sent' | 'received'
  /** A method, or what an answer is. */
  title: string
  /** The message, the text that was none, or nothing. */
  body: unknown
  /** The HTTP line and the headers that are MCP's. */
  http: string[]
}

/** Wraps the page's `fetch`. */
export function watchedFetch(
  report: (entry: WireEntry) => void,
): (url: string, init: RequestInit) => Promise<Response> {
  const titleOf = titles()
  return async (url, init) => {
    const line = `${init.method ?? 'GET'} ${new URL(url).pathname}`
    const http = [line, ...protocolHeaders(new Headers(init.headers))]
    const sent = typeof init.body === 'string' ? parsed(init.body) : undefined
    report({ direction: 'sent', title: titleOf(sent) ?? line, body: sent, http })

    const response = await fetch(url, init)
    const status = `HTTP ${response.status} ${response.statusText}`.trim()
    const answerHttp = [status, ...protocolHeaders(response.headers)]
    const received = (body: unknown): void =>
      report({ direction: 'received', title: titleOf(body) ?? status, body, http: answerHttp })
    if (!response.body || response.status === 202) {
      received(undefined)
      return response
    }
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    return new Response(response.body.pipeThrough(tap(isStream, received)), response)
  }
}

/** Names messages; an answer by what it answers, and in what time. */
function titles(): (body: unknown) => string | undefined {
  const asked = new Map<unknown, { method: string; start: number }>()
  return (body) => {
    if (Array.isArray(body)) return `Batch of ${body.length}`
    if (!isObject(body)) return undefined
    const { id, method, result } = body
    if (typeof method === 'string') {
      if (id !== undefined) asked.set(id, { method, start: performance.now() })
      return method
    }
    const request = asked.get(id)
    asked.delete(id)
    const wantsInput = isObject(result) && result['resultType'] === 'input_required'
    const outcome = 'error' in body ? 'error' : wantsInput ? 'input required' : 'result'
    if (!request) return outcome
    return `${request.method} ${outcome}, ${duration(performance.now() - request.start)}`
  }
}

/** Passes bytes on and reports the messages in them. */
function tap(
  isStream: boolean,
  received: (body: unknown) => void,
): TransformStream<Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder()
  const events = createParser({ onEvent: ({ data }) => data && received(parsed(data)) })
  let text = ''
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk)
      const part = decoder.decode(chunk, { stream: true })
      if (isStream) events.feed(part)
      else text += part
    },
    flush() {
      if (text) received(parsed(text))
    },
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function protocolHeaders(headers: Headers): string[] {
  return [...headers]
    .filter(([name]) => /^(mcp-|content-type$|accept$|last-event-id$)/.test(name))
    .map(([name, value]) => `${name}: ${value}`)
}
