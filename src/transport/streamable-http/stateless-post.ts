/**
 * A POST of a revision without sessions: every request says all there is to know, and its headers
 * repeat it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  McpError,
  METHOD_NOT_FOUND,
  MISSING_REQUIRED_CLIENT_CAPABILITY,
  ProtocolError,
} from '../../protocol/errors.ts'
import { decodeHeaderValue, HEADER_METHOD, HEADER_NAME } from '../../protocol/headers.ts'
import type { JsonRpcRequest, JsonRpcResponse } from '../../protocol/jsonrpc.ts'
import type { MethodFacts } from '../../protocol/methods.ts'
import { dispatch, requireMethod } from '../../server/dispatch.ts'
import type { Exchange } from '../../server/exchange.ts'
import { readRequestMeta, requireStatelessRevision } from '../../server/request-meta.ts'
import type { ServerDefinition } from '../../server/server.ts'
import type { Incoming } from './host.ts'
import { Refusal } from './refusal.ts'
import { Reply } from './reply.ts'

/**
 * Answers a request that describes itself.
 *
 * @throws {Refusal} when something that comes before dispatch is wrong, in the spec's order.
 */
export async function postStateless(
  { host, request, version, accept, caller }: Incoming,
  message: JsonRpcRequest,
): Promise<Response> {
  const facts = check(host.server, request, message, version)
  return new Promise((resolve) => {
    const gone = new AbortController()
    const leave = (): void => gone.abort(new McpError('ABORTED', 'The client went away'))
    const reply = new Reply({
      respond: resolve,
      status,
      keepAliveMs: host.options.keepAliveMs,
      onGone: leave,
      stream:
        accept.events && !host.options.jsonOnly
          ? (events) => ({
              send: (sent) => events.send({ data: JSON.stringify(sent) }),
              end: () => events.close(),
            })
          : undefined,
    })
    request.signal.addEventListener('abort', leave)
    const exchange: Exchange = {
      ...facts,
      caller,
      signal: gone.signal,
      ending: host.ending,
      rounds: host.rounds,
      send: (notification) => (gone.signal.aborted ? undefined : reply.send(notification)),
    }
    void dispatch(host.server, message, exchange).then((response) => {
      request.signal.removeEventListener('abort', leave)
      reply.finish(response)
    })
  })
}

function check(
  server: ServerDefinition,
  { headers }: Request,
  message: JsonRpcRequest,
  version: string | null,
): Pick<Exchange, 'revision' | 'client' | 'logLevel'> {
  const { id, method, params } = message
  try {
    if (version === null) throw mismatch('The "MCP-Protocol-Version" header is missing')
    const { version: stated, client, logLevel } = readRequestMeta(params)
    if (version !== stated) {
      throw mismatch('The "MCP-Protocol-Version" header differs from the body')
    }
    const revision = requireStatelessRevision(server.revisions, stated)
    if (headers.get(HEADER_METHOD) !== method) {
      throw mismatch('The "Mcp-Method" header is missing or differs from the body')
    }
    checkName(headers, message, requireMethod(server, method, { revision }))
    return { revision, client, logLevel }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw new Refusal(error.code === METHOD_NOT_FOUND ? 404 : 400, error, { id })
  }
}

function checkName(
  headers: Headers,
  { method, params }: JsonRpcRequest,
  { nameParam }: MethodFacts,
): void {
  if (!nameParam) return
  const name = params?.[nameParam]
  if (typeof name !== 'string') {
    throw new ProtocolError(INVALID_PARAMS, `"${method}" needs a "${nameParam}"`)
  }
  const header = headers.get(HEADER_NAME)
  if (header === null || decodeHeaderValue(header) !== name) {
    throw mismatch('The "Mcp-Name" header is missing or differs from the body')
  }
}

function mismatch(message: string): ProtocolError {
  return new ProtocolError(HEADER_MISMATCH, message)
}

/** The status of a response that nothing was sent before. */
function status(response: JsonRpcResponse): number {
  if (!('error' in response)) return 200
  return STATUS[response.error.code] ?? 200
}

const STATUS: Readonly<Record<number, number>> = {
  [METHOD_NOT_FOUND]: 404,
  [MISSING_REQUIRED_CLIENT_CAPABILITY]: 400,
  [HEADER_MISMATCH]: 400,
}
