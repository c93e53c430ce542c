/**
 * Handlers of Web requests as listeners of Node's HTTP servers.
 *
 * @see https://nodejs.org/api/http.html
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Caller } from '../../src/presets/server.ts'
import { consumedBody } from './consumed-body.ts'
import { limitPipelining } from './pipeline.ts'

/** A function that handles a Web request, such as a handler from `createHandler`. */
export type NodeHandler = (
  request: Request,
  caller: Pick<Caller, 'address' | 'request'>,
) => Promise<Response> | Response

/** A request to a server of `node:http`, `node:https` or `node:http2`. */
export type NodeRequest = IncomingMessage | Http2ServerRequest

/** The response of a server of `node:http`, `node:https` or `node:http2`. */
export type NodeResponse = ServerResponse | Http2ServerResponse

/** A listener of a server of `node:http`, `node:https` or `node:http2`. */
export type NodeListener = (incoming: NodeRequest, outgoing: NodeResponse) => void

/** The response and the log line if a middleware consumed the body without exposing it. */
const ALREADY_READ =
  'The body was already read, and is not in "req.body": mount toNodeListener before the middleware'

/**
 * Converts a handler into a listener for `node:http`, `node:https` and `node:http2`, which also
 * works as a middleware for Express and similar frameworks. A body that a middleware such as
 * `express.json()` has read is taken from `req.rawBody` or `req.body`. The handler's `maxBodyBytes`
 * applies to such a body too.
 *
 * The handler receives the remote address, so that it can limit callers without a principal.
 *
 * Bodies stream both ways with backpressure. If the client disconnects before the response is
 * complete, `request.signal` aborts and the response's body is cancelled.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { createSecureServer } from 'node:http2'
 * import { toNodeListener } from 'edgewise/node'
 * import { createHandler, createServer } from 'edgewise/server'
 *
 * const handle = createHandler(createServer({ name: 'travel', version: '1.0.0' }))
 * const [cert, key] = [readFileSync('cert.pem'), readFileSync('key.pem')]
 * createSecureServer({ allowHTTP1: true, cert, key }, toNodeListener(handle)).listen(8443)
 * ```
 *
 * @see https://nodejs.org/api/http.html
 */
export function toNodeListener(handler: NodeHandler): NodeListener {
  let honoListener: NodeListener | undefined
  // Loaded on demand, so that programs that serve over stdio do not load it
  const loading = import('./hono-listener.ts').then(({ createHonoListener }) => {
    honoListener = createHonoListener(handler)
    return honoListener
  })
  return (incoming, outgoing) => {
    const start = (): void => {
      if (honoListener) respond(honoListener, incoming, outgoing)
      else void loading.then((loaded) => respond(loaded, incoming, outgoing))
    }
    // For HTTP/2, Node itself limits the memory of a connection: `maxSessionMemory`
    if ('stream' in outgoing) start()
    else limitPipelining(outgoing, start)
  }
}

/** Passes a request to the listener of Hono, with the body that a middleware has read and with the original URL. */
function respond(honoListener: NodeListener, incoming: NodeRequest, outgoing: NodeResponse): void {
  // Without this listener, an "error" event would end the process. Listeners of "close" handle broken connections
  outgoing.on('error', ignore)
  const bodyBytes = consumedBody(incoming)
  if (bodyBytes === null) {
    console.error(ALREADY_READ)
    outgoing.writeHead(500, { 'content-type': 'text/plain' })
    outgoing.end(ALREADY_READ)
    return
  }
  if (bodyBytes) Object.assign(incoming, { rawBody: bodyBytes })
  // A `Request` cannot have the method TRACE, and a URL cannot have an empty host
  if (incoming.method === 'TRACE' || incoming.headers.host === '') {
    outgoing.writeHead(400)
    outgoing.end()
    return
  }
  const { url = '' } = incoming
  // Express and similar frameworks remove their mount path from `url`
  const target = (incoming as { originalUrl?: string }).originalUrl ?? url
  // The `Host` header takes precedence over a host in the target
  incoming.url = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '')
  honoListener(incoming, outgoing)
  // The listener has read the URL. The framework expects its own value
  incoming.url = url
}

function ignore(): void {}
