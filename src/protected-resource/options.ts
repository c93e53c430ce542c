/**
 * The options that protect a server, and the settings that are computed from them at startup.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9728#section-2
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { wellFormedJson } from '../protocol/well-formed-json.ts'
import type { JsonObject } from '../protocol/types.ts'
import type { Caller } from '../server/request/exchange.ts'
import type { AccessToken, TokenExpectations, TokenVerifier } from './access-token.ts'
import type { DpopVerifier } from './dpop-proofs.ts'
import { parseUrl } from '../patterns/url.ts'

/** How a server is protected. */
export interface ProtectedResourceOptions {
  /**
   * The URL of the endpoint as clients know it, such as `https://example.com/mcp`. Tokens must be
   * issued for it. The host in a request is never trusted.
   */
  resource: string
  /** The trusted issuers, as URLs; at least one. */
  authorizationServers: readonly string[]
  /** Verifies that a token is authentic: `jwtTokens`, `introspectedTokens`, or a function. */
  verify: TokenVerifier
  /**
   * The scopes that every request needs. Clients ask for these scopes when they first sign in.
   *
   * @default []
   */
  scopes?: readonly string[]
  /**
   * The scopes that a message needs in addition to `scopes` and the scopes of the tool that the message
   * calls.
   */
  requiredScopes?: (
    message: { readonly method: string; readonly params: JsonObject },
    caller: Caller,
  ) => readonly string[]
  /**
   * Whether the granted scopes satisfy a needed one, for scopes that imply other scopes. By default
   * the needed scope itself must be granted.
   */
  isScopeSatisfied?: (granted: readonly string[], needed: string) => boolean
  /** The accepted values of `aud`. By default only the resource is accepted. */
  audience?: string | readonly string[]
  /**
   * The tolerated clock skew, in milliseconds.
   *
   * @default 30000
   */
  clockSkewMs?: number
  /**
   * How often the token of an open stream is verified again, in milliseconds, so that the stream
   * ends when the token is revoked. By default it is not verified again. A verifier that caches
   * tokens must cache them for a shorter time. Streams always end when their token expires.
   */
  revocationCheckMs?: number
  /** The verifier of tokens that are bound to a key: `dpopProofs()`. By default, such tokens are rejected. */
  dpop?: DpopVerifier
  /**
   * Derives the principal from a token; sessions and pending requests for input belong to the
   * principal.
   *
   * By default the principal is the subject, or `client <client id>` if the token has no subject. A
   * subject that itself begins with `client` or `user` and a space becomes `user <subject>`. If several
   * issuers are trusted, the issuer and a space precede the principal.
   */
  principal?: (token: AccessToken) => string
  /** Additional members of the metadata, such as `resource_name` and `resource_documentation`. */
  metadata?: JsonObject
}

/** The settings that are computed from the options. */
export interface Settings extends TokenExpectations {
  readonly options: ProtectedResourceOptions
  /** The scopes that every request needs. */
  readonly scopes: readonly string[]
  /** The well-known paths of the metadata: the path for this endpoint, and the path for the whole host. */
  readonly paths: readonly string[]
  /** The URL of the metadata. */
  readonly metadataUrl: string
  /** The body of the metadata. */
  readonly metadata: string
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<ProtectedResourceOptions> = {
  resource: 1,
  authorizationServers: 1,
  verify: 1,
  scopes: 1,
  requiredScopes: 1,
  isScopeSatisfied: 1,
  audience: 1,
  clockSkewMs: 1,
  revocationCheckMs: 1,
  dpop: 1,
  principal: 1,
  metadata: 1,
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
/**
 * The characters of a scope, which is sent in a quoted string of a header (RFC 6749, section 3.3).
 */
export const SCOPE: RegExp = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/**
 * Validates the options.
 *
 * @throws {TypeError} If the resource, an issuer or a scope is invalid, there is no issuer, or an
 *   option is unknown.
 */
export function readOptions(options: ProtectedResourceOptions): Settings {
  requireKnown('protectedResource', options, OPTION_NAMES)
  const { resource, authorizationServers, dpop, clockSkewMs = 30_000 } = options
  const scopes = unionOfScopes(options.scopes ?? [])
  const { origin, pathname, search } = requireHttp(resource, 'resource')
  if (resource.includes('#')) throw new TypeError(`The resource "${resource}" has a fragment`)
  if (authorizationServers.length === 0) throw new TypeError('"authorizationServers" is empty')
  for (const issuer of authorizationServers) requireHttp(issuer, 'authorization server')
  for (const scope of scopes)
    if (!SCOPE.test(scope)) throw new TypeError(`Invalid scope: "${scope}"`)

  const path = WELL_KNOWN + (pathname === '/' ? '' : pathname)
  return {
    options,
    resource,
    authorizationServers,
    scopes,
    clockSkewMs,
    audience: audienceOf(options),
    paths: [...new Set([path, WELL_KNOWN])],
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

/** The union of scopes, without those that concern only the client and the issuer. */
export function unionOfScopes(...sets: (readonly string[])[]): string[] {
  return [...new Set(sets.flat())].filter((scope) => scope !== 'offline_access')
}

/**
 * The accepted values of `aud`. By default, these are the URL of the resource as given, the URL in its
 * normalized form and, if the URL has no path, the URL without the final slash.
 */
function audienceOf({ audience, resource }: ProtectedResourceOptions): readonly string[] {
  if (audience !== undefined) return typeof audience === 'string' ? [audience] : audience
  const { href, pathname, origin, search } = new URL(resource)
  return [resource, href, ...(pathname === '/' && search === '' ? [origin] : [])]
}

function requireHttp(text: string, role: string): URL {
  const url = parseUrl(text)
  if (url && /^https?:$/.test(url.protocol)) return url
  throw new TypeError(`The ${role} "${text}" must be an http or https URL`)
}
