/**
 * How a server is protected, and what follows from it once and for all.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9728#section-2
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { wellFormedJson } from '../protocol/well-formed-json.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Caller } from '../server/request/exchange.ts'
import type { AccessToken, TokenExpectations, TokenVerifier } from './access-token.ts'
import type { DpopVerifier } from './dpop-proofs.ts'

/** How a server is protected. */
export interface ProtectedResourceOptions {
  /**
   * The URL of the endpoint as clients know it, such as `https://example.com/mcp`. Tokens must be
   * meant for it. What a request says of its own host is never believed.
   */
  resource: string
  /** The issuers whose tokens are taken, as URLs; at least one. */
  authorizationServers: readonly string[]
  /** Finds out whether a token is authentic: `jwtTokens`, `introspectedTokens`, or a function. */
  verify: TokenVerifier
  /** The scopes that every request needs; none by default. Clients ask for them first. */
  scopes?: readonly string[]
  /** The scopes that a message needs beside those of the server and of the tool that it calls. */
  requiredScopes?: (
    message: { readonly method: string; readonly params: JsonObject },
    caller: Caller,
  ) => readonly string[]
  /**
   * Whether the granted scopes hold one that is needed, where some imply others; by default only if
   * it is among them.
   */
  isScopeSatisfied?: (granted: readonly string[], needed: string) => boolean
  /** What tokens may have as `aud`; the resource by default. */
  audience?: string | readonly string[]
  /** How far clocks may be apart, in milliseconds; 30,000 by default. */
  clockSkewMs?: number
  /**
   * How often the token of an open stream is verified again, in milliseconds, so that a stream ends
   * when its token is revoked; never by default. A verifier that caches tokens must do so for a
   * shorter time. Streams end when their token expires in any case.
   */
  revocationCheckMs?: number
  /** Takes tokens that are bound to a key: `dpopProofs`. By default they are refused. */
  dpop?: DpopVerifier
  /**
   * Names the principal of a token: sessions and rounds of input belong to it. By default its
   * subject, or `client` and the client without one; with its issuer in front if there are several. A
   * subject that itself begins with `client` or `user` and a space has `user` in front.
   */
  principal?: (token: AccessToken) => string
  /** More members of the metadata, such as `resource_name` and `resource_documentation`. */
  metadata?: JsonObject
}

/** What the options come to. */
export interface Settings extends TokenExpectations {
  readonly options: ProtectedResourceOptions
  /** The scopes that every request needs. */
  readonly scopes: readonly string[]
  /** The well-known paths of the metadata: that of the endpoint, and that of the host. */
  readonly paths: readonly string[]
  /** The address of the metadata. */
  readonly metadataUrl: string
  /** The body of the metadata. */
  readonly metadata: string
}

const OPTIONS: OptionNames<ProtectedResourceOptions> = {
  ...{
    resource: 1,
    authorizationServers: 1,
    verify: 1,
    scopes: 1,
    requiredScopes: 1,
    isScopeSatisfied: 1,
  },
  ...{ audience: 1, clockSkewMs: 1, revocationCheckMs: 1, dpop: 1, principal: 1, metadata: 1 },
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
/** What a scope may be made of: it travels between quotes, in a header (RFC 6749, section 3.3). */
export const SCOPE: RegExp = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/**
 * Checks options.
 *
 * @throws {TypeError} when the resource, an issuer or a scope is none, or there is no issuer,
 *   or an option is unknown.
 */
export function readOptions(options: ProtectedResourceOptions): Settings {
  requireKnown('The protection', options, OPTIONS)
  const { resource, authorizationServers, dpop, clockSkewMs = 30_000 } = options
  const scopes = union(options.scopes ?? [])
  const { origin, pathname, search } = requireHttp(resource, 'resource')
  if (resource.includes('#')) throw new TypeError(`The resource "${resource}" has a fragment`)
  if (authorizationServers.length === 0) throw new TypeError('There is no authorization server')
  for (const issuer of authorizationServers) requireHttp(issuer, 'authorization server')
  for (const scope of scopes) if (!SCOPE.test(scope)) throw new TypeError(`Bad scope: "${scope}"`)

  const path = WELL_KNOWN + (pathname === '/' ? '' : pathname)
  return {
    options,
    resource,
    authorizationServers,
    scopes,
    clockSkewMs,
    audience: audienceOf(options),
    paths: path === WELL_KNOWN ? [path] : [path, WELL_KNOWN],
    metadataUrl: origin + path + search,
    metadata: wellFormedJson({
      resource,
      authorization_servers: authorizationServers,
      bearer_methods_supported: ['header'],
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      ...(dpop && {
        dpop_signing_alg_values_supported: dpop.algorithms,
        dpop_bound_access_tokens_required: dpop.required,
      }),
      ...options.metadata,
    }),
  }
}

/** What scopes make together, without that which is between client and issuer only. */
export function union(...sets: (readonly string[])[]): string[] {
  return [...new Set(sets.flat())].filter((scope) => scope !== 'offline_access')
}

/** The resource is one URL in whatever way it is written; an audience of the author's is a text. */
function audienceOf({ audience, resource }: ProtectedResourceOptions): readonly string[] {
  if (audience !== undefined) return typeof audience === 'string' ? [audience] : audience
  const { href, pathname, origin, search } = new URL(resource)
  return [resource, href, ...(pathname === '/' && search === '' ? [origin] : [])]
}

function requireHttp(text: string, role: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol)) return url
  throw new TypeError(`The ${role} "${text}" must be an http or https URL`)
}
