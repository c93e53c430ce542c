/**
 * One HTTP request of a client: whose headers win, signing in, redirects, failures.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import type { HeaderRecord, HttpOptions } from '../../client/options.ts'
import { abortReason } from '../../client/delay.ts'
import { McpError } from '../../protocol/errors.ts'

/** Headers that the protocol owns: what an application sets under these names is dropped. */
const OWNED =
  /^(?:accept|content-type|last-event-id|mcp-(?:protocol-version|session-id|method|name|param-.*))$/

const MAX_CHALLENGES = 3
const MAX_REDIRECTS = 3
/** How much of an unexpected body an error keeps. */
const EXCERPT_LENGTH = 500

/** Sends requests to one endpoint. */
export class HttpSender {
  /** The endpoint; another one after a redirect. */
  url: string
  readonly #options: HttpOptions

  constructor(url: string, options: HttpOptions) {
    this.url = url
    this.#options = options
  }

  /**
   * Sends a request and gives the response, whatever its status.
   *
   * @throws {McpError} `NETWORK`, `UNAUTHORIZED`, `ABORTED`; `HTTP` for a redirect that may not be
   *   followed.
   */
  async send(
    method: string,
    headers: Readonly<Record<string, string>>,
    body: string | undefined,
    signal: AbortSignal,
  ): Promise<Response> {
    const { auth } = this.#options
    for (let challenges = 0; ; challenges++) {
      const all = await this.#headers(method)
      for (const [name, value] of Object.entries(headers)) all.set(name, value)
      const init: RequestInit = { method, headers: all, signal }
      if (body !== undefined) init.body = body
      const response = await this.#follow(init, signal)
      const challenged =
        response.status === 401 ||
        (response.status === 403 && response.headers.has('www-authenticate'))
      if (!challenged) return response
      discard(response)
      const again = challenges < MAX_CHALLENGES && auth
      if (!again || !(await auth.challenged(response, { url: this.url, method }))) {
        throw unauthorized(response, this.url)
      }
    }
  }

  /** What the application says of who sends the request. */
  async principal(): Promise<string> {
    return (await this.#headers('POST')).get('authorization') ?? ''
  }

  async #headers(method: string): Promise<Headers> {
    const { headers, auth } = this.#options
    const all = new Headers(typeof headers === 'function' ? await headers() : headers)
    if (auth) {
      const signed: HeaderRecord = await auth.headers({ url: this.url, method })
      for (const [name, value] of new Headers(signed)) all.set(name, value)
    }
    const owned = [...all.keys()].filter((name) => OWNED.test(name))
    for (const name of owned) all.delete(name)
    return all
  }

  /** Follows redirects that keep method, body and origin, so that nothing leaks to other hosts. */
  async #follow(init: RequestInit, signal: AbortSignal): Promise<Response> {
    for (let redirects = 0; ; redirects++) {
      const response = await this.#fetch({ ...init, redirect: 'manual' }, signal)
      // Browsers hide where a redirect leads, and follow it safely themselves
      if (response.type === 'opaqueredirect') {
        return this.#fetch({ ...init, redirect: 'follow' }, signal)
      }
      if (![301, 302, 303, 307, 308].includes(response.status)) return response
      discard(response)
      const target = new URL(response.headers.get('location') ?? '', this.url)
      const kept = response.status > 303 || init.method === 'GET'
      if (!kept || target.origin !== new URL(this.url).origin || redirects >= MAX_REDIRECTS) {
        const what = `"${this.url}" redirects to "${target.href}", which is not followed`
        throw new McpError('HTTP', what, { data: { status: response.status } })
      }
      this.url = target.href
    }
  }

  async #fetch(init: RequestInit, signal: AbortSignal): Promise<Response> {
    // Taken out of the object, as browsers refuse a `fetch` that is called as a method
    const send = this.#options.fetch ?? fetch
    try {
      return await send(this.url, init)
    } catch (cause) {
      if (signal.aborted) throw abortReason(signal)
      const reason = cause instanceof Error ? `: ${cause.message}` : ''
      throw new McpError('NETWORK', `Cannot reach "${this.url}"${reason}`, { cause })
    }
  }
}

function unauthorized(response: Response, url: string): McpError {
  const { status, headers } = response
  return new McpError('UNAUTHORIZED', `"${url}" wants authorization (HTTP ${status})`, {
    data: { status, challenge: headers.get('www-authenticate') },
  })
}

/** The error for a response that the protocol gives no meaning. */
export function httpError(response: Response, what: string, body?: string): McpError {
  const { status, headers } = response
  const retryAfter = headers.get('retry-after')
  return new McpError('HTTP', `${what} (HTTP ${status})`, {
    data: {
      status,
      contentType: headers.get('content-type'),
      ...(retryAfter && { retryAfter }),
      ...(body && { body: body.slice(0, EXCERPT_LENGTH) }),
    },
  })
}

/** Lets go of a body that nobody reads. */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => {})
}
