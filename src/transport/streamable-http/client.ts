/**
 * Streamable HTTP, the client's side: every message is a POST, and the answer to a request comes
 * as JSON or on a stream of its own.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { Channel, ChannelReceiver, Outgoing } from '../../client/channel.ts'
import { sleep } from '../../client/delay.ts'
import type { HttpOptions } from '../../client/options.ts'
import { McpError } from '../../protocol/errors.ts'
import {
  encodeHeaderValue,
  HEADER_LAST_EVENT_ID,
  HEADER_METHOD,
  HEADER_NAME,
  HEADER_PROTOCOL_VERSION,
  HEADER_SESSION_ID,
} from '../../protocol/headers.ts'
import {
  isResponse,
  notification,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../../protocol/jsonrpc.ts'
import { META_PROTOCOL_VERSION } from '../../protocol/meta.ts'
import { methods } from '../../protocol/methods.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import { isObject, validateMessage } from '../../protocol/validate.ts'
import { SseParser } from '../sse.ts'
import { mediaType, readEvents, readText } from './client-body.ts'
import { discard, httpError, HttpSender } from './client-fetch.ts'

/** Options of {@link StreamableHttpChannel}. */
export interface StreamableHttpOptions extends HttpOptions {
  /** How long a notification or an answer may take to be taken, in milliseconds. */
  readonly timeoutMs: number
}

/** How long to wait before a stream is resumed when the server did not say, in milliseconds. */
const RETRY_MS = 1_000
const MIN_RETRY_MS = 50
const MAX_RETRY_MS = 30_000
/** How often in a row resuming a request's stream may fail. */
const MAX_FAILURES = 3
/** How long ending a session may hold up closing, in milliseconds. */
const DELETE_MS = 2_000
const MAX_MESSAGE_LENGTH = 16 * 1024 * 1024

/** Where a stream is. */
interface Position {
  lastEventId: string
  retryMs: number
}

/** Carries messages to one endpoint. */
export class StreamableHttpChannel implements Channel {
  readonly http = true
  revision: RevisionFacts | undefined
  /** Whether the server ended the session, and no other has been opened. */
  lost = false
  readonly #sender: HttpSender
  readonly #receiver: ChannelReceiver
  readonly #timeoutMs: number
  readonly #maxLength: number
  readonly #closing = new AbortController()
  #session: string | undefined
  #listening: AbortController | undefined

  constructor(url: string, options: StreamableHttpOptions, receiver: ChannelReceiver) {
    this.#sender = new HttpSender(url, options)
    this.#receiver = receiver
    this.#timeoutMs = options.timeoutMs
    this.#maxLength = options.maxMessageLength ?? MAX_MESSAGE_LENGTH
  }

  /** The endpoint; another one after a redirect. */
  get url(): string {
    return this.#sender.url
  }

  request(call: Outgoing): void {
    this.#exchange(call).catch((error: Error) => call.reject(error))
  }

  async #exchange(call: Outgoing): Promise<void> {
    const { message, signal } = call
    const { method } = message
    const session = method === 'initialize' ? undefined : this.#session
    const headers = { ...this.#postHeaders(message, session), ...call.headers }
    const response = await this.#sender.send('POST', headers, JSON.stringify(message), signal)
    call.status = response.status
    if (!response.ok) return this.#refused(call, response, session)
    if (method === 'initialize') {
      this.#session = response.headers.get(HEADER_SESSION_ID) ?? undefined
      this.lost = false
    }
    const type = mediaType(response)
    if (type === 'text/event-stream') return this.#follow(call, response)
    if (type !== 'application/json') {
      discard(response)
      throw httpError(response, `"${method}" was answered as "${type}"`)
    }
    this.#frame(await readText(response, this.#maxLength, signal), call)
    if (!call.settled) throw lostAnswer(method)
  }

  /** Fails a call whose request was refused, with the error in the body if there is one. */
  async #refused(call: Outgoing, response: Response, session: string | undefined): Promise<void> {
    const { method } = call.message
    if (response.status === 404 && session !== undefined) {
      discard(response)
      this.#lose(session)
      throw new McpError('SESSION_LOST', `The server ended the session before "${method}"`)
    }
    const body = await readText(response, this.#maxLength, call.signal)
    const error = readError(body)
    if (!error) throw httpError(response, `"${method}" was refused`, body)
    // Whatever its id, an error in this place is about this request
    call.resolve({ ...error, id: call.message.id })
  }

