/**
 * Records questions that end without a message: the user declines or cancels them, or the connection is lost.
 * The messages alone would leave them open, as the server receives no answer.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { SdkError } from 'edgewise/browser'
import { middleware, type ClientMiddleware } from 'edgewise/client'
import { now, type UnansweredRecord } from './record.ts'

/**
 * Creates the middleware of a client, which must be the first of its extensions.
 *
 * @param add Receives a record if a request fails on this side: a question, or the call that asked it.
 */
export function recordUnanswered(add: (record: UnansweredRecord) => void): ClientMiddleware {
  const { attach } = middleware(async ({ method, params }, { options }, next) => {
    try {
      return await next()
    } catch (error) {
      // Notifications have no options, and the server receives errors of its own
      if (options && error instanceof SdkError) {
        add({ type: 'unanswered', at: now(), method, params, code: error.code })
      }
      throw error
    }
  })
  // Every message passes through it, in both directions
  return { attach: (connection) => attach(connection, '*') }
}
