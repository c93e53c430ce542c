/**
 * The stored client registrations: one per authorization server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration
 */
import type { JsonObject } from '../protocol/types.ts'
import type { TokenStore } from './store.ts'
import { parseUrl } from '../patterns/url.ts'

/** A client's registration at an authorization server, in the format of RFC 7591. */
export interface Registration extends JsonObject {
  readonly client_id: string
  readonly client_secret?: string | undefined
  /** When the secret expires, in seconds since 1970; 0 means never. */
  readonly client_secret_expires_at?: number | undefined
  /** How the client authenticates. By default with `client_secret_basic` if there is a secret. */
  readonly token_endpoint_auth_method?: string | undefined
  /** The allowed redirect URIs. By default all are allowed. */
  readonly redirect_uris?: readonly string[] | undefined
  /**
   * The scopes that may be requested, separated by spaces. By default all scopes may be requested.
   */
  readonly scope?: string | undefined
  /** The allowed grants. By default all grants that the client needs are allowed. */
  readonly grant_types?: readonly string[] | undefined
  /**
   * When the client was registered dynamically, in seconds since 1970. Absent if the client was not
   * registered dynamically, and so cannot be registered again.
   */
  readonly client_id_issued_at?: number | undefined
}

/** The key of the value that contains all registrations. They share one value, so that they can be listed. */
const REGISTRATIONS_KEY = 'clients'

/**
 * Lists the stored registrations, by issuer.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration
 */
export async function listRegistrations(tokens: TokenStore): Promise<Record<string, Registration>> {
  return ((await tokens.get(REGISTRATIONS_KEY)) ?? {}) as Record<string, Registration>
}

/**
 * Stores a registration, and replaces any other at the same issuer. {@link signIn} then uses the stored one. Call
 * this function for a client that `signIn` did not register, such as a client that you registered in the dashboard
 * of the provider.
 *
 * @param issuer Exactly as in the authorization server's metadata, including a trailing slash.
 * @throws {TypeError} If the issuer is not a URL, or the registration has no `client_id`.
 * @see https://www.rfc-editor.org/rfc/rfc7591#section-3.2.1
 */
export async function saveRegistration(
  tokens: TokenStore,
  issuer: string,
  registration: Registration,
): Promise<void> {
  if (!parseUrl(issuer)) throw new TypeError(`The issuer "${issuer}" is not a URL`)
  if (!registration.client_id) throw new TypeError('The registration has no "client_id"')
  await putRegistration(tokens, issuer, registration)
}

/** Stores a validated registration. */
export function putRegistration(
  tokens: TokenStore,
  issuer: string,
  registration: Registration,
): Promise<void> {
  return changeRegistrations(tokens, (stored) => ({ ...stored, [issuer]: registration }))
}

/**
 * Deletes a registration, so that the next sign-in at the issuer registers the client again. Tokens that were issued
 * to the deleted registration can still be refreshed.
 *
 * @param clientId If given, the registration is deleted only if it has this client id.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration
 */
export function forgetRegistration(
  tokens: TokenStore,
  issuer: string,
  clientId?: string,
): Promise<void> {
  return changeRegistrations(tokens, ({ [issuer]: registration, ...others }) =>
    registration && clientId !== undefined && registration.client_id !== clientId
      ? { ...others, [issuer]: registration }
      : others,
  )
}

function changeRegistrations(
  tokens: TokenStore,
  change: (stored: Record<string, Registration>) => Record<string, Registration>,
): Promise<void> {
  return tokens.withLock(REGISTRATIONS_KEY, async () => {
    await tokens.set(REGISTRATIONS_KEY, change(await listRegistrations(tokens)))
  })
}
