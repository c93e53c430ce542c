/**
 * The bridge between `node:http` and a handler of Web requests.
 *
 * @see https://nodejs.org/api/http.html
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isAuthority, withTimeout } from '#internal/patterns'
import type { Caller } from '../../src/presets/server.ts'
import { inTurn } from './pipeline.ts'
import { webReadable } from './streams.ts'

/** The response and the log line if a middleware consumed the body without exposing it. */
const ALREADY_READ =
  'Something has read the body and left none in "req.body": mount toNodeListener before it'

/** The headers that describe how a body was sent. */
const FRAMING = ['content-length', 'content-encoding', 'transfer-encoding']

/** How long a client may keep sending after it got its response, in milliseconds. */
const LINGER_MS = 1000

/**
 * Converts a handler into a listener for `node:http`, which also works as a middleware for Express
 * and similar frameworks. A body that a middleware such as `express.json()` has read is taken from
 * `req.rawBody` or `req.body`; the handler's `maxBodyBytes` applies to it too.
 *
 * The remote address is passed to the handler, for the limits of callers without a principal.
 *
 * Bodies stream both ways with backpressure. If the client disconnects before the response is
 * complete, `request.signal` aborts and the response's body is cancelled.
 *
 * @example
 * ```ts
 * import { createServer as createHttpServer } from 'node:http'
 * import { toNodeListener } from 'edgewise/node'
 * import { createHandler, createServer } from 'edgewise/server'
 *
 * const handle = createHandler(createServer({ name: 'travel', version: '1.0.0' }))
 * createHttpServer(toNodeListener(handle)).listen(8000, '127.0.0.1')
 * ```
 *
 * @see https://nodejs.org/api/http.html
 */
export function toNodeListener(
  handler: (request: Request, caller: Pick<Caller, 'address'>) => Promise<Response> | Response,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) => {
    inTurn(incoming.socket, outgoing, (gone) => void respond(handler, incoming, outgoing, gone))
  }
}

async function respond(
  handler: (request: Request, caller: Pick<Caller, 'address'>) => Promise<Response> | Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  // A broken connection is handled by "close"; an unhandled error event would end the process.
  outgoing.on('error', () => {})
  incoming.on('error', () => {})
  const parsed = readBefore(incoming)
  if (parsed === null) {
    console.error(ALREADY_READ)
    outgoing.writeHead(500, { 'content-type': 'text/plain' }).end(ALREADY_READ)
    return
  }
  try {
    const request = readRequest(incoming, parsed, gone)
    const address = incoming.socket.remoteAddress
    const response = request
      ? await handler(request, { address })
      : new Response(null, { status: 400 })
    await write(response, incoming, outgoing, gone)
  } catch {
    // After the head was sent, the status cannot change; the client notices the incomplete body.
    if (outgoing.headersSent) outgoing.destroy()
    else outgoing.writeHead(500).end()
  }
}

/** The Web request; `undefined` if the method, the host or the target is invalid. */
function readRequest(
  incoming: IncomingMessage,
  parsed: Body | undefined,
  signal: AbortSignal,
): Request | undefined {
  try {
    return toRequest(incoming, parsed, signal)
  } catch {
    return undefined
  }
}

function toRequest(
  incoming: IncomingMessage,
  parsed: Body | undefined,
  signal: AbortSignal,
): Request {
  const { method = 'GET', headers: known, rawHeaders, socket } = incoming
  const host = known.host ?? 'localhost'
  // Express and similar frameworks remove their mount path from `url`.
  const target = (incoming as { originalUrl?: string }).originalUrl ?? incoming.url ?? '/'
  // The `Host` header takes precedence over a host in the target.
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  if (!path.startsWith('/') || !isAuthority(host)) throw new TypeError('No valid URL')
  const url = `${'encrypted' in socket ? 'https' : 'http'}://${host}${path}`

  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '')
  }
  if (!hasBody(incoming) || method === 'GET' || method === 'HEAD') {
    return new Request(url, { method, headers, signal })
  }
  // They describe the raw bytes, which may have been compressed.
  if (parsed !== undefined) for (const name of FRAMING) headers.delete(name)
  const init: RequestInit & { duplex: 'half' } = {
    method,
    headers,
    signal,
    body: parsed ?? webReadable(incoming, () => {}),
    duplex: 'half',
  }
  return new Request(url, init)
}

type Body = string | Uint8Array<ArrayBuffer>

/**
 * The body that a middleware has read: its bytes or text, or its value as JSON. `undefined` if the
 * body was not read; `null` if it is lost.
 */
function readBefore(incoming: IncomingMessage): Body | undefined | null {
  if (!incoming.readableEnded || !hasBody(incoming)) return undefined
  const { rawBody, body = rawBody } = incoming as { rawBody?: unknown; body?: unknown }
  for (const kept of [rawBody, body]) {
    if (kept instanceof Uint8Array) return new Uint8Array(kept)
    if (typeof kept === 'string') return kept
  }
  return body === undefined ? null : JSON.stringify(body)
}

/** Whether a request has announced a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0
}

async function write(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  const { body, headers, status } = response
  const head = [...headers].flat()
  // The server does not wait long for the rest of an unread body.
  const unread = !incoming.complete
  if (unread) head.push('connection', 'close')
  if (gone.aborted || incoming.method === 'HEAD') {
    await body?.cancel(gone.reason)
    outgoing.writeHead(status, head).end()
  } else if (
    !body ||
    headers.get('content-type')?.startsWith('application/json') ||
    (unread && status >= 400)
  ) {
    // A complete body, including an error message, is sent with a length and in one packet.
    const bytes = new Uint8Array(await response.arrayBuffer())
    const counted = headers.has('content-length') || status === 204 || status === 304
    if (!counted) head.push('content-length', String(bytes.length))
    outgoing.writeHead(status, head)
    if (unread) {
      outgoing.flushHeaders()
      outgoing.write(bytes)
      await discard(incoming)
      outgoing.end()
    } else outgoing.end(bytes)
  } else {
    outgoing.writeHead(status, head).flushHeaders()
    await stream(body, outgoing, gone)
    outgoing.end()
  }
}

/**
 * Reads and discards what a client still sends during the response, for a limited time: closing
 * immediately would reset the connection, and the client might never see the response.
 */
async function discard(incoming: IncomingMessage): Promise<void> {
  const read = (): Promise<void> =>
    new Promise((resolve) => {
      incoming.removeAllListeners('data').once('end', resolve).once('close', resolve).resume()
    })
  await withTimeout(LINGER_MS, read).catch(() => {})
}

async function stream(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  const reader = body.getReader()
  const cancel = (): void => void reader.cancel(gone.reason).catch(() => {})
  gone.addEventListener('abort', cancel, { once: true })
  for (;;) {
    const { done, value } = await reader.read()
    if (done || gone.aborted) return
    if (!outgoing.write(value)) await drained(outgoing, gone)
  }
}

/** Waits until the client has received what was written, or has disconnected. */
function drained(outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (gone.aborted) return resolve()
    const done = (): void => {
      outgoing.off('drain', done)
      gone.removeEventListener('abort', done)
      resolve()
    }
    outgoing.once('drain', done)
    gone.addEventListener('abort', done, { once: true })
  })
}
