/** A protected server, and requests to it in both eras. */
import * as z from 'zod'
import type { ProtectedResourceOptions } from '../../src/protected-resource/options.ts'
import {
  createServer,
  type Context,
  type Handler,
  type HandlerOptions,
  type Server,
  type ServerOptions,
  serverObserver,
} from '../../src/presets/server.ts'
import { jwtTokens, protectedResource } from '../../src/protected-resource/index.ts'
import { recordOperations, type Ended } from '../observing.ts'
import { sessionHandler } from '../handler.ts'
import { initializeRequest } from '../transport/streamable-http/post.ts'
import { ISSUER, RESOURCE, type Issuer } from './issuer.ts'

/** A server whose tool `whoami` returns the caller, and whose tool `write` needs another scope. */
export function makeServer(options: ServerOptions = {}): { server: Server; seen: Context[] } {
  const seen: Context[] = []
  const server = createServer({ name: 'protected', version: '1.0.0' }, options)
  server.tool('whoami', {}, (_args, ctx) => {
    seen.push(ctx)
    return JSON.stringify({ principal: ctx.principal, ...ctx.auth })
  })
  server.tool('write', { scopes: ['notes:write'], input: z.object({}) }, (_args, ctx) => {
    seen.push(ctx)
    return 'Written'
  })
  return { server, seen }
}

/** A protected endpoint. */
export interface ProtectedEndpoint {
  handle: Handler
  seen: Context[]
  errors: unknown[]
  observed: Ended[]
}

/** Protects the server. */
export function protect(
  issuer: Issuer | undefined,
  options: Partial<ProtectedResourceOptions> = {},
  handlerOptions: HandlerOptions = {},
): ProtectedEndpoint {
  const errors: unknown[] = []
  const { observer, ended: observed } = recordOperations()
  const { server, seen } = makeServer({
    onError: (error) => errors.push(error),
    observe: serverObserver(observer),
  })
  const protection = protectedResource({
    resource: RESOURCE,
    authorizationServers: [ISSUER],
    verify: jwtTokens(issuer && { fetch: issuer.fetch }),
    ...options,
  })
  const handle = sessionHandler(server, { ...handlerOptions, auth: protection })
  return { handle, seen, errors, observed }
}

/** Headers of a request. */
export type GivenHeaders = Record<string, string>

/** Calls a tool in the revision without sessions. */
export function call(
  handle: Handler,
  name: string,
  headers: GivenHeaders = {},
  url: string = RESOURCE,
): Promise<Response> {
  const params = {
    name,
    arguments: {},
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  }
  return send(
    handle,
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
      ...headers,
    },
    url,
  )
}

/** Sends any body. */
export function send(
  handle: Handler,
  body: unknown,
  headers: GivenHeaders = {},
  url: string = RESOURCE,
): Promise<Response> {
  const all = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  }
  return handle(new Request(url, { method: 'POST', headers: all, body: JSON.stringify(body) }))
}

/** Opens a session; its id. */
export async function open(
  handle: Handler,
  headers: GivenHeaders,
  revision?: string,
): Promise<string> {
  const response = await send(handle, initializeRequest(revision), headers)
  await response.text()
  return response.headers.get('mcp-session-id') ?? ''
}

/** The text that a tool gave. */
export async function textOf(response: Response): Promise<string> {
  const text = await response.text()
  const json = text.startsWith('{') ? text : (/data: (\{.*)/.exec(text)?.[1] ?? '')
  const message = JSON.parse(json) as { result: { content: { text: string }[] } }
  return message.result.content[0]?.text ?? ''
}

/** The parameters of the first challenge of a response, whose values are all quoted here. */
export function challengeOf(response: Response): Record<string, string> & { scheme: string } {
  const header = response.headers.get('www-authenticate') ?? ''
  const [scheme = '', rest = ''] = header.split(/ (.*)/s)
  const params = [...rest.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value])
  return { ...(Object.fromEntries(params) as Record<string, string>), scheme }
}

/** The header of a bearer. */
export const bearer = (token: string): GivenHeaders => ({ authorization: `Bearer ${token}` })
