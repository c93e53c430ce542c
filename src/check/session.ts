/**
 * A session that the check uses. If the server loses the session, the check opens another one and repeats the request.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { HEADER_SESSION_ID } from '../protocol/headers.ts'
import { isObject } from '../protocol/validate.ts'
import { finding, type Finding } from './finding.ts'
import {
  describeAnswer,
  describeBody,
  errorCode,
  initializeRequest,
  sessionHeaders,
  type Answer,
  type CheckRequest,
  type CheckedEndpoint,
} from './endpoint.ts'

/** How long a server should keep a session, in milliseconds. An earlier loss is an error, a later one a warning. */
const MIN_LIFETIME_MS = 60_000
/** The error with which the official SDKs answer requests of unknown sessions. */
const SESSION_NOT_FOUND = -32001
const METHOD_NOT_FOUND = -32601

/** A session that the check opened. */
export class Session {
  /** The finding of the first loss; undefined if the server has always known its sessions. */
  loss: Finding | undefined
  readonly #endpoint: CheckedEndpoint
  #initializeAnswer: Answer
  #openedAt = Date.now()
  #requestCount = 0

  /** @param initializeAnswer The answer to `initialize` that opened the session. */
  constructor(endpoint: CheckedEndpoint, initializeAnswer: Answer) {
    this.#endpoint = endpoint
    this.#initializeAnswer = initializeAnswer
  }

  /** The id; `null` if the server gave none. */
  get id(): string | null {
    return this.#initializeAnswer.headers.get(HEADER_SESSION_ID)
  }

  /** Completes the handshake with `notifications/initialized`. */
  start(): Promise<Answer> {
    return this.send({ body: { jsonrpc: '2.0', method: 'notifications/initialized' } })
  }

  /** Sends a request of the session, and repeats it once in a new session if the server lost this one. */
  async send(request: CheckRequest): Promise<Answer> {
    const answer = await this.#sendAndCount(request)
    if (!this.#mayBeLost(answer)) return answer
    const loss = this.#lossFinding(request, answer)
    // Ends the session, because another process of the server may still have it
    await this.end().catch(() => {})
    this.#initializeAnswer = await this.#endpoint.send({ body: initializeRequest('2025-11-25') })
    this.#openedAt = Date.now()
    this.#requestCount = 0
    await this.#sendAndCount({ body: { jsonrpc: '2.0', method: 'notifications/initialized' } })
    const repeated = await this.#sendAndCount(request)
    // If the server also answers 404 in the new session, the status may concern the request and not the session
    if (!this.#mayBeLost(repeated) || isSessionError(repeated)) this.loss ??= loss
    return repeated
  }

  /** Ends the session, if it has an id. */
  async end(): Promise<void> {
    await this.#endpoint.endSession(this.#initializeAnswer)
  }

  /** Sends a request with the headers of the session. Does not repeat it if the session was lost. */
  sendWithoutRetry(request: CheckRequest): Promise<Answer> {
    const result = this.#initializeAnswer.message?.result
    const version = isObject(result) ? String(result.protocolVersion) : ''
    const headers = { ...sessionHeaders(version, this.id), ...request.headers }
    return this.#endpoint.send({ ...request, headers })
  }

  async #sendAndCount(request: CheckRequest): Promise<Answer> {
    const answer = await this.sendWithoutRetry(request)
    this.#requestCount++
    return answer
  }

  #mayBeLost(answer: Answer): boolean {
    return answer.status === 404 && this.id !== null && errorCode(answer) !== METHOD_NOT_FOUND
  }

  #lossFinding({ body, method }: CheckRequest, answer: Answer): Finding {
    // Does not count the request that noticed the loss
    const count = this.#requestCount - 1
    const requests = `${count} ${count === 1 ? 'request' : 'requests'}`
    const sent = method === undefined ? describeBody(body) : `"${method}"`
    const reason = `${sent} was answered with ${describeAnswer(answer)}`
    const isEarly = Date.now() - this.#openedAt < MIN_LIFETIME_MS
    const severity = isEarly ? 'error' : 'warning'
    const message = `The session was lost after ${requests}: ${reason}`
    return finding('session-lost', message, undefined, severity)
  }
}

/** Whether an answer means that the server does not know the session. */
export function isSessionError(answer: Answer): boolean {
  return answer.status === 404 && errorCode(answer) === SESSION_NOT_FOUND
}
