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

/** The response, and the log line, where a middleware has read the body and left nothing. */
const ALREADY_READ =
  'Something has read the body and left none in "req.body": mount toNodeListener before it'

/** The headers that describe how a body was sent. */
const FRAMING = ['content-length', 'content-encoding', 'transfer-encoding']

/** How long a client may go on sending once it has its answer, in milliseconds. */
const LINGER_MS = 1000

/**
 * Turns a handler into a listener for `node:http`, which is also a middleware for Express and the
 * like. A body that a middleware such as `express.json()` has read is taken from `req.rawBody` or
 * `req.body`; the handler's `maxBodyBytes` applies to it too.
 *
 * The handler also gets the remote address, for the limits of callers without a principal.
 *
 * Bodies stream both ways with backpressure. A client that goes away before the response is
 * complete aborts `request.signal` and cancels the response's body.
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
  // A connection that breaks shows as "close"; unheard errors would end the program.
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
    // Too late for a status once the head is out; the client notices that the end is missing.
    if (outgoing.headersSent) outgoing.destroy()
    else outgoing.writeHead(500).end()
  }
}

/** The Web request; nothing when the method, the host or the target makes none. */
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
  // Express and its like cut the path they are mounted on from `url`.
  const target = (incoming as { originalUrl?: string }).originalUrl ?? incoming.url ?? '/'
  // The host decides, also where the target names another one.
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
  // They describe the bytes that were sent, which may have been compressed.
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
 * The body that a middleware has read: its bytes or text, or its value as JSON. `undefined` where
 * the body was not read; `null` where it is lost.
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
  // The rest of a body that nobody wanted to read is not waited for long.
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
    // What is there as a whole gets a length, and one packet; so does the reason of a refusal.
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
 * Takes what a client still sends while it gets its answer, for a while: who closes at once resets
 * the connection, and the client may never see the answer.
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

/** Waits until the client has taken what was written, or is gone. */
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
