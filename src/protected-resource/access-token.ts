/**
 * Access tokens, and the checks that an authentic token must pass, whichever verifier was used.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling
 */
import type { JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'

/** The maximum length of a quoted value, in UTF-16 units. */
const MAX_QUOTED = 200
/** A time in March 1973. Earlier times are probably in seconds instead of milliseconds. */
const IMPLAUSIBLE_MS = 100_000_000_000

/**
 * An authentic token: signed, or confirmed, by an authorization server.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9068#section-2.2
 */
export interface AccessToken {
  /** The authorization server that issued it (`iss`), if known. */
  readonly issuer?: string | undefined
  /** The subject (`sub`); required unless `clientId` is known. */
  readonly subject?: string | undefined
  /** The client that it was issued to. */
  readonly clientId?: string | undefined
  /** The audience (`aud`). A token whose audience does not include the server is rejected. */
  readonly audience: string | readonly string[] | undefined
  /** The granted scopes. */
  readonly scopes: readonly string[]
  /** When the token expires (`exp`), in milliseconds since 1970. */
  readonly expiresAt?: number | undefined
  /** When the token becomes valid (`nbf`), in milliseconds since 1970. */
  readonly notBefore?: number | undefined
  /** What the sender must prove to possess (`cnf`, RFC 7800), such as the key of DPoP proofs. */
  readonly confirmation?: JsonObject | undefined
  /** All other claims that handlers should see. */
  readonly claims?: JsonObject | undefined
}

/** The requirements for a token. */
export interface TokenExpectations {
  /** The identifier of the protected resource: the URL of the endpoint. */
  readonly resource: string
  /** The accepted values of `aud`; the token must have at least one. */
  readonly audience: readonly string[]
  /** The accepted issuers. */
  readonly authorizationServers: readonly string[]
  /** The tolerated clock skew, in milliseconds. */
  readonly clockSkewMs: number
}

/** A token that is not authentic. */
export interface RefusedToken {
  /**
   * The reason, for the operator: passed to `observe`, not sent to the client. It must not contain
   * the token or any other secret.
   */
  readonly refused: string
}

/**
 * Verifies that a token is authentic. Returns its content if it is; otherwise the reason, or `undefined` if
 * no reason is known. Audience, issuer and lifetime are checked afterwards, in the same way for every
 * verifier.
 *
 * If the verifier throws, the response is 503, because the failure is not the caller's fault.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling
 */
export type TokenVerifier = (
  token: string,
  expected: TokenExpectations,
) => Promise<AccessToken | RefusedToken | undefined>

/** Creates a token from the claims of a JWT (RFC 9068) or an introspection response. */
export function tokenOf(claims: JsonObject): AccessToken {
  return {
    // An unreadable issuer becomes the empty string, which is never trusted
    issuer: claims.iss === undefined ? undefined : (stringOrUndefined(claims.iss) ?? ''),
    // An unreadable subject must not fall back to the client, which would give all its users one
    // principal
    subject:
      claims.sub === undefined || claims.sub === null
        ? undefined
        : (stringOrUndefined(claims.sub) ?? ''),
    clientId: stringOrUndefined(claims.client_id) ?? stringOrUndefined(claims.azp),
    audience: audienceOf(claims.aud),
    scopes: scopesOf(claims.scope ?? claims.scp),
    expiresAt: milliseconds(claims.exp),
    notBefore: milliseconds(claims.nbf),
    confirmation: confirmationOf(claims.cnf),
    claims,
  }
}

/**
 * Why an authentic token is not acceptable; `undefined` if it is meant for this server, comes from
 * a trusted issuer, and is currently valid.
 */
export function faultOf(
  token: AccessToken,
  expected: TokenExpectations,
  now: number,
): string | undefined {
  const { issuer, subject, clientId, audience, expiresAt, notBefore, confirmation } = token
  const { clockSkewMs } = expected
  const audiences = typeof audience === 'string' ? [audience] : (audience ?? [])
  const principal = subject ?? clientId
  if (principal === undefined || principal === '')
    return 'It names no principal: its subject is not a string'
  if (!audiences.some((value) => expected.audience.includes(value))) {
    return `Its audience is ${quote(audience)}, not ${anyOf(expected.audience)}`
  }
  if (issuer !== undefined && !expected.authorizationServers.includes(issuer)) {
    return foreignIssuer(issuer, expected)
  }
  const currentTime = `and it is ${quote(new Date(now))} here`
  // `NaN` counts as expired
  const isUnexpired = expiresAt === undefined || expiresAt + clockSkewMs > now
  if (!isUnexpired) {
    const unit = Math.abs(expiresAt) < IMPLAUSIBLE_MS ? ' (in ms)' : ''
    return `It expired at ${quote(new Date(expiresAt))}${unit}, ${currentTime}`
  }
  const hasBegun = notBefore === undefined || notBefore - clockSkewMs <= now
  if (!hasBegun) {
    return `It is not valid before ${quote(new Date(notBefore))}, ${currentTime}`
  }
  // A token with any other confirmation method must be rejected: nothing would detect that it is stolen
  const method = Object.keys(confirmation ?? {}).find((name) => name !== 'jkt')
  return method === undefined
    ? undefined
    : `It is bound by ${quote(method)}, which is not checked here`
}

/** The reason for rejecting a token of an untrusted issuer. */
export function foreignIssuer(issuer: string, { authorizationServers }: TokenExpectations): string {
  return `Its issuer is ${quote(issuer)}, not ${anyOf(authorizationServers)}`
}

/** Formats an untrusted value for a log: on one line, and truncated. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing'
  return text.slice(0, MAX_QUOTED).replace(/\p{Cc}/gu, '?')
}

function anyOf(values: readonly string[]): string {
  return [...new Set(values)].map(quote).join(' or ')
}

function stringOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function audienceOf(aud: unknown): string | string[] | undefined {
  return Array.isArray(aud)
    ? aud.filter((value) => typeof value === 'string')
    : stringOrUndefined(aud)
}

/** An unreadable `cnf` still counts as a binding, which no proof can satisfy. */
function confirmationOf(cnf: unknown): JsonObject | undefined {
  if (cnf === undefined || cnf === null) return undefined
  return isObject(cnf) ? cnf : { unreadable: true }
}

/** Accepts a space-separated string (RFC 9068), or a list, as some servers write it. */
function scopesOf(scope: unknown): string[] {
  if (Array.isArray(scope)) return scope.filter((value) => typeof value === 'string')
  return (stringOrUndefined(scope) ?? '').split(' ').filter((name) => name !== '')
}

/** A malformed time becomes `NaN`: every comparison with it is false, so the token is rejected. */
function milliseconds(seconds: unknown): number | undefined {
  if (seconds === undefined || seconds === null) return undefined
  return typeof seconds === 'number' ? seconds * 1000 : NaN
}
