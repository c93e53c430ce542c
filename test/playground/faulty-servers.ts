// Servers that misbehave, each in one way, on ports of their own.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A JSON-RPC message, as far as these servers read it. */
export interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly name?: string }
}

/** Answers a request: with a result or an error, with a status, or with `undefined` if it has answered by itself. */
export type Answer = (
  message: Message,
  request: IncomingMessage,
  response: ServerResponse,
) => object | number | undefined

/** A server that is running. */
export interface FaultyServer {
  readonly url: string
  close(): void
}

const allowed = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id',
  'access-control-expose-headers': 'mcp-session-id, www-authenticate',
}

/** Returns the result of `initialize`, of a server with tools. */
export const initialized = (protocolVersion = '2025-11-25'): object => ({
  result: {
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'faulty', version: '1.0.0' },
  },
})

/** Starts a server of older revisions that allows pages of other origins. */
export async function startFaulty(
  answer: Answer,
  headers: Readonly<Record<string, string>> = {},
): Promise<FaultyServer> {
  const http = createServer((request, response) => {
    void respond(request, response)
  })
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries({ ...allowed, ...headers })) {
      response.setHeader(name, value)
    }
    const { method } = request
    if (method === 'OPTIONS') return void response.writeHead(204).end()
    const message = method === 'POST' ? parse(await text(request)) : {}
    const given = message ? answer(message, request, response) : parseError
    if (given === undefined) return
    if (typeof given === 'number') return void response.writeHead(given).end()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message?.id ?? null, ...given }))
  }
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close() {
      http.closeAllConnections()
      http.close()
    },
  }
}

const parseError = { error: { code: -32700, message: 'Parse error' } }

function parse(body: string): Message | undefined {
  try {
    return JSON.parse(body) as Message
  } catch {
    return undefined
  }
}

/** Answers what every server of tools answers; the methods in `own` are answered by these. */
export function answers(own: Readonly<Record<string, Answer>>): Answer {
  return (message, request, response) => {
    const { id, method = '' } = message
    const special = own[method]
    if (special) return special(message, request, response)
    if (request.method !== 'POST') return 405
    if (id === undefined) return 202
    if (method === 'initialize') return initialized()
    return { error: { code: -32601, message: 'Method not found' } }
  }
}

/** Lists one tool without arguments. */
export const listPlain: Answer = () => {
  return { result: { tools: [{ name: 'plain', inputSchema: { type: 'object' } }] } }
}

/** A tool whose schema has a type that does not exist. */
export const invalidTool = {
  name: 'create',
  inputSchema: {
    type: 'object',
    properties: { customer: { type: 'text' } },
    required: ['amount'],
  },
}

/** Answers with a stream that never ends. */
export const endless: Answer = (_message, _request, response) => {
  response.setHeader('content-type', 'text/event-stream')
  response.write(': alive\n\n')
  return undefined
}

/** Requires authorization, with metadata of another server. */
export const otherResource: Answer = (_message, request) => {
  if (request.url !== '/.well-known/oauth-protected-resource/mcp') return 401
  return {
    resource: 'https://other.example/mcp',
    authorization_servers: ['https://other.example'],
  }
}

/** Creates the answers of a server that loses its session at the first call. */
export function forgetful(): Answer {
  let calls = 0
  return answers({
    'tools/list': listPlain,
    initialize(_message, _request, response) {
      response.setHeader('mcp-session-id', `session-${calls}`)
      return initialized()
    },
    'tools/call'(_message, _request, response) {
      if (++calls > 1) return { result: { content: [{ type: 'text', text: 'Hello' }] } }
      response.statusCode = 404
      return { error: { code: -32001, message: 'Session not found' } }
    },
  })
}
