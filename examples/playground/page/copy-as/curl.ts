/**
 * Requests as commands of curl.
 *
 * @see https://curl.se/docs/manpage.html
 */
import {
  encodeHeaderParams,
  encodeHeaderValue,
  findHeaderParams,
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_PROTOCOL_VERSION,
} from '#internal/protocol'
import type { JsonObject } from 'edgewise/browser'
import { paramsOf, variableHeaders, type Operation, type ServerAddress } from './operation.ts'
import { quoteReferences, quoteWord } from './shell.ts'

/** An HTTP request. */
export interface CurlRequest {
  url: string
  /** @default 'POST' with a body, otherwise 'GET' */
  method?: string
  headers: Readonly<Record<string, string>>
  /** More headers, whose values refer to variables: `${TOKEN}`. In other headers, such text is not replaced. */
  variables?: Readonly<Record<string, string>>
  body?: string
}

const CLIENT = { name: 'curl', version: '1.0.0' }
const TYPES = {
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
}

/** The command that sends a request. */
export function curl(
  { url, method, headers, variables = {}, body }: CurlRequest,
  options = '-sS',
): string {
  const usual = body === undefined ? 'GET' : 'POST'
  const lines = [
    [
      'curl',
      options,
      // Otherwise curl would send a request for each part in brackets
      /[[\]{}]/.test(url) ? '--globoff' : '',
      method !== undefined && method !== usual ? `-X ${quoteWord(method)}` : '',
      url.startsWith('-') ? `--url ${quoteWord(url)}` : quoteWord(url),
    ]
      .filter((word) => word !== '')
      .join(' '),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoteWord(`${name}: ${value}`)}`),
    ...Object.entries(variables).map(
      ([name, value]) => `-H ${quoteReferences(`${name}: ${value}`)}`,
    ),
    ...(body === undefined ? [] : [`--data-raw ${quoteWord(body)}`]),
  ]
  return lines.join(' \\\n  ')
}

/** The commands that send a request of MCP. In revisions with sessions, they also open and end a session. */
export function curlScript(server: ServerAddress, operation: Operation): string {
  return server.revision >= '2026-07-28'
    ? modernRequest(server, operation)
    : sessionScript(server, operation)
}

function modernRequest(server: ServerAddress, operation: Operation): string {
  const { url, revision } = server
  const { method } = operation
  const name = method === 'resources/read' ? operation.uri : operation.name
  const _meta = {
    [META_PROTOCOL_VERSION]: revision,
    [META_CLIENT_INFO]: CLIENT,
    [META_CLIENT_CAPABILITIES]: {},
  }
  const headers = {
    ...TYPES,
    'MCP-Protocol-Version': revision,
    'Mcp-Method': method,
    'Mcp-Name': encodeHeaderValue(name),
    ...argumentHeaders(operation),
  }
  const body = message(method, { ...paramsOf(operation), _meta }, 1)
  return curl({ url, headers, variables: variableHeaders(server), body })
}

/** The headers that repeat arguments of a tool. */
function argumentHeaders(operation: Operation): Record<string, string> {
  if (operation.method !== 'tools/call' || !operation.inputSchema) return {}
  const { params } = findHeaderParams(operation.inputSchema)
  return encodeHeaderParams(params, operation.arguments)
}

/** The commands of a session. Servers without sessions ignore its empty id. */
function sessionScript(server: ServerAddress, operation: Operation): string {
  const { url, revision } = server
  const headers = TYPES
  const variables = variableHeaders(server)
  const capabilities = {}
  const params = { protocolVersion: revision, capabilities, clientInfo: CLIENT }
  const initialize = curl(
    { url, headers, variables, body: message('initialize', params, 1) },
    '-sS -D - -o /dev/null',
  )
  const version = revision >= '2025-06-18' && { 'MCP-Protocol-Version': revision }
  const session = {
    url,
    headers: { ...headers, ...version },
    variables: { ...variables, 'Mcp-Session-Id': '${SESSION}' },
  }
  return [
    '# Open a session',
    `SESSION=$(${initialize} | tr -d '\\r' | awk 'tolower($1) == "mcp-session-id:" { print $2 }')`,
    curl({ ...session, body: message('notifications/initialized') }),
    '# Send the request',
    curl({ ...session, body: message(operation.method, paramsOf(operation), 2) }),
    '# End the session',
    curl({ ...session, method: 'DELETE' }),
  ].join('\n')
}

function message(method: string, params?: JsonObject, id?: number): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    ...(id !== undefined && { id }),
    method,
    ...(params && { params }),
  })
}
