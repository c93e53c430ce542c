/**
 * Responds to clients that are still sending the body of their request, for example because it is
 * too long.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.6
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { withTimeout } from '#internal/patterns'

/** How long a client may keep sending after it received its response, in milliseconds. */
const LINGER_MS = 1000

/**
 * Writes a complete response. Then discards what the client sends, for a limited time, and closes
 * the connection. If the server closed the connection immediately, it would be reset, and the
 * client might not receive the response.
 */
export async function respondUnread(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  const head = [...response.headers].flat()
  head.push('connection', 'close')
  if (!response.headers.has('content-length')) head.push('content-length', String(bytes.length))
  outgoing.writeHead(response.status, head).flushHeaders()
  outgoing.write(bytes)
  const discard = (): Promise<void> =>
    new Promise((resolve) => {
      incoming.removeAllListeners('data').once('end', resolve).once('close', resolve).resume()
    })
  await withTimeout(LINGER_MS, discard).catch(() => {})
  outgoing.end()
}
