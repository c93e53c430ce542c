/**
 * Requests to authorization servers and for metadata: bounded in time and size, to checked URLs,
 * with answers that are what they are, JSON or not.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#security-considerations
 */
import { readText } from '../patterns/bounded-read.ts'
import { withTimeout } from '../patterns/timeout.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isObject } from '../protocol/validate.ts'
import { AuthorizationError, type AuthorizationAnswer, type AuthorizationStep } from './errors.ts'
import { checkUrl, type UrlPolicy } from './urls.ts'

const MAX_REDIRECTS = 3
/** The longest body that is read, in UTF-16 units. */
const MAX_LENGTH = 256 * 1024
/** How much of a body that is no JSON, and of a description, errors keep. */
const EXCERPT_LENGTH = 300
/** What servers give, in forms, in JSON that is no object, and in pages that show either. */
const GIVEN = /((?:(?:access|refresh|id)_token|client_secret|assertion)\W*[=:]\W*)[^\s"'&,;<}\]]+/g

/** Proves that a token is used by whom it was given to (RFC 9449). */
export interface Proofs {
  /** The algorithm of the key, which authorization servers have to know. */
  readonly alg: string
  /** The extension of the protocol that clients with such proofs declare, if any. */
  readonly extension?: string | undefined
  /** The headers that prove it for one request. */
  headers(method: string, url: string, accessToken?: string): Promise<Record<string, string>>
  /** Learns from a response; says whether the request is to be sent again with what it told. */
  learn(response: Response, url: string): boolean
}

/** How requests are sent. */
export interface Network {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** How long one request may take with its answer, in milliseconds. */
  readonly timeoutMs: number
  readonly allowed: UrlPolicy
  readonly proofs: Proofs | undefined
  readonly signal: AbortSignal | undefined
  /** Whether a token of another type than `Bearer` is used like one. */
  readonly acceptTokenType: ((tokenType: string, issuer: string) => boolean) | undefined
}

/** What came back. */
export interface Answer extends AuthorizationAnswer {
  /** Whether the status is one of success. */
  readonly ok: boolean
  /** The body, when it is a JSON object. */
  readonly json: JsonObject | undefined
}

/**
 * Gets a metadata document. Redirects are followed if each of their targets may be used.
 *
 * @throws {AuthorizationError} When there is no answer, or a URL may not be used.
 */
export async function getJson(
  network: Network,
  address: string,
  step: AuthorizationStep,
  more?: Record<string, string>,
): Promise<Answer> {
  const headers = { accept: 'application/json', ...more }
  let url = await checkUrl(address, 'URL', step, network.allowed)
  for (let redirects = 0; ; redirects++) {
    let init: RequestInit = { headers, redirect: 'manual' }
    let response = await send(network, url.href, init, step)
    if (response.type === 'opaqueredirect') {
      // Browsers hide where it leads, and keep pages from what is not theirs
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
    const target = URL.canParse(location, url) ? new URL(location, url).href : location
    url = await checkUrl(target, 'redirect to', step, network.allowed)
  }
}

/**
 * Sends one request.
 *
 * @throws {AuthorizationError} When there is no response.
 */
export async function send(
  { fetch, timeoutMs, signal }: Network,
  url: string,
  init: RequestInit,
  step: AuthorizationStep,
): Promise<Response> {
  try {
    return await withTimeout(timeoutMs, (over) => fetch(url, { ...init, signal: over }), signal)
  } catch (cause) {
    throw unreachable(url, step, cause)
  }
}

/**
 * Reads the body of a response.
 *
 * @param secrets What must not appear in errors, should the server repeat it.
 * @throws {AuthorizationError} When the body does not come, or is too long.
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
    text = await withTimeout(timeoutMs, (over) => readText(response, MAX_LENGTH, over), signal)
  } catch (cause) {
    throw unreachable(url, step, cause)
  }
  const json = parseObject(text)
  const hide = (said: unknown): string | undefined => {
    if (typeof said !== 'string' || said === '') return undefined
    let shown = said
    for (const secret of secrets) {
      const encoded = new URLSearchParams({ '': secret }).toString().slice(1)
      if (secret) shown = shown.replaceAll(secret, '***').replaceAll(encoded, '***')
    }
    return shown.replace(GIVEN, '$1***').slice(0, EXCERPT_LENGTH)
  }
  // What may hold tokens is not shown
  const body = json || ok ? undefined : hide(text)
  return {
    url,
    status,
    ok,
    json,
    body,
    error: hide(json?.error),
    description: hide(json?.error_description),
  }
}

/** The error for an answer that is not what was asked for. */
export function refused(step: AuthorizationStep, what: string, answer: Answer): AuthorizationError {
  const { json: _, ok: __, ...shown } = answer
  const { url, status, error, description, body } = answer
  const said = error ? `${error}${description ? `, ${description}` : ''}` : body?.trim()
  return new AuthorizationError(
    step,
    `${what}: "${url}" answered HTTP ${status}${said ? ` (${said})` : ''}`,
    shown,
  )
}

function unreachable(url: string, step: AuthorizationStep, cause: unknown): AuthorizationError {
  const where = url.split('?', 1)[0]
  return new AuthorizationError(step, `Cannot reach "${where}": ${String(cause)}`, undefined, cause)
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