  #lose(session: string): void {
    if (this.#session !== session) return
    this.#session = undefined
    this.lost = true
    this.#listening?.abort()
  }

  /** Reads the stream of a request until its response; resumes it when it can be resumed. */
  async #follow(call: Outgoing, first: Response): Promise<void> {
    const position: Position = { lastEventId: '', retryMs: RETRY_MS }
    let response = first
    for (;;) {
      let cause: unknown
      try {
        await this.#read(response, position, call.signal, call)
      } catch (error) {
        if (error instanceof McpError) throw error
        cause = error
      }
      if (call.settled) return
      if (this.#isModern(call.message) || position.lastEventId === '') {
        throw lostAnswer(call.message.method, cause)
      }
      response = await this.#resume(position, call)
    }
  }

  /** Reads one stream of events to its end, or to the response of its call. */
  async #read(
    response: Response,
    position: Position,
    signal: AbortSignal,
    call?: Outgoing,
  ): Promise<void> {
    const parser = new SseParser((type, data) => {
      if (type === 'message') this.#frame(data, call)
    }, this.#maxLength)
    parser.lastEventId = position.lastEventId
    try {
      await readEvents(response, parser, signal, () => call?.settled === true)
    } finally {
      position.lastEventId = parser.lastEventId
      position.retryMs = parser.retryMs ?? position.retryMs
    }
  }

  async #resume(position: Position, call: Outgoing): Promise<Response> {
    for (let failures = 0; ; failures++) {
      await sleep(Math.max(position.retryMs, MIN_RETRY_MS) * 2 ** failures, call.signal)
      try {
        const response = await this.#get(position, call.signal)
        if (response.ok && mediaType(response) === 'text/event-stream') return response
        discard(response)
        if (response.status === 404 && this.#session) this.#lose(this.#session)
        if (response.status < 500 || failures >= MAX_FAILURES) {
          throw httpError(response, `The stream of "${call.message.method}" could not be resumed`)
        }
      } catch (error) {
        const passing = error instanceof McpError && error.code === 'NETWORK'
        if (!passing || failures >= MAX_FAILURES) throw error
      }
    }
  }

  #get(position: Position, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = {
      accept: 'text/event-stream',
      ...this.#sessionHeaders(this.#session),
    }
    if (position.lastEventId !== '') headers[HEADER_LAST_EVENT_ID] = position.lastEventId
    return this.#sender.send('GET', headers, undefined, signal)
  }

  listen(): void {
    this.#listening?.abort()
    this.#listening = new AbortController()
    const { signal } = this.#listening
    this.#hear(signal).catch((error: unknown) => {
      if (!signal.aborted) this.#receiver.problem(error)
    })
  }

  /** Keeps the stream open on which the server sends what answers nothing. */
  async #hear(signal: AbortSignal): Promise<void> {
    const position: Position = { lastEventId: '', retryMs: RETRY_MS }
    for (let failures = 0; !signal.aborted;) {
      const session = this.#session
      let response: Response | undefined
      try {
        response = await this.#get(position, signal)
      } catch (error) {
        if (!(error instanceof McpError) || error.code !== 'NETWORK') throw error
      }
      if (response?.ok && mediaType(response) === 'text/event-stream') {
        failures = 0
        await this.#read(response, position, signal).catch(() => {})
      } else if (response) {
        discard(response)
        const { status } = response
        // No stream here, which is allowed
        if (status === 405) return
        if (status === 404 && session !== undefined) {
          this.#lose(session)
          return this.#receiver.sessionEnded()
        }
        if (status === 501 || (status < 500 && status !== 429)) {
          throw httpError(response, 'There is no stream to hear')
        }
        failures++
      } else failures++
      const delay = Math.max(position.retryMs, MIN_RETRY_MS) * 2 ** Math.min(failures, 10)
      await sleep(Math.max(position.retryMs, Math.min(delay, MAX_RETRY_MS)), signal)
    }
  }

  /** Takes the text of one message, or of several where the revision has batches. */
  #frame(text: string, call: Outgoing | undefined): void {
    let frame: unknown
    try {
      frame = JSON.parse(text)
    } catch {
      if (text === '') return
      const error = new McpError('INVALID_MESSAGE', 'The server sent what is not JSON')
      return this.#receiver.problem(error)
    }
    this.#receiver.receive(frame, call)
  }

  cancel(call: Outgoing, reason: string): void {
    const { id, method } = call.message
    // Since 2026-07-28 closing the stream says it all
    if (this.#isModern(call.message) || method === 'initialize') return
    const message = notification('notifications/cancelled', { requestId: id, reason })
    this.notify(message).catch((error: unknown) => this.#receiver.problem(error))
  }

  notify(message: JsonRpcNotification): Promise<void> {
    return this.#post(message)
  }

  respond(message: JsonRpcResponse): Promise<void> {
    return this.#post(message)
  }

  /** Sends what has no answer. Any success will do; what the body says does not matter. */
  async #post(message: JsonRpcMessage): Promise<void> {
    const session = this.#session
    const controller = new AbortController()
    const stop = (): void => controller.abort()
    const timer = this.#timeoutMs < Infinity ? setTimeout(stop, this.#timeoutMs) : undefined
    this.#closing.signal.addEventListener('abort', stop)
    try {
      const headers = this.#postHeaders(message, session)
      const body = JSON.stringify(message)
      const response = await this.#sender.send('POST', headers, body, controller.signal)
      discard(response)
      if (response.ok) return
      if (response.status === 404 && session !== undefined) {
        this.#lose(session)
        this.#receiver.sessionEnded()
      }
      throw httpError(response, 'A message was refused')
    } finally {
      clearTimeout(timer)
      this.#closing.signal.removeEventListener('abort', stop)
    }
  }

  principal(): Promise<string> {
    return this.#sender.principal()
  }

  async close(): Promise<void> {
    this.#listening?.abort()
    this.#closing.abort()
    const session = this.#session
    this.#session = undefined
    if (session === undefined) return
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), DELETE_MS)
    try {
      const headers = this.#sessionHeaders(session)
      discard(await this.#sender.send('DELETE', headers, undefined, controller.signal))
    } catch {
      // The session ends by itself, sooner or later
    } finally {
      clearTimeout(timer)
    }
  }

  #isModern(message: JsonRpcMessage): boolean {
    return this.revision?.era === 'modern' && !isResponse(message)
  }

  #postHeaders(message: JsonRpcMessage, session: string | undefined): Record<string, string> {
    const headers: Record<string, string> = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    }
    if (!('method' in message) || !this.#isModern(message)) {
      const initializes = 'method' in message && message.method === 'initialize'
      return initializes ? headers : { ...headers, ...this.#sessionHeaders(session) }
    }
    return { ...headers, ...this.#routingHeaders(message) }
  }

  /** What sessions put on every request after `initialize`. */
  #sessionHeaders(session: string | undefined): Record<string, string> {
    const headers: Record<string, string> = {}
    if (session !== undefined) headers[HEADER_SESSION_ID] = session
    if (this.revision?.versionHeader) headers[HEADER_PROTOCOL_VERSION] = this.revision.version
    return headers
  }

  /** What requests of 2026-07-28 repeat from their bodies. */
  #routingHeaders(message: JsonRpcRequest | JsonRpcNotification): Record<string, string> {
    const { method, params } = message
    const version = isObject(params?._meta) ? params._meta[META_PROTOCOL_VERSION] : undefined
    const headers: Record<string, string> = { [HEADER_METHOD]: method }
    // The body's version, as a request is sent in the one that it was made for
    const spoken = typeof version === 'string' ? version : this.revision?.version
    if (spoken !== undefined) headers[HEADER_PROTOCOL_VERSION] = spoken
    const nameParam = methods.get(method)?.nameParam
    const name = nameParam && params?.[nameParam]
    if (typeof name === 'string') headers[HEADER_NAME] = encodeHeaderValue(name)
    return headers
  }
}

function lostAnswer(method: string, cause?: unknown): McpError {
  const what = `The connection ended before the answer to "${method}"`
  return new McpError('NETWORK', what, cause === undefined ? {} : { cause })
}

/** The JSON-RPC error in the body of a refusal, if there is one. */
function readError(body: string): JsonRpcResponse | undefined {
  try {
    const message = validateMessage(JSON.parse(body))
    return 'error' in message ? message : undefined
  } catch {
    return undefined
  }
}
