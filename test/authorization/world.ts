/**
 * A world to sign in to, behind `fetch`: an MCP server at `https://mcp.example/mcp`, its
 * authorization server at `https://as.example`, and a user who agrees to everything. All of it can be
 * replaced, request by request.
 */
import type { SignInOptions } from '../../src/authorization/sign-in.ts'
import {
  memoryTokenStore,
  signIn,
  type AuthorizationFlow,
  type SignIn,
  type TokenStore,
} from '../../src/authorization/index.ts'
import { connect, type Client, type ConnectOptions } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/index.ts'
import { createHandler, createServer, statefulSessions } from '../../src/presets/server.ts'

export const MCP = 'https://mcp.example/mcp'
export const ISSUER = 'https://as.example'
export const RESOURCE_METADATA = 'https://mcp.example/.well-known/oauth-protected-resource/mcp'
export const SERVER_METADATA = 'https://as.example/.well-known/oauth-authorization-server'
export const CALLBACK = 'http://127.0.0.1:8123/callback'

/** A request that a server received. */
export interface Seen {
  readonly method: string
  /** Without the query. */
  readonly url: string
  readonly query: Record<string, string>
  readonly headers: Headers
  /** The members of a body: of JSON, or of a form. */
  readonly body: JsonObject
}

export type Answer = (seen: Seen) => Response | Promise<Response>

/** What is known of an access token. */
export interface Given {
  readonly scopes: readonly string[]
  readonly resource: unknown
  readonly refreshToken: string
}

/** What differs from the usual world. */
export interface Differences {
  /** Answers instead of the world's own, by `GET https://…`. */
  readonly routes?: Record<string, Answer>
  /** More of the metadata. */
  readonly resource?: JsonObject
  readonly server?: JsonObject
  /** The challenge of a 401; nothing for none. */
  readonly challenge?: string | undefined
  /** The scopes that a tool call needs. */
  readonly callNeeds?: readonly string[]
  /** The granted subset of the requested scopes. */
  readonly grant?: (asked: string[]) => string[]
  /** More of what tokens come with. */
  readonly token?: JsonObject
}

