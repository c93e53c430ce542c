/**
 * Sends the requests of a sign-in: to authorization servers, and for metadata. Checks URLs, and limits the time and the
 * size of responses. A response should be JSON, but may be anything.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#security-considerations
 */
import { readText } from '../patterns/bounded-read.ts'
import { withTimeout } from '../patterns/timeout.ts'
import type { JsonObject } from '../protocol/types.ts'
import { parseObject } from '../protocol/validate.ts'
import { AuthorizationError, type AuthorizationAnswer, type AuthorizationStep } from './errors.ts'
import { checkUrl, type UrlPolicy } from './urls.ts'
import { parseUrl } from '../patterns/url.ts'

const MAX_REDIRECTS = 3
/** The longest body that is read, in UTF-16 units. */
const MAX_LENGTH = 256 * 1024
/** The maximum number of characters that errors include from a non-JSON body or from a description. */
const EXCERPT_LENGTH = 300
/**
 * Matches secrets in form-encoded text, in malformed JSON, and in pages that quote such texts. A match consists of
 * the name of a secret, `=` or `:`, and the value, which ends at a quote or separator. Only the value is redacted.
 */
const SECRET_VALUES =
  /((?:(?:access|refresh|id)_token|client_secret|assertion)\W*[=:]\W*)[^\s"'&,;<}\]]+/g

/**
 * Proof of possession for sender-constrained tokens (RFC 9449).
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449
 */
export interface Proofs {
  /** The algorithm of the key, which authorization servers must support. */
  readonly alg: string
  /** The protocol extension that clients with such proofs declare, if any. */
  readonly extension?: string | undefined
  /** The proof headers for one request. */
  headers(method: string, url: string, accessToken?: string): Promise<Record<string, string>>
  /** Stores the nonce of a response. Returns whether the request may be retried with it. */
  acceptNonce(response: Response, url: string): boolean
}

/** How requests are sent. */
export interface Network {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Timeout of one request including its response, in milliseconds. */
  readonly timeoutMs: number
  readonly allowed: UrlPolicy
  readonly proofs: Proofs | undefined
  readonly signal: AbortSignal | undefined
  /** Whether to use a token of a type other than `Bearer` as a bearer token. */
  readonly acceptTokenType: ((tokenType: string, issuer: string) => boolean) | undefined
}

/** A response whose body has been read. */
export interface Answer extends AuthorizationAnswer {
  /** Whether the status indicates success. */
  readonly ok: boolean
  /** The body, if it is a JSON object. */
  readonly json: JsonObject | undefined
}

/**
 * Fetches a metadata document. Redirects are followed if each target is allowed.
 *
 * @throws {AuthorizationError} If there is no response, or a URL is not allowed.
 */
export async function getJson(
  network: Network,
  address: string,
  step: AuthorizationStep,
  extraHeaders?: Record<string, string>,
): Promise<Answer> {
  const headers = { accept: 'application/json', ...extraHeaders }
  let url = await checkUrl(address, 'URL', step, network.allowed)
  for (let redirects = 0; ; redirects++) {
    let init: RequestInit = { headers, redirect: 'manual' }
    let response = await send(network, url.href, init, step)
    if (response.type === 'opaqueredirect') {
      // Browsers hide the target of a redirect. The second request lets the browser follow the redirect
      init = { headers }
      response = await send(network, url.href, init, step)
      await checkUrl(response.url, 'URL', step, network.allowed)
    }
    const location = response.headers.get('location')
    const { status } = response
    if (status < 300 || status > 399 || !location || redirects >= MAX_REDIRECTS) {
      return readAnswer(network, response, url.href, step)
    }
    response.body?.cancel().catch(() => {})
    const target = parseUrl(location, url)?.href ?? location
    url = await checkUrl(target, 'redirect to', step, network.allowed)
  }
}

/**
 * Sends one request.
 *
 * @throws {AuthorizationError} If there is no response.
 */
export async function send(
  { fetch, timeoutMs, signal }: Network,
  url: string,
  init: RequestInit,
  step: AuthorizationStep,
): Promise<Response> {
  try {
    return await withTimeout(
      timeoutMs,
      (timeoutSignal) => fetch(url, { ...init, signal: timeoutSignal }),
      signal,
    )
  } catch (cause) {
    throw unreachableError(url, step, cause)
  }
}

/**
 * Reads the body of a response.
 *
 * @param secrets The secrets in the request. They are redacted from errors, in case the server repeats them.
 * @throws {AuthorizationError} If the body does not arrive, or is too long.
 */
export async function readAnswer(
  { timeoutMs, signal }: Network,
  response: Response,
  address: string,
  step: AuthorizationStep,
  secrets: Iterable<string> = [],
): Promise<Answer> {
  const url = address.split('?', 1)[0] ?? ''
  const { status, ok } = response
  let text: string
  try {
    text = await withTimeout(
      timeoutMs,
      (timeoutSignal) => readText(response, MAX_LENGTH, timeoutSignal),
      signal,
    )
  } catch (cause) {
    throw unreachableError(url, step, cause)
  }
  const json = parseObject(text)
  const redact = (value: unknown): string | undefined => {
    if (typeof value !== 'string' || value === '') return undefined
    let redacted = value
    for (const secret of secrets) {
      // Encodes the secret as the value of a form field with an empty name, and removes the `=` before the value
      const formEncoded = new URLSearchParams({ '': secret }).toString().slice(1)
      if (secret) redacted = redacted.replaceAll(secret, '***').replaceAll(formEncoded, '***')
    }
    return redacted.replace(SECRET_VALUES, '$1***').slice(0, EXCERPT_LENGTH)
  }
  // Errors do not include the body of a success or a JSON body, because it may contain tokens
  const body = json || ok ? undefined : redact(text)
  return {
    url,
    status,
    ok,
    json,
    body,
    error: redact(json?.error),
    description: redact(json?.error_description),
  }
}

/** The error for an unexpected response. */
export function unexpectedResponse(
  step: AuthorizationStep,
  problem: string,
  answer: Answer,
): AuthorizationError {
  const { json: _, ok: __, ...facts } = answer
  const { url, status, error, description, body } = answer
  const errorDetail = description ? `${error}, ${description}` : error
  const detail = error ? errorDetail : body?.trim()
  return new AuthorizationError(
    step,
    `${problem}: "${url}" answered HTTP ${status}${detail ? ` (${detail})` : ''}`,
    facts,
  )
}

function unreachableError(
  url: string,
  step: AuthorizationStep,
  cause: unknown,
): AuthorizationError {
  const endpoint = url.split('?', 1)[0]
  const message = `Cannot reach "${endpoint}": ${String(cause)}`
  // There is no response to include in the error
  return new AuthorizationError(step, message, undefined, cause)
}
