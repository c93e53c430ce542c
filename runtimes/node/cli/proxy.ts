/**
 * A proxy to one server for the page of `edgewise inspect`, which adds who the user is.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { McpError } from '../../../src/index.ts'
import type { AuthProvider } from '../../../src/client/index.ts'
import { explain } from './open.ts'

/** The headers of requests and responses that are passed on: those of the protocol, no cookies. */
const PASSED = /^(?:accept|content-type|last-event-id|location|retry-after|mcp-.*)$/
/** How often one request may be sent again after a 401 or 403. */
const MAX_CHALLENGES = 3

/** Who the user is to the server. */
export interface Credentials {
  readonly headers: Headers
  readonly auth: AuthProvider | undefined
}

/**
 * Makes a proxy to `url`, whose answers stream. A page that is asked to sign in would do that for
 * the proxy's address, so what the server says to that end becomes a 502 with a reason.
 *
 * @param onError Learns why a request was not answered by the server.
 */
export function createProxy(
  url: string,
  { headers: added, auth }: Credentials,
  onError: (error: unknown) => void,
): (request: Request) => Promise<Response> {
  // As with any client, the protocol's own headers are not the user's to set.
  const own = [...added].filter(([name]) => !PASSED.test(name))
  async function send(request: Request): Promise<Response> {
    const { method, signal } = request
    const body = method === 'POST' ? await request.arrayBuffer() : undefined
    for (let challenges = 0; ; challenges++) {
      // The stream of a session and its end are not what the user asked for
      const background = method !== 'POST' && request.headers.has('mcp-session-id')
      const facts = { url, method, server: url, background }
      const headers = new Headers([...passed(request.headers), ...own])
      const signed = new Headers(await auth?.headers(facts))
      for (const [name, value] of signed) headers.set(name, value)
      const init = { method, headers, signal, redirect: 'manual' as const, ...(body && { body }) }
      const response = await fetch(url, init).catch((cause: unknown) => {
        throw new McpError('NETWORK', `Cannot reach "${url}"`, { cause })
      })
      const { status } = response
      if (status !== 401 && !(status === 403 && response.headers.has('www-authenticate'))) {
        auth?.accepted?.(response, facts)
        return new Response(response.body, { status, headers: passed(response.headers) })
      }
      await response.body?.cancel()
      if (!auth) throw new Error(refusalOf(response, headers))
      if (challenges >= MAX_CHALLENGES || !(await auth.challenged(response, facts))) {
        throw new Error(`"${url}" refuses the token that it was given (HTTP ${status})`)
      }
    }
  }
  return async (request) => {
    try {
      return await send(request)
    } catch (error) {
      if (request.signal.aborted) return new Response(null, { status: 499 })
      onError(error)
      return new Response(explain(error), { status: 502 })
    }
  }
}

function passed(headers: Headers): [name: string, value: string][] {
  return [...headers].filter(([name]) => PASSED.test(name))
}

function refusalOf({ status }: Response, sent: Headers): string {
  const asked = `The server answered HTTP ${status}`
  return sent.has('authorization')
    ? `${asked}: it refuses the token that was given`
    : `${asked}: start edgewise inspect with --sign-in or --token`
}
