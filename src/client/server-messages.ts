/**
 * What the server sends on its own: requests, which sessions have, and notifications.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#messages
 */
import { McpError } from '../protocol/errors.ts'
import { resultResponse } from '../protocol/jsonrpc.ts'
import type { LoggingMessageParams, ProgressParams } from '../protocol/types.ts'
import type { Connection } from './connection.ts'
import type { Incoming } from './features.ts'

/** Takes what every client takes, and leaves the rest to the features of this one. */
export function serverMessages(connection: Connection): Incoming {
  const { options } = connection
  return {
    request(message, call) {
      const { id, method } = message
      const { revision, serverCapabilities, answers } = connection
      // While it is not known yet what the server is, it may be one that pings
      if (revision.era === 'modern' && (serverCapabilities || method !== 'ping')) {
        const what = `The server may not request "${method}"`
        connection.problem(new McpError('INVALID_MESSAGE', what))
      } else if (method === 'ping') connection.respond(resultResponse(id, {}))
      else answers.request(message, call)
    },

    notification(message, call) {
      const { method, params = {} } = message
      const { answers, listening } = connection
      const said: unknown = params
      connection.hook(() => options.onNotification?.(message))
      if (method === 'notifications/progress') {
        // Progress of a request that is over, or never was, is of no interest
        connection.hook(() =>
          connection.calls.get(params.progressToken)?.progress(said as ProgressParams),
        )
      } else if (method === 'notifications/message') {
        connection.hook(() => call?.options.onLog?.(said as LoggingMessageParams))
        connection.hook(() => options.onLog?.(said as LoggingMessageParams))
      } else if (method === 'notifications/cancelled') {
        listening?.ended(params.requestId)
        answers.cancelled(params.requestId, params.reason)
      } else listening?.take(message)
    },
  }
}
