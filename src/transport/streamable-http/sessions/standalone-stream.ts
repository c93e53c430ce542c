/**
 * The standalone stream of a session, for messages that belong to no request.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import type { Requester } from '../../../server/request/exchange.ts'
import type { ServerDefinition } from '../../../server/definition.ts'
import { isHidden } from '../../../server/features/subscriptions.ts'
import type { EventSinkOptions } from '../../http/server-sent-event.ts'

/**
 * Creates the options of the standalone stream, for every transport. The stream delivers only messages
 * that the caller may see now, even if the caller had more permissions when it subscribed or when the
 * message was stored.
 */
export function standaloneStreamOptions(
  server: ServerDefinition,
  { keepAliveMs }: { readonly keepAliveMs?: number | undefined },
  requester: Requester,
): EventSinkOptions {
  return { keepAliveMs, caller: requester, hides: (data) => isHidden(server, data, requester) }
}
