/**
 * Sends requests to an endpoint, and reads the responses. The requests are not validated, so they can be invalid.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import { readText } from '../patterns/bounded-read.ts'
import { withTimeout } from '../patterns/timeout.ts'
import { parseUrl } from '../patterns/url.ts'
import { SdkError } from '../protocol/errors.ts'
import { HEADER_METHOD, HEADER_PROTOCOL_VERSION, HEADER_SESSION_ID } from '../protocol/headers.ts'
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_PROTOCOL_VERSION,
} from '../protocol/meta.ts'
import type { JsonObject } from '../protocol/types.ts'
import { isObject, parseJson } from '../protocol/validate.ts'
import { hasType, readEvents } from '../transport/http/response-body.ts'
import { SseParser } from '../transport/http/sse.ts'
import type { RuleId } from './rules.ts'

/** The maximum length of a response, in UTF-16 code units. */
const MAX_LENGTH = 4 * 1024 * 1024
/** The sentence after a message about a timeout. */
export const MAYBE_SLOW = 'The server may just be slow'
const CLIENT_INFO = { name: 'edgewise-check', version: '1.0.0' }

/** How requests are sent. */
export interface EndpointOptions {
  readonly url: string
  readonly headers: Headers
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** How long each response may take, in milliseconds. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /**
   * Whether the check runs in a Web page, which sends the requests. A page cannot choose the origin of its requests, and cannot read all
   * headers of responses, so rules about the origin and these headers are not checked.
   *
   * @default false
   */
  readonly runsInPage?: boolean
}

/** What an endpoint answered. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The JSON-RPC response to the request; undefined if the body contains none. */
  readonly message: JsonObject | undefined
  /** The beginning of the body, if it is not an event stream. */
  readonly text: string
}

/** A request, and how it is sent. */
export interface CheckRequest {
  readonly body?: JsonObject | string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  /** Whether to omit the headers that the user gave, such as the token. */
  readonly isAnonymous?: boolean
  /** The rule that the request tests. Errors of the request name the rule. */
  readonly rule?: RuleId
}

/** The connection failed before the response to a request arrived. */
export class NoResponseError extends TypeError {
  readonly request: CheckRequest

  constructor(request: CheckRequest, url: string, cause: TypeError) {
    super(`${describeRequest(request, url)} got no response: ${reasonOf(cause)}`, { cause })
    this.request = request
  }
}

/** Whether a request failed because the response did not arrive, arrived too late, or is too long. */
export function hasNoResponse(error: unknown): error is NoResponseError | SdkError {
  if (error instanceof NoResponseError) return true
  return error instanceof SdkError && (error.code === 'TIMEOUT' || error.code === 'LIMIT_EXCEEDED')
}

/** The connection to the endpoint that is checked. */
export class CheckedEndpoint {
  readonly url: string
  /** Whether the check runs in a Web page, which sends the requests. */
  readonly runsInPage: boolean
  readonly #options: EndpointOptions

  constructor(options: EndpointOptions) {
    this.url = options.url
    this.runsInPage = options.runsInPage ?? false
    this.#options = options
  }

  /**
   * Sends a request.
   *
   * @throws {SdkError} `TIMEOUT`, or `LIMIT_EXCEEDED` if the response is too long.
   * @throws {NoResponseError} If the connection fails.
   */
  async send(request: CheckRequest): Promise<Answer> {
    const { body, headers = {}, method = 'POST', isAnonymous } = request
    const { url, fetch, timeoutMs, signal } = this.#options
    const allHeaders = new Headers(isAnonymous ? {} : this.#options.headers)
    allHeaders.set('accept', 'application/json, text/event-stream')
    if (body !== undefined) allHeaders.set('content-type', 'application/json')
    for (const [name, value] of Object.entries(headers)) allHeaders.set(name, value)
    const text = typeof body === 'string' ? body : body && JSON.stringify(body)
    try {
      return await withTimeout(
        timeoutMs,
        async (timeoutSignal) => {
          const init = {
            method,
            headers: allHeaders,
            signal: timeoutSignal,
            ...(text !== undefined && { body: text }),
          }
          return readAnswer(
            await fetch(url, init),
            isObject(body) ? body.id : undefined,
            timeoutSignal,
          )
        },
        signal,
        `${describeRequest(request, url)} got no response within ${timeoutMs} ms. ${MAYBE_SLOW}`,
      )
    } catch (error) {
      if (error instanceof SdkError && error.code === 'LIMIT_EXCEEDED') {
        const message = `${describeRequest(request, url)} got a response with more than ${MAX_LENGTH} characters`
        throw new SdkError('LIMIT_EXCEEDED', message)
      }
      throw error instanceof TypeError ? new NoResponseError(request, url, error) : error
    }
  }

  /** Ends the session that an answer to `initialize` opened, if any. */
  async endSession({ headers, message }: Answer): Promise<void> {
    const sessionId = headers.get(HEADER_SESSION_ID)
    if (sessionId === null) return
    const version = isObject(message?.result) ? String(message.result.protocolVersion) : ''
    await this.send({ method: 'DELETE', headers: sessionHeaders(version, sessionId) })
  }

  /** Reads a document at another URL, such as metadata; undefined if it is not a JSON object. */
  async read(url: string): Promise<JsonObject | undefined> {
    const { fetch, timeoutMs, signal } = this.#options
    const headers = { accept: 'application/json' }
    return withTimeout(
      timeoutMs,
      async (timeoutSignal) => {
        const response = await fetch(url, { headers, signal: timeoutSignal })
        const text = await readText(response, MAX_LENGTH, timeoutSignal)
        return response.ok ? parseObject(text) : undefined
      },
      signal,
    )
  }
}

/** A request for the stream of messages from the server. */
export const STREAM_REQUEST: CheckRequest = {
  method: 'GET',
  headers: { accept: 'text/event-stream' },
}

/** The request `initialize`. */
export function initializeRequest(protocolVersion: string): JsonObject {
  const params = { protocolVersion, capabilities: {}, clientInfo: CLIENT_INFO }
  return { jsonrpc: '2.0', id: 1, method: 'initialize', params }
}

/** Creates a request as in 2026-07-28, with its headers. The version may be one that does not exist. */
export function modernRequest(
  method: string,
  params: JsonObject = {},
  version = '2026-07-28',
): CheckRequest {
  const _meta = {
    [META_PROTOCOL_VERSION]: version,
    [META_CLIENT_INFO]: CLIENT_INFO,
    [META_CLIENT_CAPABILITIES]: {},
  }
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }
  const nameHeader = typeof params.name === 'string' && { 'mcp-name': params.name }
  return {
    body,
    headers: { [HEADER_PROTOCOL_VERSION]: version, [HEADER_METHOD]: method, ...nameHeader },
  }
}

