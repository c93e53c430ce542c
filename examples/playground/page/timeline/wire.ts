/**
 * A `fetch` that reports every message between the page and the server.
 * Streams are passed on unchanged, so that aborting and backpressure work as without it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { Fetch } from 'edgewise/browser'
import { tryParse } from '../json.ts'
import { labels, type Direction, type Label } from './wire-label.ts'

/** A message sent or received. */
export interface WireEntry extends Label {
  direction: Direction
  at: Date
  /** The message, the invalid text, or nothing. */
  body: unknown
  /** The length of the body in characters. */
  length: number
  /** The HTTP line and the headers that MCP defines. */
  http: string[]
}

/** Receives the events of the page's `fetch`. */
export interface Watcher {
  report(entry: WireEntry): void
  /** Called after every request with whether it reached a server. */
  onReach(isReached: boolean): void
  /** Called with the id of the session, if the server created one. */
  onSession(id: string): void
  /** Called when a request carried the user's credentials. */
  onSignedIn(): void
}

/** Wraps a `fetch`. */
export function watchedFetch(
  send: Fetch,
  { report, onReach, onSession, onSignedIn }: Watcher,
): Fetch {
  const labelOf = labels()
  return async (url, init) => {
    const start = performance.now()
    const line = `${init.method ?? 'GET'} ${new URL(url).pathname}`
    const record = (direction: Direction, text: string, fallback: Label, http: string[]): Label => {
      const body = text === '' ? undefined : (tryParse(text) ?? text)
      const label = labelOf(direction, body) ?? fallback
      const tookMs = direction === 'received' ? performance.now() - start : undefined
      report({ tookMs, ...label, direction, at: new Date(), body, length: text.length, http })
      return label
    }
    const text = typeof init.body === 'string' ? init.body : ''
    const headers = new Headers(init.headers)
    if (headers.has('authorization')) onSignedIn()
    const head = [line, ...protocolHeaders(headers)]
    const label = record('sent', text, { title: line }, head)

    const response = await send(url, init).catch((error: unknown) => {
      if (!init.signal?.aborted) {
        record('received', '', { ...label, outcome: 'no answer', failed: true }, [String(error)])
        onReach(false)
      }
      throw error
    })
    onReach(true)
    const status = `HTTP ${response.status} ${response.statusText}`.trim()
    const session = response.headers.get('mcp-session-id')
    if (session !== null) onSession(session)
    const answerHead = [status, ...protocolHeaders(response.headers)]
    const recordAnswer = (answer: string): void => {
      record('received', answer, { title: status, failed: !response.ok }, answerHead)
    }
    if (!response.body || response.status === 202) {
      recordAnswer('')
      return response
    }
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      return new Response(response.body.pipeThrough(tap(recordAnswer)), response)
    }
    const answer = await response.text()
    recordAnswer(answer)
    return new Response(answer, response)
  }
}

/** Passes bytes on, and reports the events that they contain. */
function tap(recordAnswer: (text: string) => void): TransformStream<Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder()
  let line = ''
  let data: string[] = []
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk)
      // Each piece of a long line is searched only once
      const [end = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
      line += end
      for (const next of others) {
        if (line.startsWith('data:')) data.push(line.slice(5).trim())
        // An empty line ends an event
        else if (!line.trim()) {
          const text = data.join('\n')
          if (text) recordAnswer(text)
          data = []
        }
        line = next
      }
    },
  })
}

function protocolHeaders(headers: Headers): string[] {
  return [...headers]
    .filter(([name]) => /^(mcp-|content-type$|accept$|last-event-id$)/.test(name))
    .map(([name, value]) => `${name}: ${value}`)
}
