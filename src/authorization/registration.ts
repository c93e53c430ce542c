/**
 * Finds or creates the client's registration at an authorization server, in this order: credentials
 * issued in advance, a client id metadata document, dynamic registration, or credentials that the
 * user enters.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import { wellFormedJson } from '../protocol/well-formed-json.ts'
import type { JsonObject } from '../protocol/types.ts'
import { methodsOf, oauthClient, type ClientCredentials } from './clients.ts'
import { AuthorizationError } from './errors.ts'
import type { GrantRequest } from './grant.ts'
import { listRegistrations, putRegistration, type Registration } from './registration-store.ts'
import { readAnswer, unexpectedResponse, send } from './requests.ts'
import { splitScope, type OAuthClient } from './token.ts'
import { checkUrl, isLocalHttp } from './urls.ts'
import { parseUrl } from '../patterns/url.ts'

/** The identity of the client, as users and authorization servers see it. */
export interface ClientIdentity {
  /** The display name. */
  readonly name: string
  /**
   * The HTTPS URL where {@link clientMetadata} is published. It serves as the client id at all
   * authorization servers that support client id metadata documents.
   */
  readonly metadataUrl?: string
  /**
   * Additional client metadata of RFC 7591, such as `client_uri`, `logo_uri`, `contacts`.
   */
  readonly metadata?: JsonObject
}

/** How the client identifies itself to authorization servers. */
export interface RegistrationOptions {
  readonly client: ClientIdentity
  /** Credentials that authorization servers issued in advance. */
  readonly credentials?: readonly ClientCredentials[]
  /** Asks the user for credentials if the client cannot be identified in any other way. */
  readonly askCredentials?: (
    issuer: string,
  ) => Awaitable<Omit<ClientCredentials, 'issuer'> | undefined>
}

/**
 * The client's identity at an authorization server. `registration` is the stored record of a client that
 * was registered dynamically, or whose credentials the user entered.
 */
export interface RegisteredClient extends OAuthClient {
  readonly registration?: JsonObject
}

/** The client metadata of the authorization code grant. */
const GRANT_METADATA = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
}

/**
 * Creates the metadata document of a client, to publish as JSON at `client.metadataUrl`.
 *
 * @throws {TypeError} If `client.metadataUrl` cannot serve as a client id.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration
 */
export function clientMetadata(
  client: ClientIdentity,
  redirectUris: readonly string[],
): JsonObject {
  return {
    ...GRANT_METADATA,
    token_endpoint_auth_method: 'none',
    ...client.metadata,
    client_id: requireMetadataUrl(client.metadataUrl ?? ''),
    client_name: client.name,
    redirect_uris: redirectUris,
  }
}

/** Checks that a client id is a normalized HTTPS URL with a path, and returns it. */
export function requireMetadataUrl(metadataUrl: string): string {
  const url = parseUrl(metadataUrl)
  const { protocol, username, password, pathname } = url ?? {}
  const isValid = url?.href === metadataUrl && protocol === 'https:' && !username && !password
  if (isValid && pathname !== '/' && !metadataUrl.includes('#')) return metadataUrl
  throw new TypeError(`"${metadataUrl}" cannot be a client id: use an https: URL with a path`)
}

/** Returns the first redirect URI of the stored registration, if there is one. */
export async function knownRedirectUri(request: GrantRequest): Promise<string | undefined> {
  const uris = (await listRegistrations(request.tokens))[request.server.issuer]?.redirect_uris
  // The registration is stored as it was received, so its types are unchecked
  return Array.isArray(uris) && typeof uris[0] === 'string' ? uris[0] : undefined
}

/**
 * Finds or creates the client's registration.
 *
 * @param redirectUri The redirect URI to use; `undefined` when a token is refreshed.
 * @param registration When a token is refreshed, the registration that the token was issued to.
 * @throws {AuthorizationError} If the client has no registration and cannot obtain one.
 */
