/**
 * Sends the HTTP requests of a client: adds headers, signs in, follows redirects, and creates errors.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { OutgoingRequest } from '../../protocol/channel.ts'
import type { HeaderRecord, HttpOptions, HttpRequestFacts } from '../../protocol/http-options.ts'
import { abortReason } from '../../patterns/abort.ts'
import { readText } from '../../patterns/bounded-read.ts'
import { callHook } from '../../patterns/hooks.ts'
import { SdkError, type SdkErrorCode } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import { platformLimit } from './unlimited-fetch.ts'

/** Matches headers that are reserved for the protocol. Values that the application sets for them are dropped. */
const RESERVED_HEADERS = /^(?:accept|content-type|last-event-id|mcp-.*)$/

const CHALLENGE = 'www-authenticate'
const MAX_CHALLENGES = 3
const MAX_REDIRECTS = 3
/** The maximum length of the excerpt of an unexpected body that an error stores, in characters. */
const EXCERPT_LENGTH = 500
/** The time limit for reading this excerpt, in milliseconds. */
const EXCERPT_TIMEOUT_MS = 2_000
/** The maximum length of the part of the body that an error message repeats, in characters. */
const MAX_DETAIL_LENGTH = 200

/** The options that this file passes to `fetch`. */
interface HttpInit extends Omit<RequestInit, 'body'> {
  readonly signal: AbortSignal
  readonly body: string | undefined
}

/** Sends requests to one endpoint. */
export class HttpSender {
  /** The URL of the endpoint, which changes after a redirect. */
  url: string
  /** The URL that the application connected to. */
  readonly server: string
  readonly #options: HttpOptions

  constructor(url: string, options: HttpOptions, server: string = url) {
    this.url = url
    this.#options = options
    this.server = server
  }

  /**
   * Sends a request and returns the response with any status. The timeouts of `call` are
   * paused during sign-in. Background requests never start a sign-in.
   *
   * @throws {SdkError} `NETWORK`, `UNAUTHORIZED`, `FORBIDDEN`, `ABORTED`; `HTTP` for a redirect
   * that may not be followed.
   */
  async send(
    method: string,
    headers: Readonly<Record<string, string>>,
    body: string | undefined,
    signal: AbortSignal,
    call?: OutgoingRequest,
    background?: boolean,
  ): Promise<Response> {
    const { auth } = this.#options
    for (let challenges = 0; ; challenges++) {
      const facts = this.facts(method, background)
      const sentHeaders = await this.headers(facts, headers)
      const response = await this.#follow({ method, headers: sentHeaders, body, signal })
      const { status } = response
      const isChallenge = status === 401 || (status === 403 && response.headers.has(CHALLENGE))
      if (!isChallenge) {
        callHook(() => auth?.onResponse?.(response, facts))
        return response
      }
      const signIn = challenges < MAX_CHALLENGES && auth?.onChallenge(response, facts)
      // Pauses the timeouts of the call until the sign-in ends
      const mayRetry = await (call ? call.pause(signIn) : signIn)
      if (!mayRetry) {
        const code = status === 403 ? 'FORBIDDEN' : 'UNAUTHORIZED'
        throw await httpError(response, `"${this.url}" is protected`, undefined, code)
      }
      discard(response)
    }
  }

  /** Describes a request, for the auth provider. */
  facts(method: string, background?: boolean): HttpRequestFacts {
    return { url: this.url, method, server: this.server, background }
  }

  /** Merges the headers of a request: from the application, from the auth provider, and those of the protocol. */
  async headers(
    facts: HttpRequestFacts,
    requestHeaders: Readonly<Record<string, string>>,
  ): Promise<Headers> {
    const { headers, auth } = this.#options
    if (!headers && !auth) return new Headers(requestHeaders)
    const merged = new Headers(typeof headers === 'function' ? await headers() : headers)
    if (auth) {
      const authHeaders: HeaderRecord = await auth.headers(facts)
      new Headers(authHeaders).forEach((value, name) => merged.set(name, value))
    }
    for (const [name] of [...merged]) if (RESERVED_HEADERS.test(name)) merged.delete(name)
    for (const name in requestHeaders) merged.set(name, requestHeaders[name] ?? '')
    return merged
  }

  /** Follows redirects, but only with the same method, body and origin, so that nothing leaks to other hosts. */
  async #follow(init: HttpInit): Promise<Response> {
    for (let redirects = 0; ; redirects++) {
      const response = await this.#fetch({ ...init, redirect: 'manual' })
      const { status, headers, type } = response
      // Browsers hide the target of a redirect, and follow it safely themselves
      if (type === 'opaqueredirect') return this.#fetch(init)
      if (status < 300 || status > 399) return response
      const target = new URL(headers.get('location') ?? '', this.url)
      const becomesGet = status < 304 && init.method !== 'GET'
      if (becomesGet || target.origin !== new URL(this.url).origin || redirects >= MAX_REDIRECTS) {
        throw await httpError(response, `"${this.url}" redirects to "${target.href}"`)
      }
      discard(response)
      this.url = target.href
    }
  }

  async #fetch(init: HttpInit): Promise<Response> {
    // Extracted from the object, because browsers reject a `fetch` that is called as a method
    const fetchFunction = this.#options.fetch ?? fetch
    try {
      return await fetchFunction(this.url, init as RequestInit)
    } catch (cause) {
      if (init.signal.aborted) throw abortReason(init.signal)
      throw networkError(`Cannot reach "${this.url}": ${String(cause)}`, cause)
    }
  }
}

/**
 * Creates the error for an interrupted request or response.
 *
 * @param failure The error message. It is not used if a time limit of the platform is the cause.
 */
export function networkError(failure: string, cause?: unknown, data?: unknown): SdkError {
  const limit = platformLimit(cause)
  const message = limit ? `A time limit of the platform was reached: ${limit}` : failure
  return new SdkError(limit ? 'TIMEOUT' : 'NETWORK', message, { cause, data })
}

/**
 * Creates the error for an unexpected response, with the server's explanation. Discards the body of the response.
 *
 * @param body The part of the body that was already read. If omitted, the beginning of the body is read.
 */
export async function httpError(
  response: Response,
  failure: string,
  body?: string,
  code: SdkErrorCode = 'HTTP',
): Promise<SdkError> {
  const { status, headers } = response
  const challenge = headers.get(CHALLENGE)
  const timeout = AbortSignal.timeout(EXCERPT_TIMEOUT_MS)
  body ??= await readText(response, Infinity, timeout, true).catch(() => '')
  discard(response)
  const detail = explanation(body) || /error_description="([^"]+)/.exec(challenge ?? '')?.[1]
  return new SdkError(code, `${failure} (HTTP ${status})${detail ? `: ${detail}` : ''}`, {
    data: {
      status,
      retryAfter: headers.get('retry-after'),
      challenge,
      body: body.slice(0, EXCERPT_LENGTH),
    },
  })
}

/**
 * Extracts the explanation from the body of an error response: the message in its JSON, or plain text. Returns an empty
 * text for markup.
 */
function explanation(body: string): string {
  let text: unknown = body
  try {
    const { error, error_description, message, detail, title } = JSON.parse(body) as JsonObject
    const reason = isObject(error) ? error.message : error
    text = error_description ?? detail ?? message ?? reason ?? title
  } catch {
    // Plain text
  }
  const line = typeof text === 'string' ? text.replace(/[\p{C}\s]+/gu, ' ').trim() : ''
  return /^[<{[]/.test(line) ? '' : line.slice(0, MAX_DETAIL_LENGTH)
}

/** Cancels an unused body. */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => {})
}
