/** Posts messages to a handler, as clients of both eras do. */
import { META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION } from '../../../src/protocol/meta.ts'
import type {
  ClientCapabilities,
  JsonObject,
  JsonRpcErrorResponse,
  JsonRpcMessage,
  JsonRpcResultResponse,
} from '../../../src/index.ts'
import type { Handler } from '../../../src/presets/server.ts'

const URL = 'http://localhost/mcp'
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

/** Posts any body. Headers with the value `undefined` are left out. */
export function postRaw(
  handle: Handler,
  body: string,
  headers: Record<string, string | undefined> = {},
): Promise<Response> {
  const given = Object.entries({ ...HEADERS, ...headers }).filter(
    ([, value]) => value !== undefined,
  )
  return handle(new Request(URL, { method: 'POST', headers: given, body }))
}

/** Posts JSON. */
export function post(
  handle: Handler,
  body: unknown,
  headers: Record<string, string | undefined> = {},
): Promise<Response> {
  return postRaw(handle, JSON.stringify(body), headers)
}

/** The one message that a response holds: its JSON, or the last event of its stream. */
export async function lastMessage(
  response: Response,
): Promise<JsonRpcResultResponse & JsonRpcErrorResponse> {
  const messages = await allMessages(response)
  return messages.at(-1) as JsonRpcResultResponse & JsonRpcErrorResponse
}

/** Every message that a response holds. */
export async function allMessages(response: Response): Promise<JsonRpcMessage[]> {
  const body = await response.text()
  if (response.headers.get('content-type') === 'application/json') {
    return [JSON.parse(body) as JsonRpcMessage]
  }
  return body
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line.length > 6)
    .map((line) => JSON.parse(line.slice(6)) as JsonRpcMessage)
}

/** A request of 2026-07-28 with its `_meta`. */
export function modernRequest(
  method: string,
  params: JsonObject = {},
  capabilities: ClientCapabilities = {},
): { jsonrpc: '2.0'; id: number; method: string; params: JsonObject } {
  const _meta = {
    [META_PROTOCOL_VERSION]: '2026-07-28',
    [META_CLIENT_CAPABILITIES]: capabilities,
    ...(params._meta as JsonObject | undefined),
  }
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }
}

/** The headers that repeat a request of 2026-07-28. */
export function modernHeaders(method: string, name?: unknown): Record<string, string | undefined> {
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': typeof name === 'string' ? name : undefined,
  }
}

/** Posts a request of 2026-07-28 with the headers that it needs. */
export function postModern(
  handle: Handler,
  method: string,
  params: JsonObject = {},
  capabilities: ClientCapabilities = {},
): Promise<Response> {
  const name = method === 'resources/read' ? params.uri : params.name
  return post(
    handle,
    modernRequest(method, params, capabilities),
    modernHeaders(method, method.includes('/') ? name : undefined),
  )
}

/** The request that opens a session; params take the place of those that it has. */
export function initializeRequest(
  protocolVersion = '2025-11-25',
  params: JsonObject = {},
): { jsonrpc: '2.0'; id: string; method: string; params: JsonObject } {
  const clientInfo = { name: 'test', version: '1' }
  return {
    jsonrpc: '2.0',
    id: 'init',
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo, ...params },
  }
}

/** Opens a session and returns a function that posts into it, with its id. */
export async function openSession(
  handle: Handler,
  protocolVersion = '2025-11-25',
  capabilities: ClientCapabilities = {},
): Promise<{
  id: string
  send: (message: unknown, headers?: Record<string, string | undefined>) => Promise<Response>
}> {
  const response = await post(handle, initializeRequest(protocolVersion, { capabilities }))
  const id = response.headers.get('mcp-session-id') ?? ''
  const send = (message: unknown, headers = {}): Promise<Response> =>
    post(handle, message, { 'mcp-session-id': id, ...headers })
  await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return { id, send }
}
