/**
 * Reads the metadata of MCP servers and authorization servers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery
 */
import type { AuthorizationServer } from 'oauth4webapi'
import type { JsonObject } from '../protocol/types.ts'
import { AuthorizationError } from './errors.ts'
import { getJson, unexpectedResponse, type Network } from './requests.ts'
import { checkUrl } from './urls.ts'
import { parseUrl } from '../patterns/url.ts'

/** Protected resource metadata (RFC 9728). */
export interface ResourceMetadata {
  /** The identifier of the server, for the `resource` parameter of token requests. */
  readonly resource: string
  /** The issuers of tokens for the server. */
  readonly issuers: readonly string[]
  readonly scopes: readonly string[] | undefined
}

/** The header of the revision in which an MCP server is its own authorization server. */
const OLD_REVISION_HEADER = { 'mcp-protocol-version': '2025-03-26' }

/**
 * Reads the metadata of an MCP server from the URL in its challenge. If the challenge has no URL, tries the
 * well-known URLs: first with the path of the server, then at the root.
 *
 * @param urls The requested URL, and other URLs of the same server.
 * @param challengeUrl The URL of the metadata, if the challenge names one.
 * @param exact Whether the `resource` in the metadata must equal one of `urls`. By default it may be a parent.
 * @returns The metadata; if there is none, a text that lists the URLs that were tried.
 * @throws {AuthorizationError} If the metadata is malformed, or belongs to another server.
 */
export async function discoverResource(
  network: Network,
  urls: readonly string[],
  challengeUrl: string | undefined,
  exact?: boolean,
): Promise<ResourceMetadata | string> {
  const { origin, pathname } = new URL(urls[0] ?? '')
  const root = `${origin}/.well-known/oauth-protected-resource`
  const wellKnownUrls = pathname === '/' ? [root] : [root + pathname, root]
  const candidates = challengeUrl ? [challengeUrl] : wellKnownUrls
  const metadata = await findMetadata(network, candidates, 'resource-metadata')
  if (typeof metadata === 'string') return metadata
  const { resource, authorization_servers: issuers, scopes_supported: scopes } = metadata
  if (!urls.some((url) => covers(resource, url, exact))) {
    const problem = `The metadata of "${urls[0]}" is for "${String(resource)}"`
    throw new AuthorizationError('resource-metadata', `${problem}, another server`)
  }
  return { resource: resource as string, issuers: strings(issuers) ?? [], scopes: strings(scopes) }
}

/** Whether a resource identifier equals a URL or, unless `exact` is set, is a parent of the URL. */
export function covers(resource: unknown, url: string, exact = false): boolean {
  if (typeof resource !== 'string' || /\s/.test(resource)) return false
  const identifier = parseUrl(resource)
  if (!identifier) return false
  const { origin, pathname, search, hash, username, password } = identifier
  if (username || password) return false
  const target = new URL(url)
  const resourcePath = `${pathname.replace(/\/$/, '')}/`
  const path = `${target.pathname.replace(/\/$/, '')}/`
  const pathMatches = exact ? path === resourcePath : path.startsWith(resourcePath)
  const queryMatches = search === target.search || (!exact && !search)
  return origin === target.origin && pathMatches && !hash && queryMatches
}

/**
 * Reads the metadata of an authorization server.
 *
 * @throws {AuthorizationError} If the metadata is missing or names another issuer, or the server fails.
 */
export async function discoverServer(
  network: Network,
  issuer: string,
): Promise<AuthorizationServer> {
  const url = await checkUrl(issuer, 'issuer', 'server-metadata', network.allowed)
  const { origin, pathname } = url
  const path = pathname.replace(/\/$/, '')
  const openidPath = '/.well-known/openid-configuration'
  const candidates = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    origin + openidPath + path,
  ]
  if (path) candidates.push(origin + path + openidPath)
  const metadata = await findMetadata(network, candidates, 'server-metadata', 'issuer')
  if (typeof metadata === 'string') {
    const problem = `There is no metadata of the authorization server "${issuer}"`
    throw new AuthorizationError('server-metadata', `${problem}: ${metadata}`)
  }
  if (metadata.issuer !== issuer) throw issuerMismatch(issuer, metadata.issuer)
  return readServer(metadata)
}

/**
 * Finds the authorization server of an MCP server of 2025-03-26, which is the MCP server itself. If there is no
 * metadata at the root of the origin, the endpoints are at the default paths.
 */
export async function discoverOldServer(
  network: Network,
  origin: string,
): Promise<AuthorizationServer> {
  const url = `${origin}/.well-known/oauth-authorization-server`
  const read = (headers?: Record<string, string>): Promise<JsonObject | string> =>
    findMetadata(network, [url], 'server-metadata', 'issuer', headers)
  let metadata = await read(OLD_REVISION_HEADER)
  // Try again without the header, which in browsers needs a CORS preflight that some servers reject
  if (typeof metadata === 'string') metadata = await read()
  if (typeof metadata !== 'string') {
    const { issuer } = metadata
    if (issuer !== origin && issuer !== `${origin}/`) throw issuerMismatch(origin, issuer)
    return readServer(metadata)
  }
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  }
}

/** Matches the names of those members of a server's metadata that this SDK uses and that must be lists. */
const LIST_NAME = /(?:scopes|methods|types|values|profiles)_supported$/

/** Reads the metadata of an authorization server. Malformed lists count as absent. */
function readServer(metadata: JsonObject): AuthorizationServer {
  const members = Object.entries(metadata).map(([name, value]) => [
    name,
    LIST_NAME.test(name) ? strings(value) : value,
  ])
  return Object.fromEntries(members) as AuthorizationServer
}

function issuerMismatch(issuer: string, actual: unknown): AuthorizationError {
  const message = `The metadata of "${issuer}" names the issuer "${String(actual)}"`
  return new AuthorizationError('server-metadata', message)
}

/**
 * Returns the first document that exists and has the required member. If there is none, returns a text that lists the
 * URLs that were tried.
 */
async function findMetadata(
  network: Network,
  urls: readonly string[],
  step: 'resource-metadata' | 'server-metadata',
  requiredMember: 'resource' | 'issuer' = 'resource',
  headers?: Record<string, string>,
): Promise<JsonObject | string> {
  const failures: string[] = []
  for (const url of urls) {
    try {
      const answer = await getJson(network, url, step, headers)
      const { status, ok, json } = answer
      if (status >= 500) throw unexpectedResponse(step, 'Reading metadata failed', answer)
      if (ok && typeof json?.[requiredMember] === 'string') return json
      failures.push(`"${url}" (HTTP ${status})`)
    } catch (error) {
      // After a network error, the next URL is tried: in a page, CORS may have hidden a response
      if (!(error instanceof AuthorizationError) || error.answer || !error.cause) throw error
      failures.push(error.message)
    }
  }
  return failures.join(', ')
}

/** The strings of a list; `undefined` if the value is not a list. */
function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined
}
