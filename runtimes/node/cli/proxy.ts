/**
 * The proxy through which the page of `edgewise inspect` connects to a server. It adds the user's credentials.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { SdkError } from '../../../src/index.ts'
import type { AuthProvider } from '../../../src/presets/client.ts'
import { messagesOf } from './open.ts'

/** The headers of the protocol, which are forwarded in both directions. Cookies are not forwarded. */
const FORWARDED_HEADERS = /^(?:accept|content-type|last-event-id|location|retry-after|mcp-.*)$/
/** How many times a request may be retried after a 401 or 403. */
const MAX_CHALLENGES = 3

/** How the user authenticates to the server. */
export interface Credentials {
  readonly headers: Headers
  readonly auth: AuthProvider | undefined
}

/**
 * Creates a proxy to `url` that streams responses. If the server rejects the credentials, the page receives a 502 with
 * a reason. With a 401, the page would try to sign in to the proxy.
 *
 * @param onError Receives the reason if the server did not respond to a request.
 */
export function createProxy(
  url: string,
  { headers: userHeaders, auth }: Credentials,
  onError: (error: unknown) => void,
): (request: Request) => Promise<Response> {
  // As in every client, the user cannot override the headers of the protocol
  const allowedUserHeaders = [...userHeaders].filter(([name]) => !FORWARDED_HEADERS.test(name))
  async function send(request: Request): Promise<Response> {
    const { method, signal } = request
    const body = method === 'POST' ? await request.arrayBuffer() : undefined
    for (let challenges = 0; ; challenges++) {
      // The user did not initiate the requests that open a session's stream or end the session
      const background = method !== 'POST' && request.headers.has('mcp-session-id')
      const facts = { url, method, server: url, background }
      const headers = new Headers([...forwardedHeaders(request.headers), ...allowedUserHeaders])
      const authHeaders = new Headers(await auth?.headers(facts))
      for (const [name, value] of authHeaders) headers.set(name, value)
      const init = { method, headers, signal, redirect: 'manual' as const, ...(body && { body }) }
      const response = await fetch(url, init).catch((cause: unknown) => {
        throw new SdkError('NETWORK', `Cannot reach "${url}"`, { cause })
      })
      const { status } = response
      const isChallenge =
        status === 401 || (status === 403 && response.headers.has('www-authenticate'))
      if (!isChallenge) {
        auth?.onResponse?.(response, facts)
        const responseBody = response.body && (await bodyOf(response, response.body, onError))
        return new Response(responseBody, { status, headers: forwardedHeaders(response.headers) })
      }
      await response.body?.cancel()
      if (!auth) throw new Error(rejectionMessage(response, headers))
      if (challenges >= MAX_CHALLENGES || !(await auth.onChallenge(response, facts))) {
        throw new Error(`"${url}" rejects the token (HTTP ${status})`)
      }
    }
  }
  return async (request) => {
    try {
      return await send(request)
    } catch (error) {
      // The page has cancelled the request, so it ignores the response
      if (request.signal.aborted) return new Response(null, { status: 499 })
      onError(error)
      return new Response(messagesOf(error), { status: 502 })
    }
  }
}

/**
 * Returns the body of a response. If the server disconnects during an event stream, the returned stream ends without an
 * error, because the HTTP server of this process would print the error. The page notices anyway that the JSON-RPC
 * response is missing.
 */
async function bodyOf(
  response: Response,
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  onError: (error: unknown) => void,
): Promise<ArrayBuffer | ReadableStream<Uint8Array<ArrayBuffer>>> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (!isStream) return response.arrayBuffer()
  const reader = stream.getReader()
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          onError(error)
          controller.close()
        }
      },
      cancel: (reason) => reader.cancel(reason).catch(() => {}),
    },
    { highWaterMark: 0 },
  )
}

function forwardedHeaders(headers: Headers): [name: string, value: string][] {
  return [...headers].filter(([name]) => FORWARDED_HEADERS.test(name))
}

function rejectionMessage({ status }: Response, requestHeaders: Headers): string {
  const problem = `The server answered HTTP ${status}`
  return requestHeaders.has('authorization')
    ? `${problem}: it rejects the token`
    : `${problem}: start edgewise inspect with --sign-in or --token`
}
