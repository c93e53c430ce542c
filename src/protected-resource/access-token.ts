/**
 * What is known of an access token, wherever it was learnt, and whether the token is good here.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-handling
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isObject } from '../protocol/validate.ts'

/** A token that is authentic: signed, or vouched for, by an authorization server. */
export interface AccessToken {
  /** The authorization server that issued it (`iss`), where that is known. */
  readonly issuer?: string | undefined
  /** Whom it stands for (`sub`); needed unless `clientId` is known. */
  readonly subject?: string | undefined
  /** The client that it was issued to. */
  readonly clientId?: string | undefined
  /** For whom it is meant (`aud`). A token that does not name the server is refused. */
  readonly audience: string | readonly string[] | undefined
  readonly scopes: readonly string[]
  /** Milliseconds since 1970. */
  readonly expiresAt?: number | undefined
  /** Milliseconds since 1970. */
  readonly notBefore?: number | undefined
  /** What else the bearer must hold (`cnf`, RFC 7800), such as the key of DPoP proofs. */
  readonly confirmation?: JsonObject | undefined
  /** Everything else that handlers should know. */
  readonly claims?: JsonObject | undefined
}

/** For whom a token must be meant. */
export interface TokenExpectations {
  /** The identifier of the protected resource: the URL of the endpoint. */
  readonly resource: string
  /** The values of `aud` of which the token must have one. */
  readonly audience: readonly string[]
  /** The issuers of which it must come from one. */
  readonly authorizationServers: readonly string[]
  /** How far clocks may be apart, in milliseconds. */
  readonly clockSkewMs: number
}

/** A token that is not authentic. */
export interface RefusedToken {
  /**
   * Why, in words for the author of the server: `observe` is told, the client is not. Without the
   * token, or anything else that is secret.
   */
  readonly refused: string
}

/**
 * Finds out whether a token is authentic and what it says; why not, or nothing, when it is not.
 * Audience, issuer and times are checked afterwards, for every verifier alike.
 *
 * Whatever it throws is answered with 503, as it is no fault of the caller's.
 */
export type TokenVerifier = (
  token: string,
  expected: TokenExpectations,
) => Promise<AccessToken | RefusedToken | undefined>

/** The token that a set of claims describes: those of a JWT (RFC 9068), or of an introspection. */
export function tokenOf(claims: JsonObject): AccessToken {
  return {
    // One that cannot be read is none that is trusted
    issuer: claims.iss === undefined ? undefined : (text(claims.iss) ?? ''),
    // Nor is it the client, whom all its users would then be
    subject: claims.sub === undefined || claims.sub === null ? undefined : (text(claims.sub) ?? ''),
    clientId: text(claims.client_id) ?? text(claims.azp),
    audience: audienceOf(claims.aud),
    scopes: scopesOf(claims.scope ?? claims.scp),
    expiresAt: milliseconds(claims.exp),
    notBefore: milliseconds(claims.nbf),
    confirmation: confirmationOf(claims.cnf),
    claims,
  }
}

/**
 * What is wrong with a token that is authentic: nothing when it is meant for this server, comes from
 * an issuer that it trusts, and is good now.
 */
export function faultOf(
  token: AccessToken,
  expected: TokenExpectations,
  now: number,
): string | undefined {
  const { issuer, subject, clientId, audience, expiresAt, notBefore, confirmation } = token
  const { clockSkewMs } = expected
  const named = typeof audience === 'string' ? [audience] : (audience ?? [])
  if ((subject ?? clientId ?? '') === '') return 'It stands for nobody: its subject is no text'
  if (!named.some((one) => expected.audience.includes(one))) {
    return `Its audience is ${quote(audience)}, not ${anyOf(expected.audience)}`
  }
  if (issuer !== undefined && !expected.authorizationServers.includes(issuer)) {
    return foreignIssuer(issuer, expected)
  }
  const clock = `and it is ${quote(new Date(now))} here`
  // Not a number compares as expired; what is so near to 1970 is in seconds by mistake
  if (expiresAt !== undefined && !(expiresAt + clockSkewMs > now)) {
    const unit = Math.abs(expiresAt) < 1e11 ? ' (in ms)' : ''
    return `It expired at ${quote(new Date(expiresAt))}${unit}, ${clock}`
  }
  if (notBefore !== undefined && !(notBefore - clockSkewMs <= now)) {
    return `It is not good before ${quote(new Date(notBefore))}, ${clock}`
  }
  // Nobody checks other ways of binding here, so whoever stole the token could use it
  const way = Object.keys(confirmation ?? {}).find((one) => one !== 'jkt')
  return way === undefined ? undefined : `It is bound by ${quote(way)}, which is not checked here`
}

/** What is wrong with a token of an issuer that is not trusted. */
export function foreignIssuer(issuer: string, { authorizationServers }: TokenExpectations): string {
  return `Its issuer is ${quote(issuer)}, not ${anyOf(authorizationServers)}`
}

/** A value as it can stand in a log, whoever wrote it: on one line, and not long. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing'
  return text.slice(0, MAX_QUOTED).replace(/\p{Cc}/gu, '?')
}

/** The longest quotation, in UTF-16 units. */
const MAX_QUOTED = 200

function anyOf(values: readonly string[]): string {
  return [...new Set(values)].map(quote).join(' or ')
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function audienceOf(aud: unknown): string | string[] | undefined {
  return Array.isArray(aud) ? aud.filter((one) => typeof one === 'string') : text(aud)
}

/** A binding that cannot be read is still one, which nobody can prove to fit. */
function confirmationOf(cnf: unknown): JsonObject | undefined {
  if (cnf === undefined || cnf === null) return undefined
  return isObject(cnf) ? cnf : { unreadable: true }
}

/** As a text with spaces (RFC 9068), or a list, as some servers write them. */
function scopesOf(scope: unknown): string[] {
  if (Array.isArray(scope)) return scope.filter((one) => typeof one === 'string')
  return (text(scope) ?? '').split(' ').filter((one) => one !== '')
}

/** A malformed time is not a number: no comparison with it holds, and the token is refused. */
function milliseconds(seconds: unknown): number | undefined {
  if (seconds === undefined || seconds === null) return undefined
  return typeof seconds === 'number' ? seconds * 1000 : NaN
}
