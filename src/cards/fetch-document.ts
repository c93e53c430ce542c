/**
 * Fetches public documents from hosts that are not trusted: without credentials, and with limits on
 * time, size and redirects.
 *
 * @see https://github.com/Agent-Card/ai-catalog
 */
import { abortReason } from '../patterns/abort.ts'
import { boundedCache, type BoundedCache } from '../patterns/bounded-cache.ts'
import { readBytes } from '../patterns/bounded-read.ts'
import { withTimeout } from '../patterns/timeout.ts'
import { SdkError, type SdkErrorCode } from '../protocol/errors.ts'
import { parseStrictJson } from './strict-json.ts'
import { requireAllowed, type AllowUrl } from './url-policy.ts'
import { parseUrl } from '../patterns/url.ts'

const MAX_REDIRECTS = 3
/** How many documents a cache stores by default. */
const MAX_CACHED = 100

/** How documents are fetched. */
export interface FetchDocumentOptions {
  /**
   * Sends requests.
   *
   * @default fetch
   */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /**
   * Decides whether a URL may be used. Called for the URL that you pass, and for those that catalogs, cards
   * and redirects name. Ask the user here, or compare the URL with a list. A URL must also use HTTPS, or HTTP
   * to a loopback host, and must not contain credentials.
   *
   * By default, only public hosts are allowed, and of these only the host that you pass and the hosts
   * below it. Names are not resolved: a program with access to a private network should check
   * addresses here.
   */
  allowUrl?: AllowUrl
  /**
   * How long one document may take, in milliseconds.
   *
   * @default 10000
   */
  timeoutMs?: number
  /**
   * The maximum size of one document, in bytes.
   *
   * @default 1048576
   */
  maxBytes?: number
  /** Stores documents, and revalidates them when they are no longer fresh. Created by `cardCache`. */
  cache?: CardCache
  /** Aborts the requests. */
  signal?: AbortSignal
}

/** A document that was received. */
export interface FetchedDocument {
  /** The address after redirects. */
  readonly url: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly headers: Headers
}

/** A stored document. */
interface StoredDocument extends FetchedDocument {
  /** Until when it is fresh, by `performance.now()`, in milliseconds. */
  readonly freshUntil: number
}

/** Documents by URL and media type. Created by {@link cardCache}. */
export type CardCache = BoundedCache<string, StoredDocument>

/**
 * Creates a cache for {@link fetchCard} and {@link discover}. Documents are used without a request
 * for as long as their `Cache-Control` permits, and are then revalidated by their `ETag`.
 *
 * @example
 * ```ts
 * import { cardCache, discover } from 'edgewise/cards'
 *
 * const cache = cardCache()
 * const { cards } = await discover('example.com', { cache })
 * ```
 *
 * @param maxEntries The maximum number of documents. Default: 100.
 * @see https://www.rfc-editor.org/rfc/rfc9111
 */
export function cardCache(maxEntries: number = MAX_CACHED): CardCache {
  return boundedCache(maxEntries)
}

/** The document that is requested. */
export interface DocumentRequest {
  readonly url: string
  /** The accepted media types, the preferred one first; any if empty. */
  readonly types: readonly string[]
  /** The domain that the application asked for. By default, only URLs within this domain are allowed. */
  readonly domain: string
}

/**
 * Fetches a document, or takes it from the cache. Except for timeouts, errors name the failed step in
 * `data.step`: `address`, `network`, `status`, `type` or `size`.
 *
 * @throws {SdkError} `DENIED`, `NETWORK`, `TIMEOUT`, `ABORTED`, `HTTP`, `INVALID_MESSAGE`,
 *   `LIMIT_EXCEEDED`.
 */
export async function fetchDocument(
  request: DocumentRequest,
  options: FetchDocumentOptions,
): Promise<FetchedDocument> {
  const { cache, allowUrl } = options
  const key = `${request.types.join()} ${request.url}`
  const stored = cache?.get(key)
  await requireAllowed(request.url, request.domain, allowUrl)
  // The stored document may have come from a redirect
  if (stored) await requireAllowed(stored.url, request.domain, allowUrl)
  if (stored && performance.now() < stored.freshUntil) return stored
  const received = await fetchWithRedirects(request, options, stored)
  const freshUntil = freshUntilOf(received.headers)
  const document = { ...received, freshUntil: freshUntil ?? 0 }
  if (freshUntil === undefined) cache?.delete(key)
  else cache?.set(key, document)
  return document
}

