/**
 * The stream of a session that belongs to no request.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import type { Requester } from '../../../server/request/exchange.ts'
import type { ServerDefinition } from '../../../server/definition.ts'
import { isHidden } from '../../../server/features/subscriptions.ts'
import type { EventSinkOptions } from '../../http/server-sent-event.ts'

/**
 * The options of the stream that answers a GET, for every transport of it: a caller gets only what
 * it may see now, even if it could see more when it subscribed, or when the message was stored.
 */
export function standaloneStreamOptions(
  server: ServerDefinition,
  { keepAliveMs }: { readonly keepAliveMs?: number | undefined },
  requester: Requester,
): EventSinkOptions {
  return { keepAliveMs, caller: requester, hides: (data) => isHidden(server, data, requester) }
}
