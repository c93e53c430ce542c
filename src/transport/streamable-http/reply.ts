/**
 * The answer to one POST: plain JSON when nothing comes before the response, an event stream from
 * the first message that does.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
 */
import { toErrorObject } from '../../protocol/errors.ts'
import { type Answer, errorResponse, type JsonRpcMessage } from '../../protocol/jsonrpc.ts'
import { EVENT_STREAM_HEADERS, EventStream, type EventStreamOptions } from '../http/event-stream.ts'
import type { ResumableCall } from '../../session/event-store.ts'
import { jsonResponse } from '../http/http-error.ts'
import type { IncomingRequest } from './incoming.ts'

/** What is sent on an event stream, and how. */
export interface ReplyStream {
  send(message: JsonRpcMessage): Promise<void> | undefined
  /** Ends the connection; the client may come back for the rest after that many milliseconds. */
  disconnect?(retryMs: number): void
  /** Ends the stream after what was sent. */
  close(): void
}

/** How a reply becomes a response. */
export interface ReplyOptions extends Pick<EventStreamOptions, 'onExpired' | 'onGone'> {
  /** What is answered. */
  incoming: IncomingRequest
  /** Takes the response once it is known what kind it is. */
  respond: (response: Response) => void
  /** The status of a response that is JSON; 200 by default. */
  status?: (answer: Answer) => number
}

/** The answer to one request, or to a batch. */
export class Reply {
  /** What is stored of the call that is answered, where calls can be resumed. */
  readonly call: ResumableCall | undefined
  readonly #options: ReplyOptions
  readonly #openStream: (events: EventStream) => ReplyStream
  #stream: ReplyStream | undefined
  #events: EventStream | undefined

  /** @param openStream What sends on the event stream; by default itself, so that nobody can resume it. */
  constructor(
    options: ReplyOptions,
    openStream: (events: EventStream) => ReplyStream = (events) => events,
    call?: ResumableCall,
  ) {
    this.#options = options
    this.#openStream = openStream
    this.call = call
  }

  /** Whether messages can be sent before the response: not when the client takes JSON only. */
  get canStream(): boolean {
    const { acceptsEvents, endpoint } = this.#options.incoming
    return acceptsEvents && !endpoint.options.jsonOnly
  }

  /** Sends a message that comes before the response; left out when the client takes JSON only. */
  send(message: JsonRpcMessage): Promise<void> | undefined {
    this.#stream ??= this.#open()
    return this.#stream?.send(message)
  }

  /** Ends the connection before the response is there, where the client can come back for it. */
  disconnect(retryMs: number): void {
    this.#stream ??= this.#open()
    this.#stream?.disconnect?.(retryMs)
  }

  /**
   * Sends the response, or those of a batch, and ends the answer. Without any the response is an empty 202. Never
   * throws: what cannot be written is reported, and an internal error takes its place.
   */
  finish(answer: Answer | undefined): void {
    if (this.#write(answer)) return
    const id = answer && 'id' in answer ? answer.id : undefined
    // Of no error in particular, which is an internal one
    if (!this.#write(errorResponse(id, toErrorObject(undefined)))) this.#events?.close()
  }

  /** Whether the answer was written. */
  #write(answer: Answer | undefined): boolean {
    const { incoming, respond, status } = this.#options
    const stream = this.#stream
    try {
      if (stream) {
        for (const response of [answer ?? []].flat()) void stream.send(response)
        stream.close()
      } else if (answer) {
        respond(jsonResponse(answer, status?.(answer)))
      } else {
        respond(new Response(null, { status: 202 }))
      }
      return true
    } catch (error) {
      incoming.endpoint.server.report(error)
      return false
    }
  }

  #open(): ReplyStream | undefined {
    if (!this.canStream) return undefined
    const { incoming, respond, onExpired, onGone } = this.#options
    const { caller, endpoint } = incoming
    const { keepAliveMs } = endpoint.options
    const events = (this.#events = new EventStream({ caller, keepAliveMs, onExpired, onGone }))
    respond(new Response(events.body, { headers: EVENT_STREAM_HEADERS }))
    return this.#openStream(events)
  }
}
