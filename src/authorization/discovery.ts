/**
 * Determines from a challenge what to request, and from which authorization server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery
 */
import type { AuthorizationServer } from 'oauth4webapi'
import { isLoopback } from '../patterns/loopback.ts'
import { parseChallenges } from './challenge.ts'
import { AuthorizationError } from './errors.ts'
import type { AuthorizationOptions } from './grant.ts'
import { discoverOldServer, discoverResource, discoverServer } from './metadata.ts'
import type { Network } from './requests.ts'
import type { TokenRecord } from './store.ts'
import { splitScope } from './token.ts'

/** The maximum number of authorization servers to try: an untrusted server provides the list. */
const MAX_ISSUERS = 5

/** The parameters of the challenges that concern the client. */
export type ChallengeParams = ReadonlyMap<string, string>

/** The authorization server of an MCP server. */
interface IssuingServer {
  readonly server: AuthorizationServer
  /** Whether the rules of 2025-03-26 apply. */
  readonly oldRules: boolean
}

/** The resource and the scopes to request a token for, and the authorization server that issues it. */
interface TokenTarget extends IssuingServer {
  readonly resource: string
  readonly scopes: readonly string[]
}

/**
 * Merges the parameters of all `Bearer` and `DPoP` challenges, because a server may spread its requirements over
 * several challenges. If a parameter is repeated, the value in a challenge of `ownScheme` is used. Among several
 * challenges of the same scheme, the first value is used.
 *
 * @param ownScheme The scheme that the client uses.
 */
export function readChallengeParams(
  response: Response,
  ownScheme: 'bearer' | 'dpop',
): ChallengeParams {
  const challenges = parseChallenges(response.headers.get('www-authenticate') ?? '')
  const paramsOf = (wantedScheme: string): [string, string][] =>
    challenges
      .flatMap(({ scheme, params }) => (scheme === wantedScheme ? [...params] : []))
      .toReversed()
  // A later entry of a map replaces an earlier entry with the same key
  return new Map([...paramsOf(ownScheme === 'dpop' ? 'bearer' : 'dpop'), ...paramsOf(ownScheme)])
}

/**
 * Determines what to request, and from which authorization server.
 *
 * @param mcpServer The URL that the client connected to.
 * @param url The URL that was rejected.
 * @param latest The latest token, if any. Its scopes are requested again.
 * @param offlineScope The scope that requests a refresh token, if one is wanted.
 * @throws {AuthorizationError} If no metadata or no authorization server can be found.
 */
export async function discover(
  network: Network,
  mcpServer: string,
  url: string,
  challengeParams: ChallengeParams,
  latest: TokenRecord | undefined,
  options: AuthorizationOptions,
  offlineScope = '',
): Promise<TokenTarget> {
  const { origin, pathname, protocol, hostname } = new URL(mcpServer)
  if (protocol !== 'https:' && !isLoopback(hostname)) {
    const message = `"${mcpServer}" is not HTTPS: its token could be read in transit`
    throw new AuthorizationError('resource-metadata', message)
  }
  const metadataUrl = challengeParams.get('resource_metadata')
  const metadata = await discoverResource(
    network,
    [url, mcpServer],
    metadataUrl,
    options.exactResource,
  )
  // If there is no metadata, `metadata` is a text that lists the URLs that were tried
  if (typeof metadata === 'string' && !options.oldServers) {
    const message = `"${mcpServer}" requires authorization, but its metadata cannot be found`
    throw new AuthorizationError('resource-metadata', `${message}: ${metadata}`)
  }
  const { server, oldRules, resource, scopes } =
    typeof metadata === 'string'
      ? {
          server: await discoverOldServer(network, origin),
          oldRules: true,
          resource: origin + pathname.replace(/^\/$/, ''),
          scopes: [],
        }
      : {
          ...metadata,
          server: await chooseServer(network, mcpServer, metadata.issuers, options),
          oldRules: false,
        }
  const earlierScopes = latest?.issuer === server.issuer ? [...latest.asked, ...latest.granted] : []
  const challengedScopes = splitScope(challengeParams.get('scope') ?? '')
  const requestedScopes = [
    ...earlierScopes,
    ...(challengedScopes.length > 0 ? challengedScopes : (scopes ?? [])),
    ...(options.scopes ?? []),
  ]
  // Without other scopes, the server grants its default scopes. The offline scope alone would replace them
  if (requestedScopes.length > 0 && server.scopes_supported?.includes(offlineScope)) {
    requestedScopes.push(offlineScope)
  }
  return { server, oldRules, resource, scopes: [...new Set(requestedScopes)] }
}

/** Finds the authorization server that has issued a token, to refresh the token. */
export async function discoverAgain(
  network: Network,
  mcpServer: string,
  issuer: string,
  { oldServers }: AuthorizationOptions,
): Promise<IssuingServer> {
  const { origin } = new URL(mcpServer)
  const oldRules = oldServers === true && new URL(issuer).origin === origin
  return {
    server: await (oldRules ? discoverOldServer(network, origin) : discoverServer(network, issuer)),
    oldRules,
  }
}

/**
 * Returns the authorization server that the option `chooseIssuer` chooses. Without this option, returns the first that
 * can be reached.
 */
async function chooseServer(
  network: Network,
  mcpServer: string,
  issuers: readonly string[],
  { chooseIssuer }: AuthorizationOptions,
): Promise<AuthorizationServer> {
  const candidates = chooseIssuer
    ? [await chooseIssuer(issuers, mcpServer)]
    : issuers.slice(0, MAX_ISSUERS)
  const failures: unknown[] = []
  for (const issuer of candidates) {
    try {
      return await discoverServer(network, issuer)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  const message = `"${mcpServer}" names no authorization server`
  throw new AuthorizationError('resource-metadata', message)
}
