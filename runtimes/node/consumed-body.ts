/**
 * Bodies that a middleware has read before the listener is called.
 *
 * @see https://expressjs.com/en/api.html#express.json
 */
import type { IncomingHttpHeaders } from 'node:http'

/** A request of `node:http` or `node:http2`, to which a middleware may have added the body. */
interface ConsumedMessage {
  readonly headers: IncomingHttpHeaders
  readonly readableEnded: boolean
  readonly rawBody?: unknown
  readonly body?: unknown
}

/**
 * Returns the bytes of a body that a middleware has already read. A parsed body is serialized as JSON again.
 *
 * @returns `undefined` if the body was not read; `null` if the middleware discarded it.
 */
export function consumedBody(incoming: ConsumedMessage): Buffer | undefined | null {
  if (!incoming.readableEnded || !hasBody(incoming)) return undefined
  const { rawBody, body = rawBody } = incoming
  for (const value of [rawBody, body]) {
    if (value instanceof Uint8Array || typeof value === 'string') return Buffer.from(value)
  }
  return body === undefined ? null : Buffer.from(JSON.stringify(body))
}

/** Whether the headers of a request announce a body. */
function hasBody({ headers }: ConsumedMessage): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0
}
