/**
 * The document in which an origin lists its receivers of events.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { WebhookOptions } from './options.ts'
import { isBelow } from './callback.ts'

/**
 * A function for the option `isVerified` of `webhooks`. It accepts a URL without a challenge if the origin of
 * the URL lists the URL's path, or a path above it, in `/.well-known/mcp-webhook-receiver.json`, such as
 * `{ "receivers": ["/hooks/"] }`.
 *
 * @example
 * ```ts
 * import { events, listedReceiver, webhooks } from 'edgewise/events'
 * import { webhookFetch } from 'edgewise/node'
 *
 * const fetch = webhookFetch()
 * const invoices = events({ webhooks: webhooks({ fetch, isVerified: listedReceiver }) })
 * ```
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export const listedReceiver: NonNullable<WebhookOptions['isVerified']> = async (
  { origin, pathname },
  _principal,
  readDocument,
) => {
  const { receivers } = await readDocument(`${origin}/.well-known/mcp-webhook-receiver.json`)
  if (!Array.isArray(receivers)) return false
  return receivers.some((path: unknown) => {
    return typeof path === 'string' && path.startsWith('/') && isBelow(pathname, path)
  })
}
