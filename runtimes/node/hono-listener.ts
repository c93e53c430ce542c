/**
 * Converts Web handlers with `@hono/node-server`, and handles the cases that the library leaves to its
 * users. The first call of `toNodeListener` loads this file.
 *
 * @see https://github.com/honojs/node-server
 */
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { jsonResponses } from '#internal/http'
import type { NodeHandler, NodeListener, NodeResponse } from './listener.ts'
import { respondUnread } from './unread-body.ts'

/** The headers that describe how a body was sent. They are wrong once a middleware has read the body. */
const FRAMING_HEADERS = ['content-length', 'content-encoding', 'transfer-encoding']

/** The headers that HTTP/2 forbids, because they describe a connection of HTTP/1. */
const CONNECTION_HEADERS = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]

/** Converts a handler into a listener. */
export function createHonoListener(handler: NodeHandler): NodeListener {
  // Makes the handler create its JSON responses with this class too. The class is faster with a plain object of
  // headers than with an instance of `Headers`
  jsonResponses.Class = LazyResponse
  jsonResponses.ok = { headers: { 'content-type': 'application/json' } }
  const listener = getRequestListener(
    async (request, { incoming, outgoing }) => {
      if ('rawBody' in incoming) for (const name of FRAMING_HEADERS) request.headers.delete(name)
      const answer = await handler(request, { request, address: incoming.socket?.remoteAddress })
      // Only responses over HTTP/2 have the member `stream`
      const response = 'stream' in outgoing ? withoutConnectionHeaders(answer) : answer
      // Whether the client is still sending the body, so that the connection must be closed. With HTTP/2, closing the
      // stream suffices
      const isUnread = !incoming.complete && !('stream' in incoming || 'stream' in outgoing)
      if (isUnread && response.status >= 400) {
        await respondUnread(response, incoming, outgoing)
        return RESPONSE_ALREADY_SENT
      }
      if (isUnread) outgoing.shouldKeepAlive = false
      if (request.method === 'HEAD') return withoutBody(response)
      if (response.constructor === LazyResponse) return response
      if (hasLength(response)) return withLength(response, outgoing)
      return new LazyResponse(response.body, response)
    },
    // The host name is for requests without the header `Host`
    { hostname: 'localhost', overrideGlobalObjects: false },
  )
  return (incoming, outgoing) => void listener(incoming, outgoing)
}

/**
 * The same response without the headers that HTTP/2 forbids. A handler that forwards a response of
 * another server may forward these headers, and Node would throw an error.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9113#section-8.2.2
 */
function withoutConnectionHeaders(response: Response): Response {
  if (!CONNECTION_HEADERS.some((name) => response.headers.has(name))) return response
  const headers = new Headers(response.headers)
  for (const name of CONNECTION_HEADERS) headers.delete(name)
  const { body, status, statusText } = response
  return new LazyResponse(body, { status, statusText, headers })
}

/**
 * The same response without its body, for a HEAD request. The body is not read, since it may be
 * endless.
 */
async function withoutBody(response: Response): Promise<Response> {
  await response.body?.cancel()
  return new LazyResponse(null, response)
}

/**
 * Whether the body can be read completely before it is sent, so that its length is known. All other bodies
 * are streams, and their responses must be lazy: otherwise the library would wait for the first chunks before
 * it sends the head.
 */
function hasLength({ body, headers }: Response): boolean {
  return body === null || headers.get('content-type')?.startsWith('application/json') === true
}

/** The same response, sent with a length and in one packet. */
async function withLength(response: Response, outgoing: NodeResponse): Promise<Response> {
  const { body, status, headers } = response
  if (body) return new LazyResponse(new Uint8Array(await response.arrayBuffer()), response)
  const needsNoLength = status === 204 || status === 304 || headers.has('content-length')
  if (!needsNoLength) outgoing.setHeader('content-length', 0)
  return response
}

/**
 * The library's class of responses, which creates a stream only when the body is read. The library
 * does not export its classes, but replaces the global `Request` and `Response` with them. This code takes
 * the class from there, and restores the globals immediately.
 */
const LazyResponse = ((): typeof Response => {
  const names = ['Request', 'Response'] as const
  const originals = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name))
  getRequestListener(() => undefined)
  const { Response } = globalThis
  for (const [index, name] of names.entries()) {
    Object.defineProperty(globalThis, name, originals[index] ?? {})
  }
  return Response
})()
