/**
 * Handles a POST in a revision without sessions: each request contains the version and the client's capabilities, and
 * its headers repeat parts of its body.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { andThen } from '../../patterns/awaitable.ts'
import { Cancellation } from '../../patterns/cancellation.ts'
import { SdkError, ProtocolError } from '../../protocol/errors.ts'
import {
  HEADER_MISMATCH,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  MISSING_REQUIRED_CLIENT_CAPABILITY,
} from '../../protocol/error-codes.ts'
import { HEADER_METHOD, singleValue } from '../../protocol/headers.ts'
import { errorResponse, type Answer } from '../../protocol/jsonrpc.ts'
import type { JsonRpcRequest } from '../../protocol/types.ts'
import type { MethodTarget } from '../../server/definition.ts'
import { dispatch } from '../../server/engine/dispatch.ts'
import { resolveMethod } from '../../server/engine/method.ts'
import type { Exchange } from '../../server/request/exchange.ts'
import { readRequestMeta, requireStatelessRevision } from '../../server/request/request-meta.ts'
import { checkName, checkSame } from './header-checks.ts'
import { invalidRequest } from '../http/http-error.ts'
import type { IncomingRequest } from './incoming.ts'
import { Reply } from './reply.ts'

/**
 * Handles a stateless request.
 *
 * @throws {ProtocolError} If the validation before dispatch fails. The checks run in the order that the specification
 * requires.
 * @throws {HttpError} 406 when the response is a stream that the client does not accept.
 */
export function postStateless(
  incoming: IncomingRequest,
  message: JsonRpcRequest,
): Promise<Response> {
  const { endpoint, caller } = incoming
  const { server, options, hooks, shutdown, askMode } = endpoint
  const { id, method } = message
  const isListen = method === 'subscriptions/listen'
  const { revision, client, logLevel, target } = readRequest(incoming, message)
  return new Promise((respond, reject) => {
    const cancellation = new Cancellation(incoming.request)
    const reply = new Reply({
      incoming,
      respond,
      status: (response) => statusOf(response, isListen),
      onExpired: (reason) => {
        // A `subscriptions/listen` request is answered with its closing result instead of an error
        if (!isListen) reply.finish(errorResponse(id, { code: INVALID_REQUEST, message: reason }))
        cancellation.cancel(new SdkError('ABORTED', reason))
      },
      onDisconnect: (reason) => cancellation.cancel(reason),
    })
    if (isListen && !reply.canStream) {
      throw invalidRequest(406, 'The client must accept "text/event-stream"', { id })
    }
    const exchange: Exchange = {
      revision,
      client,
      logLevel,
      caller,
      authorizer: options.auth,
      cancellation,
      canStream: reply.canStream,
      shutdown,
      changes: hooks.changeSource,
      askMode,
      send: (notification) => (cancellation.cancelled ? undefined : reply.send(notification)),
    }
    const finish = (response: Answer): void => {
      cancellation.release()
      reply.finish(response)
    }
    void andThen(dispatch(server, message, exchange, target), finish, reject)
  })
}

/**
 * Reads the `_meta` of a request, finds its method and tool, and checks that the headers match the body.
 */
function readRequest(
  { endpoint, request, version, caller }: IncomingRequest,
  message: JsonRpcRequest,
): Pick<Exchange, 'revision' | 'client' | 'logLevel'> & { readonly target: MethodTarget } {
  const { server, hooks } = endpoint
  const { method, params } = message
  const { headers } = request
  const omitsHeaders = hooks.clientOmitsHeaders?.(request)
  if (version === null && !omitsHeaders) {
    throw new ProtocolError(HEADER_MISMATCH, 'The "MCP-Protocol-Version" header is missing')
  }
  const { version: metaVersion, client, logLevel } = readRequestMeta(params)
  if (!omitsHeaders) checkSame('MCP-Protocol-Version', version, metaVersion)
  const revision = requireStatelessRevision(server.revisions, metaVersion)
  if (!omitsHeaders) checkSame('Mcp-Method', singleValue(headers, HEADER_METHOD), method)
  const { facts, run } = resolveMethod(server, method, revision)
  let tool: MethodTarget['tool']
  if (!omitsHeaders) {
    checkName(headers, message, facts)
    if (method === 'tools/call') tool = server.tools.find(params?.name as string, caller, client)
    if (tool) server.headerParams.check(headers, tool.headerParams, params?.arguments)
  }
  return { revision, client, logLevel, target: { facts, run, tool } }
}

/** The HTTP status of a response that is sent as JSON. */
function statusOf(response: Answer, isListen: boolean): number {
  if (!('error' in response)) return 200
  const { code } = response.error
  // The source of changes may be temporarily unavailable
  return isListen && code === INTERNAL_ERROR ? 503 : (STATUS_OF_ERROR[code] ?? 200)
}

const STATUS_OF_ERROR: Readonly<Record<number, number>> = {
  [METHOD_NOT_FOUND]: 404,
  [MISSING_REQUIRED_CLIENT_CAPABILITY]: 400,
  [HEADER_MISMATCH]: 400,
}
