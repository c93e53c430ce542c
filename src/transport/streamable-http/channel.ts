/**
 * The client side of Streamable HTTP. Each message is sent with a POST. The response to a request arrives as JSON or on
 * an event stream.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { Channel, ChannelReceiver, OutgoingRequest } from '../../protocol/channel.ts'
import { sleep } from '../../patterns/abort.ts'
import type { HttpOptions } from '../../protocol/http-options.ts'
import { readText } from '../../patterns/bounded-read.ts'
import { backoffMs } from '../../patterns/backoff.ts'
import { isTransient } from '../../patterns/transient.ts'
import { SdkError } from '../../protocol/errors.ts'
import {
  encodeHeaderValue,
  HEADER_LAST_EVENT_ID,
  HEADER_METHOD,
  HEADER_NAME,
  HEADER_PROTOCOL_VERSION,
  HEADER_SESSION_ID,
  singleValue,
} from '../../protocol/headers.ts'
import { writeJson } from '../../protocol/jsonrpc.ts'
import { supports, VERSION_HEADER } from '../../protocol/revision-features.ts'
import type { JsonRpcMessage, JsonRpcNotification, JsonRpcResponse } from '../../protocol/types.ts'
import { parseJson, validateMessage } from '../../protocol/validate.ts'
import { SseParser } from '../http/sse.ts'
import { hasType, isEventStream, readEvents, requireEventStream } from '../http/response-body.ts'
import { discard, httpError, HttpSender, networkError } from '../http/client-fetch.ts'

/** The minimum delay before a stream is resumed, in milliseconds. */
const MIN_RETRY_MS = 50
/** The maximum number of consecutive failures to resume a request's stream. */
const MAX_FAILURES = 3
/** How long `close` waits for the server to end the session, in milliseconds. */
const DELETE_TIMEOUT_MS = 2_000
/** How long the delivery of a message without a response may take, in milliseconds. */
const DELIVERY_TIMEOUT_MS = 60_000
/** The default maximum message length, in UTF-16 code units. */
export const MAX_MESSAGE_LENGTH: number = 16 * 1024 * 1024

/** Sends messages to one endpoint. */
export class StreamableHttpChannel implements Channel {
  readonly http: HttpSender
  lost = false
  readonly receiver: ChannelReceiver
  readonly #maxLength: number
  #session: string | undefined

  constructor(url: string, options: HttpOptions, receiver: ChannelReceiver) {
    this.http = new HttpSender(url, options)
    this.receiver = receiver
    this.#maxLength = options.maxMessageLength ?? MAX_MESSAGE_LENGTH
  }

  async request(call: OutgoingRequest): Promise<void> {
    const { message, signal } = call
    const { id, method } = message
    const requestHeaders = { ...this.headers(message), ...call.options.headers }
    const response = await this.fetch('POST', requestHeaders, signal, message, call)
    const { status, headers } = response
    call.options.onHeaders?.(headers)
    if (!response.ok) {
      const body = await readText(response, this.#maxLength, signal)
      const error = readError(body)
      if (!error) throw await httpError(response, `"${method}" was refused`, body)
      // The error response belongs to this request, even if it has another id
      return call.resolve({ ...error, id }, { status, retryAfter: headers.get('retry-after') })
    }
    if (method === 'initialize') {
      const session = singleValue(headers, HEADER_SESSION_ID)
      if (session === undefined) {
        throw await httpError(response, `The header "${HEADER_SESSION_ID}" has different values`)
      }
      this.#session = session ?? undefined
      this.lost = false
    }
    if (isEventStream(response)) await this.#readStream(response, call)
    else {
      const isJson = hasType(response, 'application/json')
      // If the body is not JSON, its beginning is enough for the error
      const reading = readText(response, this.#maxLength, signal, !isJson)
      const body = await reading.catch((cause: unknown) => {
        throw cause instanceof SdkError ? cause : lostAnswerError(method, cause)
      })
      if (!isJson) {
        const type = JSON.stringify(headers.get('content-type'))
        throw await httpError(response, `"${method}" was answered with the type ${type}`, body)
      }
      this.#receive(body, call)
    }
    if (!call.settled) throw lostAnswerError(method)
  }

  /** Reads the stream of a call until the response has arrived. Resumes the stream after disconnects. */
  async #readStream(first: Response, call: OutgoingRequest): Promise<void> {
    const { signal, message } = call
    const parser = this.parser(call)
    let response: Response | undefined = first
    for (let failures = 0; ; failures++) {
      let cause: unknown
      try {
        if (response) await readEvents(response, parser, signal, () => call.settled)
      } catch (error) {
        if (error instanceof SdkError) throw error
        cause = error
      }
      if (call.settled) return
      // A stream that was opened counts as a success, even without events: a server that wants to be polled closes
      // each stream before the response
      if (response) failures = 0
      const { lastEventId } = parser
      if (lastEventId === '' || this.receiver.revision.era === 'modern') {
        throw lostAnswerError(message.method, cause)
      }
      await sleep(reopenDelayMs(parser, failures), signal)
      response = await this.#resume(call, lastEventId, failures)
    }
  }

  /** Opens the next stream of a call. Returns `undefined` after a transient error. */
  async #resume(
    call: OutgoingRequest,
    lastEventId: string,
    failures: number,
  ): Promise<Response | undefined> {
    const headers = { ...this.headers(), [HEADER_LAST_EVENT_ID]: lastEventId }
    try {
      return await requireEventStream(
        await this.fetch('GET', headers, call.signal, undefined, call),
      )
    } catch (error) {
      // The server may have executed the call, so the call must not be sent again automatically
      if ((error as SdkError).code === 'SESSION_LOST')
        throw lostAnswerError(call.message.method, error)
      if (failures >= MAX_FAILURES || !isTransient(error)) throw error
    }
    return undefined
  }

