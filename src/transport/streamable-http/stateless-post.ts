/**
 * A POST of a revision without sessions: every request says all there is to know, and its headers
 * repeat it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { Cancellation } from '../../patterns/cancellation.ts'
import {
  HEADER_MISMATCH,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  McpError,
  METHOD_NOT_FOUND,
  MISSING_REQUIRED_CLIENT_CAPABILITY,
  ProtocolError,
} from '../../protocol/errors.ts'
import { HEADER_METHOD, singleValue } from '../../protocol/headers.ts'
import { errorResponse, type Answer, type JsonRpcRequest } from '../../protocol/jsonrpc.ts'
import { dispatch, requireMethod } from '../../server/engine/dispatch.ts'
import type { Caller, Exchange } from '../../server/request/exchange.ts'
import { readRequestMeta, requireStatelessRevision } from '../../server/request/request-meta.ts'
import { checkName, checkParams, checkSame } from './header-checks.ts'
import type { Host, Incoming } from './incoming.ts'
import { refuse, refuseInvalid } from '../http/http-error.ts'
import { plainStream, Reply } from './reply.ts'

/**
 * Answers a request that describes itself.
 *
 * @throws {Refusal} when something that comes before dispatch is wrong, in the spec's order.
 */
export async function postStateless(
  { host, request, version, accept, caller }: Incoming,
  message: JsonRpcRequest,
): Promise<Response> {
  const streams = accept.events && !host.options.jsonOnly
  const { id, method } = message
  const listens = method === 'subscriptions/listen'
  const { revision, client, logLevel } = refuseInvalid(
    () => check(host, request, message, version, caller),
    id,
  )
  if (listens && !streams) {
    throw refuse(406, 'The answer is a "text/event-stream"', { id })
  }
  return new Promise((resolve, reject) => {
    const cancellation = new Cancellation(request)
    const reply = new Reply({
      respond: resolve,
      status: (response) => status(response, listens),
      report: (error) => host.server.report(error),
      keepAliveMs: host.options.keepAliveMs,
      caller,
      onExpired: (message) => {
        // A listener still gets its closing result
        if (!listens) reply.finish(errorResponse(id, { code: INVALID_REQUEST, message }))
        cancellation.cancel(new McpError('ABORTED', message))
      },
      onGone: (reason) => cancellation.cancel(reason),
      stream: streams ? plainStream : undefined,
    })
    const exchange: Exchange = {
      revision,
      client,
      logLevel,
      caller,
      auth: host.options.auth,
      cancellation,
      ending: host.ending,
      changes: host.changes,
      rounds: host.rounds,
      send: (notification) => (cancellation.cancelled ? undefined : reply.send(notification)),
    }
    dispatch(host.server, message, exchange)
      .then((response) => {
        cancellation.settle()
        reply.finish(response)
      })
      .catch(reject)
  })
}

function check(
  { server, options }: Host,
  request: Request,
  message: JsonRpcRequest,
  version: string | null,
  caller: Caller,
): Pick<Exchange, 'revision' | 'client' | 'logLevel'> {
  const { method, params } = message
  const { headers } = request
  const bare = options.isBare?.(request)
  if (version === null && !bare) {
    throw new ProtocolError(HEADER_MISMATCH, 'The "MCP-Protocol-Version" header is missing')
  }
  const { version: stated, client, logLevel } = readRequestMeta(params)
  if (!bare) checkSame('MCP-Protocol-Version', version, stated)
  const revision = requireStatelessRevision(server.revisions, stated)
  if (!bare) checkSame('Mcp-Method', singleValue(headers, HEADER_METHOD), method)
  const facts = requireMethod(server, method, revision)
  if (bare) return { revision, client, logLevel }
  checkName(headers, message, facts)
  if (method === 'tools/call') {
    const tool = server.tools.find(params?.name as string, { ...caller, client })
    if (tool) checkParams(headers, tool.headerParams, params?.arguments)
  }
  return { revision, client, logLevel }
}

function status(response: Answer, listens: boolean): number {
  if (!('error' in response)) return 200
  const { code } = response.error
  // Changes are told by others, who may not be there now.
  return listens && code === INTERNAL_ERROR ? 503 : (STATUS[code] ?? 200)
}

const STATUS: Readonly<Record<number, number>> = {
  [METHOD_NOT_FOUND]: 404,
  [MISSING_REQUIRED_CLIENT_CAPABILITY]: 400,
  [HEADER_MISMATCH]: 400,
}