export async function findClient(
  request: GrantRequest,
  options: RegistrationOptions,
  redirectUri: string | undefined,
  registration?: JsonObject,
): Promise<RegisteredClient> {
  const { server, tokens } = request
  if (registration && isUsable(registration)) return toClient(request, registration)
  const { issuer, registration_endpoint: endpoint } = server
  const { client, credentials = [], askCredentials } = options
  const configuredCredentials = credentials.find((candidate) => candidate.issuer === issuer)
  if (configuredCredentials) return oauthClient(server, configuredCredentials)
  if (client.metadataUrl && server.client_id_metadata_document_supported === true) {
    return oauthClient(server, { clientId: client.metadataUrl })
  }
  const savedRegistration = (await listRegistrations(tokens))[issuer]
  if (savedRegistration && isUsable(savedRegistration, redirectUri))
    return toClient(request, savedRegistration)
  if (endpoint !== undefined && redirectUri !== undefined) {
    const newRegistration = await register(request, client, redirectUri)
    await putRegistration(tokens, issuer, newRegistration)
    return toClient(request, newRegistration)
  }
  const enteredCredentials = redirectUri === undefined ? undefined : await askCredentials?.(issuer)
  if (enteredCredentials) {
    const { clientId: client_id, clientSecret: client_secret, authentication } = enteredCredentials
    if (authentication) return oauthClient(server, enteredCredentials)
    const record = { client_id, client_secret, redirect_uris: [redirectUri ?? ''] }
    await putRegistration(tokens, issuer, record)
    return toClient(request, record)
  }
  const message = `"${issuer}" does not register clients, and no credentials are configured`
  throw new AuthorizationError('registration', message)
}

/** Whether the secret of a registration is still valid, and the redirect URI, if any, is allowed. */
function isUsable(registration: JsonObject, redirectUri?: string): boolean {
  // In seconds since 1970; 0 if the secret does not expire
  const expiresAt = Number(registration.client_secret_expires_at ?? 0)
  const isCurrent = expiresAt === 0 || expiresAt * 1_000 > Date.now()
  return isCurrent && (redirectUri === undefined || allowsRedirect(registration, redirectUri))
}

/**
 * Whether a registration allows a redirect URI. A registration that lists a loopback URI without a port allows the
 * URI with every port.
 */
export function allowsRedirect({ redirect_uris: uris }: JsonObject, redirectUri: string): boolean {
  const url = new URL(redirectUri)
  if (isLocalHttp(url)) url.port = ''
  return allows(uris, redirectUri) || allows(uris, url.href)
}

/** Whether a list contains a value. A missing or empty list allows every value. */
export function allows(list: unknown, value: string): boolean {
  return !Array.isArray(list) || list.length === 0 || list.includes(value)
}

/**
 * Whether a registration allows a scope. It allows `offline_access` only if it also allows refresh tokens.
 */
export function allowsScope({ scope: allowed, grant_types }: JsonObject, scope: string): boolean {
  if (scope === 'offline_access' && !allows(grant_types, 'refresh_token')) return false
  return typeof allowed !== 'string' || allows(splitScope(allowed), scope)
}

/** Reads the client from its stored registration, whose types are unchecked. */
function toClient({ server }: GrantRequest, registration: JsonObject): RegisteredClient {
  const text = (name: string): string | undefined => {
    const value = registration[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const clientSecret = text('client_secret')
  const credentials = {
    clientId: text('client_id') ?? '',
    ...(clientSecret !== undefined && { clientSecret }),
  }
  const client = oauthClient(server, credentials, text('token_endpoint_auth_method'))
  return { ...client, registration }
}

/** Registers the client dynamically (RFC 7591), at a server that does not support client id metadata documents. */
async function register(
  { network, server }: GrantRequest,
  client: ClientIdentity,
  redirectUri: string,
): Promise<Registration> {
  const step = 'registration'
  const endpoint = server.registration_endpoint
  const { href } = await checkUrl(endpoint, 'registration endpoint', step, network.allowed)
  const redirect = new URL(redirectUri)
  const isWeb = redirect.protocol === 'https:' && !isLocalHttp(redirect)
  const supportedMethods = ['none', 'client_secret_basic', 'client_secret_post']
  const methods = methodsOf(server)
  const body = {
    ...GRANT_METADATA,
    token_endpoint_auth_method: supportedMethods.find((method) => methods.includes(method)),
    application_type: isWeb ? 'web' : 'native',
    ...client.metadata,
    client_name: client.name,
    redirect_uris: [redirectUri],
  }
  const headers = { accept: 'application/json', 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: wellFormedJson(body), redirect: 'manual' } as const
  const response = await send(network, href, init, step)
  const answer = await readAnswer(network, response, href, step)
  const { ok, json = {} } = answer
  const { client_id } = json
  if (!ok || typeof client_id !== 'string' || !client_id) {
    throw unexpectedResponse(step, `Registering with "${redirectUri}" failed`, answer)
  }
  // The server's values take precedence over the requested values
  return {
    redirect_uris: [redirectUri],
    ...json,
    client_id,
    client_id_issued_at: Math.floor(Date.now() / 1_000),
  }
}