/** The headers of requests in a session. Revisions before 2025-06-18 have no header for the version. */
export function sessionHeaders(version: string, sessionId: string | null): Record<string, string> {
  return {
    ...(version >= '2025-06-18' && { [HEADER_PROTOCOL_VERSION]: version }),
    ...(sessionId !== null && { [HEADER_SESSION_ID]: sessionId }),
  }
}

/** The code of the error in an answer; undefined if there is none. */
export function errorCode({ message }: Answer): unknown {
  return isObject(message?.error) ? message.error.code : undefined
}

/** Whether an answer is an event stream. */
export function isEventStream(answer: Answer): boolean {
  return answer.status >= 200 && answer.status < 300 && hasType(answer, 'text/event-stream')
}

/** Describes an answer, such as `200 and the error -32602`. */
export function describeAnswer(answer: Answer): string {
  const { status, message } = answer
  if (!message) return `${status} without a JSON-RPC response`
  const code = errorCode(answer)
  return code === undefined
    ? `${status} and a result`
    : `${status} and the error ${JSON.stringify(code)}`
}

/** Describes a body by its method, such as `"tools/call"`. */
export function describeBody(body: CheckRequest['body']): string {
  return isObject(body) ? JSON.stringify(body.method) : `the body ${JSON.stringify(body ?? '')}`
}

function describeRequest({ body, method = 'POST', rule }: CheckRequest, url: string): string {
  const withBody = body === undefined ? '' : ` with ${describeBody(body)}`
  const forRule = rule === undefined ? '' : `, which tests "${rule}",`
  return `${method} ${withoutSecrets(url)}${withBody}${forRule}`
}

/** A URL for reports, which others may read: without the user and the password, and without the values of its query. */
export function withoutSecrets(url: string): string {
  const shown = parseUrl(url)
  if (!shown) return url
  shown.username = shown.password = ''
  for (const name of new Set(shown.searchParams.keys())) shown.searchParams.set(name, 'redacted')
  return shown.href
}

/** The messages of an error and its causes: `fetch` names the reason in a cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  return cause instanceof Error ? `${message}: ${reasonOf(cause)}` : message
}

/** Parses a JSON object. Returns `undefined` for other texts, and for objects that are nested too deeply. */
function parseObject(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

async function readAnswer(response: Response, id: unknown, signal: AbortSignal): Promise<Answer> {
  const { status, headers } = response
  if (!hasType(response, 'text/event-stream')) {
    const text = await readText(response, MAX_LENGTH, signal)
    const message = parseObject(text)
    const isMessage = message?.jsonrpc === '2.0' && !('method' in message)
    return { status, headers, message: isMessage ? message : undefined, text: text.slice(0, 1000) }
  }
  let foundMessage: JsonObject | undefined
  const parser = new SseParser((_type, data) => {
    const message = parseObject(data)
    if (message && 'id' in message && !('method' in message) && message.id === id)
      foundMessage ??= message
  }, MAX_LENGTH)
  if (id === undefined) await response.body?.cancel()
  else await readEvents(response, parser, signal, () => foundMessage !== undefined)
  return { status, headers, message: foundMessage, text: '' }
}
