/**
 * Notifications that belong to the stream of a request: of `subscriptions/listen`, or of an extension.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { resultResponse } from '../../protocol/jsonrpc.ts'
import { META_SUBSCRIPTION_ID } from '../../protocol/meta.ts'
import type { JsonRpcNotification, Meta } from '../../protocol/types.ts'
import type { Connection } from '../connection.ts'

/** Passes a notification to the request that it belongs to, or ends that request. Ignores other notifications. */
export function receiveOnStream({ calls }: Connection, message: JsonRpcNotification): void {
  const { method, params = {} } = message
  const isEnd = method === 'notifications/cancelled'
  const id = isEnd ? params.requestId : (params._meta as Meta | undefined)?.[META_SUBSCRIPTION_ID]
  const call = calls.get(id)
  // Only a request with a stream has this option
  const onNotification = call?.options.onNotification
  if (!onNotification) return
  if (isEnd) call.resolve(resultResponse(call.message.id, {}))
  else onNotification(message)
}
