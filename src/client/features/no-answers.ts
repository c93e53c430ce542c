/**
 * What a client without handlers answers to what a server asks: that it does not.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { McpError, METHOD_NOT_FOUND } from '../../protocol/errors.ts'
import { errorResponse } from '../../protocol/jsonrpc.ts'
import type { Connection } from '../connection.ts'
import type { Answers } from '../features.ts'

/** Refuses everything; nothing of it was declared, so that no server should ask. */
export function noAnswers(connection: Connection): Answers {
  return {
    answering: false,
    request({ id, method }) {
      const error = { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` }
      connection.respond(errorResponse(id, error))
    },
    inputs(method) {
      const what = `"${method}" asks, and this client answers nothing`
      return Promise.reject(new McpError('INVALID_MESSAGE', what))
    },
    cancelled: () => {},
    close: () => {},
  }
}
