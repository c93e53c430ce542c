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
export interface WireEntry extends Label {
  direction: Direction
  /** The message, the text that was none, or nothing. */
  body: unknown
  /** The HTTP line and the headers that are MCP's. */
  http: string[]
}

type Direction = 'sent' | 'received'

/** What a row says before it is opened. */
interface Label {
  /** A method, or the HTTP line of what is no message. */
  title: string
  /** The tool, prompt or resource that it is about. */
  about?: string | undefined
  /** What an answer is, and how long it took. */
  outcome?: string
  /** Whether the outcome is an error. */
  failed?: boolean
}

/** Where the page learns what its `fetch` does. */
export interface Watcher {
  report(entry: WireEntry): void
  /** Learns after every request whether there was a server to take it. */
  onReach(isReached: boolean): void
}

/** Wraps the page's `fetch`. */
export function watchedFetch({
  report,
  onReach,
}: Watcher): (url: string, init: RequestInit) => Promise<Response> {
  const labelOf = labels()
  return async (url, init) => {
    const line = `${init.method ?? 'GET'} ${new URL(url).pathname}`
    const http = [line, ...protocolHeaders(new Headers(init.headers))]
    const sent = typeof init.body === 'string' ? parsed(init.body) : undefined
    const label = labelOf('sent', sent) ?? { title: line }
    report({ direction: 'sent', ...label, body: sent, http })

    const response = await fetch(url, init).catch((error: unknown) => {
      if (!init.signal?.aborted) {
        const nothing = { outcome: 'no answer', failed: true, body: undefined }
        report({ direction: 'received', ...label, ...nothing, http: [String(error)] })
        onReach(false)
      }
      throw error
    })
    onReach(true)
    const status = `HTTP ${response.status} ${response.statusText}`.trim()
    const answerHttp = [status, ...protocolHeaders(response.headers)]
    const received = (body: unknown): void => {
      const answer = labelOf('received', body) ?? { title: status, failed: !response.ok }
      report({ direction: 'received', ...answer, body, http: answerHttp })
    }
    if (!response.body || response.status === 202) {
      received(undefined)
      return response
    }
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    return new Response(response.body.pipeThrough(tap(isStream, received)), response)
  }
}

/** Names messages; an answer by what it answers, and in what time. */
function labels(): (direction: Direction, body: unknown) => Label | undefined {
  // Each side numbers its own requests.
  const asked = { sent: new Map<unknown, Asked>(), received: new Map<unknown, Asked>() }
  return (direction, body) => {
    if (Array.isArray(body)) return { title: `Batch of ${body.length}` }
    if (!isObject(body)) return undefined
    const { id, method, params, result } = body
    if (typeof method === 'string') {
      const label = { title: method, about: subjectOf(params) }
      if (id !== undefined) asked[direction].set(id, { ...label, start: performance.now() })
      return label
    }
    const requests = asked[direction === 'sent' ? 'received' : 'sent']
    const request = requests.get(id)
    requests.delete(id)
    const { outcome, failed } = outcomeOf(body, result)
    if (!request) return { title: outcome, failed }
    const { start, ...label } = request
    return { ...label, outcome: `${outcome}, ${duration(performance.now() - start)}`, failed }
  }
}

type Asked = Label & { start: number }

/** The tool, prompt or resource that parameters name; a completion names it in its `ref`. */
function subjectOf(params: unknown): string | undefined {
  if (!isObject(params)) return undefined
  const { name, uri, ref } = params
  return [name, uri].find((each) => typeof each === 'string') ?? subjectOf(ref)
}

function outcomeOf(body: object, result: unknown): { outcome: string; failed: boolean } {
  if ('error' in body) return { outcome: 'error', failed: true }
  if (!isObject(result)) return { outcome: 'result', failed: false }
  if (result['isError'] === true) return { outcome: 'tool error', failed: true }
  const wantsInput = result['resultType'] === 'input_required'
  return { outcome: wantsInput ? 'input required' : 'result', failed: false }
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
