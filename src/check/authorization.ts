/**
 * Checks whether clients can find out how to sign in.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization
 */
import { parseChallenges } from '../authorization/challenge.ts'
import { covers } from '../authorization/metadata.ts'
import { parseUrl } from '../patterns/url.ts'
import type { JsonObject } from '../protocol/types.ts'
import { finding, type Finding } from './finding.ts'
import { reasonOf, withoutSecrets, type Answer, type CheckedEndpoint } from './endpoint.ts'

/** The maximum number of authorization servers whose metadata is requested. */
const MAX_SERVERS = 5

/** Checks a response with the status 401, and the metadata that clients find through this response. */
export async function* checkAuthorization(
  endpoint: CheckedEndpoint,
  unauthorized: Answer,
): AsyncGenerator<Finding> {
  const header = unauthorized.headers.get('www-authenticate')
  if (header === null) {
    yield endpoint.runsInPage
      ? finding('cors-expose', 'Pages cannot read WWW-Authenticate, unless it is missing')
      : finding('challenge', 'The "WWW-Authenticate" header is missing')
  }
  const bearer = parseChallenges(header ?? '').find(({ scheme }) => scheme === 'bearer')
  const namedUrl = bearer?.params.get('resource_metadata')
  const urls = namedUrl === undefined ? resourceMetadataUrls(endpoint.url) : [namedUrl]
  const result = await readFirst(endpoint, urls)
  if ('tried' in result) {
    const message = describeAbsence(endpoint, 'no resource metadata', result)
    // The specified authorization is optional: this server may accept only tokens that its users receive in another way
    const severity = namedUrl === undefined ? 'warning' : 'error'
    return yield finding('resource-metadata', message, undefined, severity)
  }
  const { resource, authorization_servers: servers } = result.document
  if (!covers(resource, endpoint.url)) {
    const actual = JSON.stringify(resource)
    yield finding(
      'resource-metadata',
      `"resource" is ${actual}, not "${withoutSecrets(endpoint.url)}"`,
      result.url,
    )
  }
  if (!Array.isArray(servers) || servers.length === 0) {
    return yield finding(
      'resource-metadata',
      'The metadata names no authorization server',
      result.url,
    )
  }
  for (const issuer of servers.slice(0, MAX_SERVERS)) {
    yield* await checkServer(endpoint, typeof issuer === 'string' ? issuer : JSON.stringify(issuer))
  }
}

async function checkServer(endpoint: CheckedEndpoint, issuer: string): Promise<Finding[]> {
  const url = parseUrl(issuer)
  if (!url) return [finding('authorization-server', `"${issuer}" is not a URL`)]
  const result = await readFirst(endpoint, serverMetadataUrls(url))
  if ('tried' in result) {
    const message = describeAbsence(endpoint, 'no metadata', result)
    return [finding('authorization-server', message, issuer)]
  }
  const findings: Finding[] = []
  const { issuer: actual, code_challenge_methods_supported: methods } = result.document
  if (actual !== issuer) {
    const message = `"issuer" is ${JSON.stringify(actual)}, not "${issuer}"`
    findings.push(finding('authorization-server', message, result.url))
  }
  if (!Array.isArray(methods) || !methods.includes('S256')) {
    const message = `"code_challenge_methods_supported" is ${JSON.stringify(methods) ?? 'missing'}`
    findings.push(finding('pkce', message, result.url))
  }
  return findings
}

/**
 * Describes that there is no document. If the check runs in a page, and a request failed, the reason is unknown.
 *
 * @param noDocument What is missing, such as `no resource metadata`.
 */
function describeAbsence(
  { runsInPage }: CheckedEndpoint,
  noDocument: string,
  { tried, hasFailed }: Absence,
): string {
  const urls = tried.join(' and ')
  return runsInPage && hasFailed
    ? `Pages can read ${noDocument} at ${urls}. ${HIDDEN_REASONS}`
    : `There is ${noDocument} at ${urls}`
}

/** Why a request of a page may have failed. A page cannot find out which of these reasons applies. */
const HIDDEN_REASONS =
  'Perhaps the host does not exist or is down, there is no such document (404), or the response has no "Access-Control-Allow-Origin"'

/** There is no document at any of the URLs. */
interface Absence {
  /** The URLs, each with the reason why it could not be read, if that is known. */
  readonly tried: readonly string[]
  /** Whether a request failed, so that there was no response to read. */
  readonly hasFailed: boolean
}

type ReadResult = { readonly url: string; readonly document: JsonObject } | Absence

/** Reads the first document that exists. If there is none, returns the URLs that were tried. */
async function readFirst(endpoint: CheckedEndpoint, urls: readonly string[]): Promise<ReadResult> {
  const tried: string[] = []
  let hasFailed = false
  for (const url of urls) {
    try {
      const document = parseUrl(url) ? await endpoint.read(url) : undefined
      if (document) return { url, document }
      tried.push(url)
    } catch (error) {
      hasFailed = true
      tried.push(endpoint.runsInPage ? url : `${url} (${reasonOf(error)})`)
    }
  }
  return { tried, hasFailed }
}

/** The URLs at which a client looks for the metadata of a protected resource. */
function resourceMetadataUrls(url: string): string[] {
  const { origin, pathname } = new URL(url)
  const root = `${origin}/.well-known/oauth-protected-resource`
  return pathname === '/' ? [root] : [root + pathname, root]
}

/** The URLs at which a client looks for the metadata of an authorization server. */
function serverMetadataUrls({ origin, pathname }: URL): string[] {
  const path = pathname.replace(/\/$/, '')
  const openid = '/.well-known/openid-configuration'
  const urls = [`${origin}/.well-known/oauth-authorization-server${path}`, origin + openid + path]
  return path === '' ? urls : [...urls, origin + path + openid]
}
