/**
 * A client without handlers rejects all requests of the server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts'
import { SdkError } from '../../protocol/errors.ts'
import { errorResponse } from '../../protocol/jsonrpc.ts'
import type { Connection } from '../connection.ts'
import type { InputHandlers } from '../features.ts'

/** Rejects every request. No capability was declared, so no server should send one. */
export function noInputHandlers(connection: Connection): InputHandlers {
  return {
    answerRequest({ id, method }) {
      const error = { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` }
      connection.respond(errorResponse(id, error))
    },
    answerInputs(method) {
      const message = `"${method}" asks for input, which requires "connect" of "edgewise/client"`
      throw new SdkError('INVALID_MESSAGE', message)
    },
  }
}