  /** Creates a parser that passes the messages of a stream to the receiver. */
  parser(call?: OutgoingRequest): SseParser {
    return new SseParser((type, data) => {
      if (type === 'message') this.#receive(data, call)
    }, this.#maxLength)
  }

  /** Parses a message or a batch, and passes it to the receiver. */
  #receive(text: string, call: OutgoingRequest | undefined): void {
    try {
      this.receiver.receive(parseJson(text), call)
    } catch (error) {
      // Errors after the response do not matter to the call
      if (!call?.settled) this.receiver.reportError(error)
    }
  }

  /** Sends a message that has no response. Accepts any success status, and ignores the body. */
  async send(message: JsonRpcNotification | JsonRpcResponse): Promise<void> {
    const signal = AbortSignal.timeout(DELIVERY_TIMEOUT_MS)
    try {
      const response = await this.fetch('POST', this.headers(message), signal, message)
      if (!response.ok) throw await httpError(response, 'A message was refused')
      discard(response)
    } catch (error) {
      if ((error as SdkError).code === 'SESSION_LOST') this.receiver.sessionEnded()
      throw error
    }
  }

  async close(): Promise<void> {
    if (this.#session === undefined) return
    const signal = AbortSignal.timeout(DELETE_TIMEOUT_MS)
    const response = this.fetch('DELETE', this.headers(), signal)
    // Cleared now, because a second call would end the session again
    this.#session = undefined
    // If this fails, the session eventually expires
    await response.then(discard, () => {})
  }

  /**
   * Sends an HTTP request. If the channel has a session, the response 404 means that the session has ended.
   *
   * @throws {SdkError} `SESSION_LOST` if the session has ended.
   */
  async fetch(
    method: string,
    headers: Record<string, string>,
    signal: AbortSignal,
    message?: JsonRpcMessage,
    call?: OutgoingRequest,
  ): Promise<Response> {
    const session = this.#session
    const body = message && writeJson(message)
    // An HTTP request without a call happens in the background, unless it carries a response to the server: the user
    // may be waiting for the effect of the response
    const isBackground = call ? call.options.background : !message || 'method' in message
    const response = await this.http.send(method, headers, body, signal, call, isBackground)
    if (response.status !== 404 || session === undefined) return response
    discard(response)
    if (this.#session === session) this.onSessionEnded()
    throw new SdkError('SESSION_LOST', 'The server ended the session')
  }

  /** Handles the end of the session. */
  onSessionEnded(): void {
    this.#session = undefined
    this.lost = true
  }

  /** The headers of a POST with the message, or of an HTTP request without a message. */
  headers(message?: JsonRpcMessage): Record<string, string> {
    const { revision } = this.receiver
    const headers: Record<string, string> = message
      ? { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
      : { accept: 'text/event-stream' }
    if (this.#session !== undefined) headers[HEADER_SESSION_ID] = this.#session
    const { method = '', params = {} } = message && 'method' in message ? message : {}
    if (supports(revision, VERSION_HEADER) && method !== 'initialize') {
      headers[HEADER_PROTOCOL_VERSION] = revision.version
    }
    if (revision.era === 'modern' && method) {
      headers[HEADER_METHOD] = method
      const name = params[this.receiver.nameParam(method) ?? '']
      if (typeof name === 'string') headers[HEADER_NAME] = encodeHeaderValue(name)
    }
    return headers
  }
}

/**
 * How long to wait before a stream is reopened, in milliseconds: at least as long as the server requests, and
 * longer after each failure.
 */
export function reopenDelayMs({ retryMs }: SseParser, failures: number): number {
  const delayMs = Math.max(retryMs, MIN_RETRY_MS)
  return Math.max(delayMs, backoffMs(failures, delayMs))
}

function lostAnswerError(method: string, cause?: unknown): SdkError {
  const message = `The connection ended before the answer to "${method}"`
  return networkError(message, cause, { method })
}

/** Reads the JSON-RPC error from the body of an error response, if there is one. */
function readError(body: string): JsonRpcResponse | undefined {
  try {
    const message = validateMessage(JSON.parse(body))
    return 'error' in message ? message : undefined
  } catch {
    return undefined
  }
}
