/**
 * Recovers from a failed request, so that it can be retried. Recovery sends its own requests with
 * `connection.start` instead of `request.ts`, so that it never starts another recovery.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
import { statusOf, type SdkError, type ProtocolError } from '../protocol/errors.ts'
import { HEADER_MISMATCH, UNSUPPORTED_PROTOCOL_VERSION } from '../protocol/error-codes.ts'
import type { MethodFacts } from '../protocol/methods.ts'
import { checkResult } from './check-result.ts'
import type { Connection } from './connection.ts'
import { isLegacyOverHttp } from './discover.ts'
import type { RequestOptions } from './request-options.ts'
import { walkItems } from './pagination.ts'
import { restoreSession } from './restore-session.ts'

/** Recovers from a failed request if possible. Returns whether to retry it. */
export async function recover(
  connection: Connection,
  method: string,
  error: unknown,
  facts: MethodFacts | undefined,
  options: RequestOptions,
): Promise<boolean> {
  const { code, data } = error as SdkError | ProtocolError
  // The client assumed a modern revision, and the server has answered like a legacy server
  const isLegacyAfterAll =
    !connection.isConfirmed && isLegacyOverHttp(error) && statusOf(error) !== 200
  if (code === 'SESSION_LOST') await restoreSession(connection)
  else if (code === HEADER_MISMATCH && method === 'tools/call') {
    await refreshTools(connection, options)
  } else if (code === UNSUPPORTED_PROTOCOL_VERSION || isLegacyAfterAll) await connection.negotiate()
  else {
    // A network error has data if the connection was lost during the response
    const isResponseLost = code === 'NETWORK' && data !== undefined
    // The server may have executed the request. Methods with cacheable results have no side effects
    return isResponseLost && facts?.cacheable === true
  }
  return true
}

/** Lists all tools again, because the server rejected the headers of a tool call. */
async function refreshTools(connection: Connection, options: RequestOptions): Promise<void> {
  const method = 'tools/list'
  connection.cache?.forget(method)
  const list = walkItems(connection, method, async (params) => {
    const call = connection.start(method, params, { ...options, onProgress: undefined })
    return checkResult(connection, method, await call.result, params)
  })
  // Reading the list is enough: `checkResult` stores the tools of each page
  for await (const _ of list);
}
