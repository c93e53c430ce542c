/**
 * Requests to the token endpoint, for every grant, and their responses.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-5
 */
import type { AuthorizationServer, ClientAuth } from 'oauth4webapi'
import { AuthorizationError, type AuthorizationStep } from './errors.ts'
import { readAnswer, unexpectedResponse, send, type Answer, type Network } from './requests.ts'
import { isValidInHeader, type TokenRecord } from './store.ts'
import { checkUrl } from './urls.ts'

/** The client, as it identifies itself to the token endpoint. */
export interface OAuthClient {
  readonly client_id: string
  /** Adds the client authentication to a request. */
  readonly authenticate: ClientAuth
}

/** The authorization server that a token is requested from, and the purpose of the token. */
export interface TokenPurpose {
  readonly network: Network
  readonly server: AuthorizationServer
  /** The identifier of the server that the token is for. */
  readonly resource: string
  /** The requested scopes. */
  readonly scopes: readonly string[]
}

const BEARER = 'bearer'
/** How long before its expiry a token is refreshed, in milliseconds. */
const RENEWAL_MARGIN_MS = 30_000
/** For short-lived tokens: how long before its expiry a token is refreshed, as a share of its lifetime. */
const RENEWAL_MARGIN_SHARE = 0.25
/** Matches the names of parameters whose values are redacted from errors. */
const SECRET_NAME = /code|token|secret|assertion/

/**
 * Requests a token.
 *
 * @throws {AuthorizationError} If the server returns an error, or a token that cannot be used.
 */
export async function requestToken(
  purpose: TokenPurpose,
  client: OAuthClient,
  grantType: string,
  params: Readonly<Record<string, string>>,
  step: AuthorizationStep = 'token',
): Promise<TokenRecord> {
  const { server, resource, scopes } = purpose
  const { proofs, acceptTokenType } = purpose.network
  const answer = await postGrant(purpose, client, grantType, { ...params, resource }, step)
  const { json = {}, ok } = answer
  const { access_token: accessToken, refresh_token: refreshToken, scope } = json
  // Servers that issue only bearer tokens often omit the type
  const { token_type: type = BEARER } = json
  const expectedType = proofs ? 'dpop' : BEARER
  if (!ok || json.error !== undefined || typeof accessToken !== 'string') {
    throw unexpectedResponse(step, 'There is no token', answer)
  }
  const isAccepted =
    typeof type === 'string' &&
    (type.toLowerCase() === expectedType || (!proofs && acceptTokenType?.(type, server.issuer)))
  if (!isAccepted) {
    const problem = `"${server.issuer}" issued a token of type ${JSON.stringify(type)}, not "${expectedType}"`
    const remedy = proofs ? '' : ': to use it as one, accept it with "acceptTokenType"'
    throw new AuthorizationError(step, problem + remedy)
  }
  if (!isValidInHeader(accessToken)) {
    throw new AuthorizationError(step, 'The token contains invalid characters')
  }
  // `NaN` for anything that is not a number, including null and an empty string
  const lifetimeMs = Number.parseFloat(String(json.expires_in)) * 1_000
  return {
    issuer: server.issuer,
    resource,
    accessToken,
    tokenType: expectedType,
    renewAt: Number.isFinite(lifetimeMs)
      ? Date.now() + lifetimeMs - Math.min(RENEWAL_MARGIN_MS, lifetimeMs * RENEWAL_MARGIN_SHARE)
      : undefined,
    refreshToken: typeof refreshToken === 'string' && refreshToken ? refreshToken : undefined,
    asked: scopes,
    granted: typeof scope === 'string' ? splitScope(scope) : scopes,
  }
}

/**
 * Sends a request to a token endpoint, and retries once if the server demands a nonce in the proof.
 */
export async function postGrant(
  { network, server }: Pick<TokenPurpose, 'network' | 'server'>,
  { client_id, authenticate }: OAuthClient,
  grantType: string,
  params: Readonly<Record<string, string>>,
  step: AuthorizationStep,
): Promise<Answer> {
  const { href } = await checkUrl(server.token_endpoint, 'token endpoint', step, network.allowed)
  const { proofs } = network
  const algs = server.dpop_signing_alg_values_supported
  if (proofs && algs && !algs.includes(proofs.alg)) {
    const problem = `"${server.issuer}" does not support proofs with "${proofs.alg}"`
    throw new AuthorizationError(step, `${problem}, only "${algs.join('", "')}"`)
  }
  for (let attempt = 0; ; attempt++) {
    const body = new URLSearchParams({ ...params, grant_type: grantType })
    const headers = new Headers(await proofs?.headers('POST', href))
    headers.set('accept', 'application/json')
    await authenticate(server, { client_id }, body, headers)
    const secrets = [...body].flatMap(([name, value]) => (SECRET_NAME.test(name) ? value : []))
    secrets.push(...basicSecrets(headers))
    const init: RequestInit = { method: 'POST', headers, body, redirect: 'manual' }
    const response = await send(network, href, init, step)
    if (proofs?.acceptNonce(response, href) && attempt === 0) {
      response.body?.cancel().catch(() => {})
    } else {
      return readAnswer(network, response, href, step, secrets)
    }
  }
}

/** Returns the secrets in a Basic header, in every form in which a server may repeat them in an error. */
function basicSecrets(headers: Headers): string[] {
  const [, basic] = /^Basic (.+)/.exec(headers.get('authorization') ?? '') ?? []
  if (basic === undefined) return []
  const secret = atob(basic).split(':', 2)[1] ?? ''
  // The header contains the secret in form encoding (RFC 6749, section 2.3.1). The last value is the decoded secret
  return [basic, secret, new URLSearchParams(`=${secret}`).get('') ?? '']
}

/** Splits a space-separated list of scopes. */
export function splitScope(scope: string): string[] {
  return scope.split(' ').filter((name) => name !== '')
}

/** Creates the parameter `scope`. It is omitted if there are no scopes, so that the server applies its default. */
export function scopeParam(scopes: readonly string[]): Record<string, string> {
  return scopes.length > 0 ? { scope: scopes.join(' ') } : {}
}
