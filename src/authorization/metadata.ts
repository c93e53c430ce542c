/**
 * The metadata of resource servers and authorization servers, as far as it is used.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery
 */
import type { AuthorizationServer } from 'oauth4webapi'
import type { JsonObject } from '../protocol/types.ts'
import { AuthorizationError } from './errors.ts'
import { getJson, refused, type Network } from './requests.ts'
import { checkUrl } from './urls.ts'

/** Protected resource metadata (RFC 9728). */
export interface ResourceMetadata {
  /** The identifier of the server, for the `resource` parameter of token requests. */
  readonly resource: string
  /** The issuers of tokens for the server. */
  readonly issuers: readonly string[]
  readonly scopes: readonly string[] | undefined
}

/** The revision in which the MCP server was its own authorization server. */
const OLD_REVISION = { 'mcp-protocol-version': '2025-03-26' }

/**
 * Reads the metadata of the server at a URL: from the URL in its challenge, or else from the
 * well-known URLs, the one with the path first.
 *
 * @param urls The requested URL, and equivalent ones.
 * @param exact Whether the metadata must name one of these, not a parent.
 * @returns The URLs that were tried, if there is no metadata.
 * @throws {AuthorizationError} If it is malformed, or belongs to another server.
 */
export async function discoverResource(
  network: Network,
  urls: readonly string[],
  announced: string | undefined,
  exact?: boolean,
): Promise<ResourceMetadata | string> {
  const { origin, pathname } = new URL(urls[0] ?? '')
  const root = `${origin}/.well-known/oauth-protected-resource`
  const places = pathname === '/' ? [root] : [root + pathname, root]
  const found = await find(network, announced ? [announced] : places, 'resource-metadata')
  if (typeof found === 'string') return found
  const { resource, authorization_servers: issuers, scopes_supported: scopes } = found
  if (!urls.some((url) => covers(resource, url, exact))) {
    const where = `The metadata of "${urls[0]}" is for "${String(resource)}"`
    throw new AuthorizationError('resource-metadata', `${where}, another server`)
  }
  return { resource: resource as string, issuers: strings(issuers) ?? [], scopes: strings(scopes) }
}

/** Whether a resource identifier covers a URL: equals it, or is a parent of it. */
export function covers(resource: unknown, url: string, exact = false): boolean {
  if (typeof resource !== 'string' || /\s/.test(resource) || !URL.canParse(resource)) return false
  const { origin, pathname, search, hash, username, password } = new URL(resource)
  if (username || password) return false
  const target = new URL(url)
  const parent = `${pathname.replace(/\/$/, '')}/`
  const path = `${target.pathname.replace(/\/$/, '')}/`
  const fits = exact ? path === parent : path.startsWith(parent)
  const asks = search === target.search || (!exact && !search)
  return origin === target.origin && fits && !hash && asks
}

/**
 * Reads the metadata of an authorization server.
 *
 * @throws {AuthorizationError} If it is missing, it names another issuer, or the server fails.
 */
export async function discoverServer(
  network: Network,
  issuer: string,
): Promise<AuthorizationServer> {
  const url = await checkUrl(issuer, 'issuer', 'server-metadata', network.allowed)
  const { origin, pathname } = url
  const path = pathname.replace(/\/$/, '')
  const openid = '/.well-known/openid-configuration'
  const places = [`${origin}/.well-known/oauth-authorization-server${path}`, origin + openid + path]
  if (path) places.push(origin + path + openid)
  const found = await find(network, places, 'server-metadata', 'issuer')
  if (typeof found === 'string') {
    const problem = `There is no metadata of the authorization server "${issuer}"`
    throw new AuthorizationError('server-metadata', `${problem}: ${found}`)
  }
  if (found.issuer !== issuer) throw otherIssuer(issuer, found.issuer)
  return readServer(found)
}

/**
 * The authorization server of a 2025-03-26 server, which is the server itself: with metadata at its
 * root, or endpoints at the default paths.
 */
export async function discoverOldServer(
  network: Network,
  origin: string,
): Promise<AuthorizationServer> {
  const place = `${origin}/.well-known/oauth-authorization-server`
  const read = (more?: Record<string, string>): Promise<JsonObject | string> =>
    find(network, [place], 'server-metadata', 'issuer', more)
  let found = await read(OLD_REVISION)
  // In browsers the header needs a CORS preflight, which some servers reject: try again without it
  if (typeof found === 'string') found = await read()
  if (typeof found !== 'string') {
    const { issuer } = found
    if (issuer !== origin && issuer !== `${origin}/`) throw otherIssuer(origin, issuer)
    return readServer(found)
  }
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  }
}

/** The list members of authorization server metadata, as far as they are used. */
const LIST = /(?:scopes|methods|types|values|profiles)_supported$/

/** Treats a member that should be a list but is not as absent. */
function readServer(found: JsonObject): AuthorizationServer {
  const read = Object.entries(found).map(([name, value]) => [
    name,
    LIST.test(name) ? strings(value) : value,
  ])
  return Object.fromEntries(read) as AuthorizationServer
}

function otherIssuer(issuer: string, found: unknown): AuthorizationError {
  const message = `The metadata of "${issuer}" names the issuer "${String(found)}"`
  return new AuthorizationError('server-metadata', message)
}

/** The first document that exists; otherwise the URLs that were tried. */
async function find(
  network: Network,
  places: readonly string[],
  step: 'resource-metadata' | 'server-metadata',
  member: 'resource' | 'issuer' = 'resource',
  headers?: Record<string, string>,
): Promise<JsonObject | string> {
  const tried: string[] = []
  for (const place of places) {
    try {
      const answer = await getJson(network, place, step, headers)
      const { status, ok, json } = answer
      if (status >= 500) throw refused(step, 'Reading metadata failed', answer)
      if (ok && typeof json?.[member] === 'string') return json
      tried.push(`"${place}" (HTTP ${status})`)
    } catch (error) {
      // A response that CORS hides from a page looks like a network error
      if (!(error instanceof AuthorizationError) || error.answer || !error.cause) throw error
      tried.push(error.message)
    }
  }
  return tried.join(', ')
}

/** The strings of a list; `undefined` if the value is not a list. */
function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined
}
