/** The requests of the benchmarks, for both eras. */
import type { Handler } from './subject.ts'

/** The endpoint of all requests that stay in the process. */
export const url = 'http://localhost/mcp'

const client = { name: 'bench', version: '1.0.0' }
const modernRevision = '2026-07-28'

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': modernRevision,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': client,
}

const baseHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

/** The `initialize` request of the legacy revisions. */
export const initialize = {
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: client },
} as const

/** The notification after a legacy `initialize`. */
export const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' } as const

/** One request, repeated with new ids. */
export interface Template {
  headers: Record<string, string>
  /** The body with this id. */
  body: (id: number) => string
}

/** The outcome of a legacy handshake. */
export interface Handshake {
  /** The revision that the server chose. */
  revision: string
  /** Undefined if the server uses no session. */
  sessionId: string | undefined
}

/**
 * Prepares a request.
 *
 * @param legacy The handshake of this client; undefined for a modern request.
 */
export function template(
  method: string,
  params: Record<string, unknown>,
  legacy: Handshake | undefined,
): Template {
  const modern = legacy === undefined
  const name = params['name']
  const headers: Record<string, string> = {
    ...baseHeaders,
    'mcp-protocol-version': legacy?.revision ?? modernRevision,
    ...(modern && { 'mcp-method': method }),
    ...(modern && typeof name === 'string' && { 'mcp-name': name }),
    ...(legacy?.sessionId !== undefined && { 'mcp-session-id': legacy.sessionId }),
  }
  const text = JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method,
    params: modern ? { ...params, _meta: { ...Object(params['_meta']), ...modernMeta } } : params,
  })
  const [head = '', tail = ''] = text.split('"id":0', 2)
  return { headers, body: (id) => `${head}"id":${id}${tail}` }
}

/** Performs the legacy handshake. */
export async function handshake(handle: Handler, endpoint = url): Promise<Handshake> {
  const post = (message: object, headers: Record<string, string>): Promise<Response> =>
    handle(new Request(endpoint, { method: 'POST', headers, body: JSON.stringify(message) }))
  const response = await post(initialize, baseHeaders)
  const text = await response.text()
  const revision = /"protocolVersion":"([^"]+)"/.exec(text)?.[1]
  if (!response.ok || revision === undefined) {
    throw new Error(`Initialize was answered ${response.status}: ${text}`)
  }
  const sessionId = response.headers.get('mcp-session-id') ?? undefined
  const accepted = await post(initialized, {
    ...baseHeaders,
    'mcp-protocol-version': revision,
    ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
  })
  await accepted.text()
  return { revision, sessionId }
}