/** Sends the request, and follows redirects to URLs that are allowed. */
async function fetchWithRedirects(
  request: DocumentRequest,
  options: FetchDocumentOptions,
  stored: StoredDocument | undefined,
): Promise<FetchedDocument> {
  const { timeoutMs = 10_000, signal, allowUrl } = options
  let { url } = request
  let remainingMs = timeoutMs
  for (let redirects = 0; ; redirects++) {
    const startedAt = performance.now()
    const message = `"${request.url}" did not answer within ${timeoutMs} ms`
    const result = await withTimeout(
      remainingMs,
      (timeout) => sendOnce(url, request, options, stored, timeout),
      signal,
      message,
    ).catch((error: unknown) => {
      throw signal?.aborted ? abortReason(signal) : error
    })
    if (typeof result !== 'string') {
      // A browser follows redirects itself, so the last URL is checked
      await requireAllowed(result.url, request.domain, allowUrl)
      return result
    }
    if (redirects === MAX_REDIRECTS) throw failure('HTTP', 'status', url, 'redirects too often')
    // The time that a user needs to allow a URL does not count
    remainingMs -= performance.now() - startedAt
    url = (await requireAllowed(result, request.domain, allowUrl)).href
  }
}

/** Sends one request. Resolves with the document, or with the target of a redirect. */
async function sendOnce(
  url: string,
  { types }: DocumentRequest,
  { fetch = globalThis.fetch, maxBytes = 1_048_576 }: FetchDocumentOptions,
  stored: StoredDocument | undefined,
  signal: AbortSignal,
): Promise<FetchedDocument | string> {
  const etag = stored?.headers.get('etag')
  const init: RequestInit = {
    headers: {
      accept: types.map((type, at) => (at === 0 ? type : `${type};q=0.5`)).join(', ') || '*/*',
      ...(etag && { 'if-none-match': etag }),
    },
    // Only browsers send cookies, and runtimes without this option may reject it
    ...('credentials' in Request.prototype && { credentials: 'omit' }),
    referrerPolicy: 'no-referrer',
    signal,
  }
  let response = await send(fetch, url, { ...init, redirect: 'manual' })
  // Browsers hide the target of a redirect, so the browser follows it
  if (response.type === 'opaqueredirect') response = await send(fetch, url, init)
  const { status, headers } = response
  const location = headers.get('location')
  if (status === 304 && stored) return { ...stored, headers: mergeHeaders(stored.headers, headers) }
  if (status !== 200) {
    response.body?.cancel().catch(() => {})
    if (status > 300 && status < 400 && location) {
      return parseUrl(location, url)?.href ?? location
    }
    throw failure('HTTP', 'status', url, `answered with the status ${status}`, { status })
  }
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  if (types.length > 0 && !types.includes(type.trim().toLowerCase())) {
    response.body?.cancel().catch(() => {})
    throw failure('INVALID_MESSAGE', 'type', url, `has the type "${type}", not "${types[0]}"`)
  }
  // The pipe ends the body at the timeout even if `fetch` ignores the signal
  const body = response.body?.pipeThrough(new TransformStream<Uint8Array>(), { signal })
  const bytes = await readBytes(body, maxBytes).catch((cause: unknown) => {
    throw failure('NETWORK', 'network', url, 'broke off', {}, cause)
  })
  if (bytes) return { url: response.url || url, bytes, headers }
  throw failure('LIMIT_EXCEEDED', 'size', url, `is larger than ${maxBytes} bytes`)
}

async function send(
  fetch: NonNullable<FetchDocumentOptions['fetch']>,
  url: string,
  init: RequestInit,
): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (cause) {
    throw failure('NETWORK', 'network', url, `cannot be reached: ${String(cause)}`, {}, cause)
  }
}

/** Until when a document is fresh: 0 if it must be revalidated each time, `undefined` if it must not be stored. */
function freshUntilOf(headers: Headers): number | undefined {
  const control = headers.get('cache-control') ?? ''
  if (/\bno-store\b/i.test(control)) return undefined
  const [, seconds] = /\bmax-age=(\d+)/i.exec(control) ?? []
  if (seconds === undefined || /\bno-cache\b/i.test(control)) return 0
  return performance.now() + 1000 * (Number(seconds) - Number(headers.get('age') ?? 0))
}

function mergeHeaders(stored: Headers, updated: Headers): Headers {
  const headers = new Headers(stored)
  updated.forEach((value, name) => headers.set(name, value))
  return headers
}

/**
 * Parses a document.
 *
 * @throws {SdkError} `INVALID_MESSAGE`, with `json` as `data.step`.
 */
export function parseDocument({ url, bytes }: FetchedDocument): unknown {
  try {
    return parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw failure('INVALID_MESSAGE', 'json', url, `is not valid JSON: ${String(cause)}`, {}, cause)
  }
}

/**
 * Creates the error for a failed step.
 *
 * @param url The URL of the document, or the identifier of its entry in a catalog.
 * @param reason What is wrong with the document, such as `cannot be reached`.
 */
export function failure(
  code: SdkErrorCode,
  step: string,
  url: string | undefined,
  reason: string,
  more: object = {},
  cause?: unknown,
): SdkError {
  const subject = url === undefined ? 'The document' : `"${url}"`
  return new SdkError(code, `${subject} ${reason}`, { cause, data: { step, url, ...more } })
}
