// Reads the events of a stream as they come.
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { Handler } from '../../../src/presets/server.ts'

/** An event with the message that it carries. */
export interface Event {
  id: string
  /** What it holds, as it was sent. */
  data: string
  message: Message | undefined
}

/** Any JSON-RPC message. */
export interface Message {
  id?: number
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: Record<string, unknown>
}

/** Opens a stream by GET; after an event if one is given. */
export function listen(handle: Handler, session: string, after?: string): Promise<Response> {
  const headers = new Headers({ accept: 'text/event-stream', 'mcp-session-id': session })
  if (after !== undefined) headers.set('last-event-id', after)
  return handle(new Request('http://localhost/mcp', { headers }))
}

/** Reads one stream. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<{ id?: string | undefined; data: string }>

  constructor({ body, status }: Response) {
    if (!body) throw new Error(`The response has status ${status} and no stream`)
    this.#reader = body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())
      .getReader()
  }

  /** The next event; nothing at the end. */
  async next(): Promise<Event | undefined> {
    const { value } = await this.#reader.read()
    if (!value) return undefined
    const { id = '', data } = value
    return { id, data, message: /^[{[]/.test(data) ? (JSON.parse(data) as Message) : undefined }
  }

  /** The next event whose message holds that text. */
  async until(text: string): Promise<Event> {
    for (let event = await this.next(); event; event = await this.next()) {
      if (event.message && JSON.stringify(event.message).includes(text)) return event
    }
    throw new Error(`The stream ended before "${text}"`)
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel()
  }
}

/** Resumes a stream of 2025-11-25, which begins with the id that it is resumed from. */
export async function resume(
  handle: Handler,
  session: string,
  after: string,
): Promise<EventReader> {
  const reader = new EventReader(await listen(handle, session, after))
  const first = await reader.next()
  if (first?.id === after && first.data === '') return reader
  throw new Error(`The stream resumed after "${after}" began with ${JSON.stringify(first)}`)
}