export interface World {
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>
  readonly seen: readonly Seen[]
  /** The tokens that the MCP server accepts. */
  readonly valid: Map<string, Given>
  /** The refresh tokens that can be used, once. */
  readonly refreshable: Set<string>
  /** The requests to a URL, the query not being looked at. */
  to(url: string): Seen[]
  /** `GET https://…` of all requests but those to the MCP server. */
  log(): string[]
  /** An interaction whose user goes where they are sent, and comes back. */
  readonly user: AuthorizationFlow
  /** Signs in with the user of this world. */
  signIn(options?: Partial<SignInOptions>): SignIn
  /** Connects to the MCP server. */
  connect(auth: SignIn, options?: ConnectOptions): Promise<Client>
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

export const notFound: Answer = () => new Response('Not found', { status: 404 })

export function createWorld(differences: Differences = {}): World {
  const seen: Seen[] = []
  const valid = new Map<string, Given>()
  const refreshable = new Set<string>()
  const codes = new Map<string, Record<string, string>>()
  const granted = new Map<unknown, string[]>()
  let count = 0

  const give = (scopes: string[], resource: unknown): Response => {
    count++
    const refreshToken = `refresh-${count}-canary`
    valid.set(`access-${count}-canary`, { scopes, resource, refreshToken })
    refreshable.add(refreshToken)
    granted.set(refreshToken, scopes)
    return json({
      access_token: `access-${count}-canary`,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: refreshToken,
      scope: scopes.join(' '),
      ...differences.token,
    })
  }
  const routes: Record<string, Answer> = {
    [`GET ${RESOURCE_METADATA}`]: () =>
      json({ resource: MCP, authorization_servers: [ISSUER], ...differences.resource }),
    [`GET ${SERVER_METADATA}`]: () =>
      json({
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/authorize`,
        token_endpoint: `${ISSUER}/token`,
        registration_endpoint: `${ISSUER}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
        ...differences.server,
      }),
    [`POST ${ISSUER}/register`]: ({ body }) =>
      json({ ...body, client_id: `client-${++count}` }, 201),
    [`GET ${ISSUER}/authorize`]: ({ query }) => {
      const code = `code-${++count}-canary`
      codes.set(code, query)
      const back = new URL(query.redirect_uri ?? '')
      for (const [name, value] of Object.entries({ code, state: query.state, iss: ISSUER })) {
        back.searchParams.set(name, value ?? '')
      }
      return new Response(null, { status: 302, headers: { location: back.href } })
    },
    [`POST ${ISSUER}/token`]: async ({ body }) => {
      const scopes = differences.grant ?? ((asked) => asked)
      if (body.grant_type === 'refresh_token') {
        const used = String(body.refresh_token)
        if (!refreshable.delete(used)) return json({ error: 'invalid_grant' }, 400)
        return give(granted.get(used) ?? [], body.resource)
      }
      if (body.grant_type !== 'authorization_code') {
        return give(String(body.scope ?? '').split(' '), body.resource)
      }
      const asked = codes.get(String(body.code))
      codes.delete(String(body.code))
      const challenge = await sha256(String(body.code_verifier))
      const fits = asked?.code_challenge === challenge && asked.redirect_uri === body.redirect_uri
      if (!fits) return json({ error: 'invalid_grant' }, 400)
      return give(scopes((asked.scope ?? '').split(' ').filter(Boolean)), body.resource)
    },
    ...differences.routes,
  }

  const handle = createHandler(createTravel(), {
    allowedHosts: ['mcp.example'],
    sessions: statefulSessions(),
  })
  const mcp = async (request: Seen, init: RequestInit): Promise<Response> => {
    const token = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
    const given = valid.get(token ?? '')
    const { challenge = `Bearer resource_metadata="${RESOURCE_METADATA}"` } = differences
    if (!given) {
      const headers =
        'challenge' in differences && !differences.challenge
          ? {}
          : { 'www-authenticate': challenge }
      return json({ error: 'invalid_token' }, 401, headers)
    }
    const needs = request.body.method === 'tools/call' ? (differences.callNeeds ?? []) : []
    if (needs.every((scope) => given.scopes.includes(scope))) return handle(new Request(MCP, init))
    const lacking = `Bearer error="insufficient_scope", scope="${needs.join(' ')}"`
    const headers = { 'www-authenticate': `${lacking}, resource_metadata="${RESOURCE_METADATA}"` }
    return json({}, 403, headers)
  }

  const world: World = {
    seen,
    valid,
    refreshable,
    to: (url) => seen.filter((one) => one.url === url),
    log: () => seen.filter(({ url }) => url !== MCP).map(({ method, url }) => `${method} ${url}`),
    async fetch(target, init = {}) {
      init.signal?.throwIfAborted()
      const { origin, pathname, searchParams } = new URL(target)
      const request: Seen = {
        method: init.method ?? 'GET',
        url: origin + pathname,
        query: Object.fromEntries(searchParams),
        headers: new Headers(init.headers),
        body: readBody(init.body),
      }
      seen.push(request)
      const answer = routes[`${request.method} ${request.url}`]
      if (answer) return answer(request)
      return request.url === MCP ? mcp(request, init) : notFound(request)
    },
    user: {
      begin: () => ({
        redirectUri: CALLBACK,
        async go(url) {
          const { headers } = await world.fetch(url, { redirect: 'manual' })
          return headers.get('location') ?? ''
        },
      }),
    },
    signIn: (options = {}) =>
      signIn({
        client: { name: 'Test' },
        interaction: world.user,
        fetch: world.fetch,
        ...options,
      }),
    connect: (auth, options = {}) =>
      connect(MCP, { auth, fetch: world.fetch, revision: '2026-07-28', ...options }),
  }
  return world
}

function createTravel() {
  const server = createServer({ name: 'travel', version: '1.0.0' })
  server.tool('book', {}, () => ({ content: [{ type: 'text', text: 'Booked' }] }))
  return server
}

function readBody(body: unknown): JsonObject {
  if (body instanceof URLSearchParams) return Object.fromEntries(body)
  if (typeof body !== 'string') return {}
  return JSON.parse(body) as JsonObject
}

export async function sha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(bytes).toString('base64url')
}

/** A store whose content can be looked at. */
export function openStore(): TokenStore & { readonly values: Map<string, JsonObject> } {
  const values = new Map<string, JsonObject>()
  const { withLock } = memoryTokenStore()
  return {
    values,
    get: (key) => values.get(key),
    set: (key, value) => void values.set(key, value),
    delete: (key) => void values.delete(key),
    withLock,
  }
}
