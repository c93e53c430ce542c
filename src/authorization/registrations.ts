/**
 * The registrations of clients that are kept: one for each authorization server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { TokenStore } from './store.ts'

/** What an authorization server knows a client by, in the words of RFC 7591. */
export interface Registration extends JsonObject {
  readonly client_id: string
  readonly client_secret?: string | undefined
  /** When the secret ends, in seconds since 1970; 0 for never. */
  readonly client_secret_expires_at?: number | undefined
  /** How the client authenticates. Default: `client_secret_basic` where there is a secret. */
  readonly token_endpoint_auth_method?: string | undefined
  /** Where users may be sent back to. Default: wherever the client wants. */
  readonly redirect_uris?: readonly string[] | undefined
  /** The scopes that may be asked for, separated by spaces. Default: all. */
  readonly scope?: string | undefined
  /** The grants that may be used. Default: all that are needed. */
  readonly grant_types?: readonly string[] | undefined
  /** When it was registered dynamically, in seconds since 1970. Without it, it cannot be again. */
  readonly client_id_issued_at?: number | undefined
}

/** The key of all registrations, which are one value so that they can be listed. */
const KEY = 'clients'

/** Lists the registrations that are kept, by the issuer of their authorization server. */
export async function listRegistrations(tokens: TokenStore): Promise<Record<string, Registration>> {
  return ((await tokens.get(KEY)) ?? {}) as Record<string, Registration>
}

/**
 * Keeps a registration, in place of another at the same issuer: one that was made elsewhere spares
 * {@link signIn} registering.
 *
 * @param issuer Exactly as the authorization server's metadata has it, a slash at the end included.
 * @throws {TypeError} When the issuer is not a URL, or the registration has no `client_id`.
 */
export async function saveRegistration(
  tokens: TokenStore,
  issuer: string,
  registration: Registration,
): Promise<void> {
  if (!URL.canParse(issuer)) throw new TypeError(`The issuer "${issuer}" is not a URL`)
  if (!registration.client_id) throw new TypeError('The registration has no "client_id"')
  await putRegistration(tokens, issuer, registration)
}

/** Keeps a registration that was checked before. */
export function putRegistration(
  tokens: TokenStore,
  issuer: string,
  registration: Registration,
): Promise<void> {
  return changeRegistrations(tokens, (all) => ({ ...all, [issuer]: registration }))
}

/**
 * Forgets a registration, so that the next sign-in at the issuer registers again. Tokens that were
 * given to it can still be renewed.
 *
 * @param clientId Forgets only the registration of this client. Default: whichever there is.
 */
export function forgetRegistration(
  tokens: TokenStore,
  issuer: string,
  clientId?: string,
): Promise<void> {
  return changeRegistrations(tokens, ({ [issuer]: one, ...others }) =>
    one && clientId !== undefined && one.client_id !== clientId
      ? { ...others, [issuer]: one }
      : others,
  )
}

function changeRegistrations(
  tokens: TokenStore,
  change: (all: Record<string, Registration>) => Record<string, Registration>,
): Promise<void> {
  return tokens.withLock(KEY, async () => {
    await tokens.set(KEY, change(await listRegistrations(tokens)))
  })
}
