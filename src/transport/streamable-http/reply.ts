/**
 * The response to one POST: JSON if no message precedes the response, otherwise an event stream.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
 */
import { toErrorObject } from '../../protocol/errors.ts'
import { type Answer, errorResponse } from '../../protocol/jsonrpc.ts'
import type { JsonRpcMessage } from '../../protocol/types.ts'
import { EVENT_STREAM_HEADERS, EventStream, type EventStreamOptions } from '../http/event-stream.ts'
import type { ResumableCall } from '../../session/event-store.ts'
import { accepted, jsonResponse } from '../http/http-error.ts'
import type { IncomingRequest } from './incoming.ts'

/** Sends the messages of a reply as events. */
export interface ReplyStream {
  send(message: JsonRpcMessage): Promise<void> | undefined
  /** Closes the connection. The client may resume the stream after `retryMs` milliseconds. */
  disconnect?(retryMs: number): void
  /** Closes the stream after pending messages. */
  close(): void
}

/** The request that a reply answers, and how the reply becomes an HTTP response. */
export interface ReplyOptions extends Pick<EventStreamOptions, 'onExpired' | 'onDisconnect'> {
  /** The request to answer. */
  incoming: IncomingRequest
  /** Called with the HTTP response, once it is known whether it is JSON or an event stream. */
  respond: (response: Response) => void
  /** The status of a JSON response; 200 by default. */
  status?: (answer: Answer) => number
}

/** The reply to one request, or to a batch. */
export class Reply {
  /** The stored state of the call, if calls are resumable. */
  readonly call: ResumableCall | undefined
  readonly #options: ReplyOptions
  readonly #createReplyStream: (events: EventStream) => ReplyStream
  #replyStream: ReplyStream | undefined
  #eventStream: EventStream | undefined

  /** @param createReplyStream Creates the stream that sends messages as `events`. By default, the stream cannot be resumed. */
  constructor(
    options: ReplyOptions,
    createReplyStream: (events: EventStream) => ReplyStream = (events) => events,
    call?: ResumableCall,
  ) {
    this.#options = options
    this.#createReplyStream = createReplyStream
    this.call = call
  }

  /** Whether messages can precede the response. False if the client accepts only JSON, or `jsonOnly` is set. */
  get canStream(): boolean {
    const { acceptsEvents, endpoint } = this.#options.incoming
    return acceptsEvents && !endpoint.options.jsonOnly
  }

  /** Sends a message before the response. Drops it if the client accepts only JSON. */
  send(message: JsonRpcMessage): Promise<void> | undefined {
    this.#replyStream ??= this.#startStream()
    return this.#replyStream?.send(message)
  }

  /** Closes the connection before the response, if the client can resume the reply as a stream. */
  disconnect(retryMs: number): void {
    this.#replyStream ??= this.#startStream()
    this.#replyStream?.disconnect?.(retryMs)
  }

  /**
   * Sends the response, or all responses to a batch, and closes the reply. If there is no response, the HTTP
   * response is an empty 202. Never throws. If a response cannot be serialized, the error is reported and
   * an internal error is sent instead.
   */
  finish(answer: Answer | undefined): void {
    if (this.#write(answer)) return
    const id = answer && 'id' in answer ? answer.id : undefined
    // `toErrorObject` converts unknown values, such as `undefined`, to an internal error
    if (!this.#write(errorResponse(id, toErrorObject(undefined)))) this.#eventStream?.close()
  }

  /** Sends the response, and closes the reply. Returns false if the response cannot be serialized. */
  #write(answer: Answer | undefined): boolean {
    const { incoming, respond, status } = this.#options
    const stream = this.#replyStream
    try {
      if (stream) {
        const responses = answer ? [answer].flat() : []
        for (const response of responses) void stream.send(response)
        stream.close()
      } else if (answer) {
        respond(jsonResponse(answer, status?.(answer)))
      } else {
        respond(accepted())
      }
      return true
    } catch (error) {
      incoming.endpoint.server.report(error)
      return false
    }
  }

  /** Responds with an event stream, if the client accepts one. */
  #startStream(): ReplyStream | undefined {
    if (!this.canStream) return undefined
    const { incoming, respond } = this.#options
    const { caller, endpoint } = incoming
    const options = { ...endpoint.options, ...this.#options, caller }
    const events = (this.#eventStream = new EventStream(options))
    respond(new Response(events.body, { headers: EVENT_STREAM_HEADERS }))
    return this.#createReplyStream(events)
  }
}
