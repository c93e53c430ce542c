/**
 * A server as an OAuth protected resource: nobody is answered without an access token that is
 * authentic, meant for this server, good now, and granted what the request needs.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import { INTERNAL_ERROR, ProtocolError } from '../protocol/errors.ts'
import type { Auth, Caller } from '../server/exchange.ts'
import type { Protection } from '../server/protection.ts'
import type { Refusal } from '../transport/streamable-http/refusal.ts'
import { faultOf, type AccessToken, type RefusedToken } from './access-token.ts'
import { challenge, type Reason } from './challenge.ts'
import { readCredentials, type Credentials } from './credentials.ts'
import { metadataResponse } from './metadata.ts'
import { readOptions, type ProtectedResourceOptions, type Settings } from './options.ts'
import { proofUrl } from './proof-url.ts'
import { requirePermission, union } from './scopes.ts'

/**
 * Protects a server: give it as `protect` to `createHandler`, `createWorker`, `serve` and so on.
 *
 * @throws {TypeError} when the resource, an issuer or a scope is none, or there is no issuer.
 */
export function protectedResource(options: ProtectedResourceOptions): Protection {
  const settings = readOptions(options)
  return {
    paths: settings.paths,
    publish: (request) => metadataResponse(settings, request),
    permit: (frame, caller, server) => requirePermission(settings, frame, caller, server),
    async admit(request, caller, server) {
      const credentials = requireCredentials(settings, request)
      let found: AccessToken | RefusedToken | undefined
      try {
        found = await options.verify(credentials.token, settings)
      } catch (error) {
        server.report(error)
        throw new ProtocolError(INTERNAL_ERROR, 'The access token cannot be checked now')
      }
      const token = requireGood(settings, credentials, found)
      await requireBinding(settings, request, credentials, token)
      const known = admitted(settings, caller, token)
      // What a message needs is known when it was read
      if (request.method !== 'POST') requirePermission(settings, undefined, known, server)
      return known
    },
  }
}

function requireCredentials(settings: Settings, request: Request): Credentials {
  const { dpop } = settings.options
  const credentials = readCredentials(request)
  if (credentials === 'malformed') {
    throw refuse(settings, {
      status: 400,
      error: 'invalid_request',
      message: 'The request must have one access token, in its Authorization header',
      bound: dpop?.required === true,
    })
  }
  if (credentials && (dpop || credentials.scheme === 'bearer')) return credentials
  const message = 'The request has no access token'
  const reason = credentials && 'It has one with a proof, but proofs are not taken here'
  throw refuse(settings, { status: 401, message, reason, bound: dpop?.required === true })
}

function requireGood(
  settings: Settings,
  credentials: Credentials,
  found: AccessToken | RefusedToken = { refused: 'The verifier does not say why' },
): AccessToken {
  const fault = 'refused' in found ? found.refused : faultOf(found, settings, Date.now())
  if (!('refused' in found) && fault === undefined) return found
  throw refuseToken(settings, credentials, 'The access token is not valid here', fault)
}

/** Checks that who sends a bound token holds its key. */
async function requireBinding(
  settings: Settings,
  request: Request,
  credentials: Credentials,
  { confirmation }: AccessToken,
): Promise<void> {
  const { dpop } = settings.options
  const { token, scheme } = credentials
  const thumbprint = confirmation?.jkt
  if (thumbprint === undefined && scheme === 'bearer' && !dpop?.required) return
  if (!dpop) {
    throw refuseToken(
      settings,
      credentials,
      'The access token is bound to a key, but proofs are not taken here',
    )
  }
  if (typeof thumbprint !== 'string' || scheme === 'bearer') {
    const message =
      thumbprint === undefined
        ? 'The access token is bound to no key'
        : 'The access token is bound to a key, but was sent without the DPoP scheme'
    throw refuseToken(settings, { token, scheme: 'dpop' }, message)
  }
  const { origin } = new URL(settings.resource)
  // What a proxy made of the path is known to the client only if it made nothing of it
  const urls = [settings.proofUrl, proofUrl(origin + new URL(request.url).pathname) as string]
  const proof = request.headers.get('dpop')
  const fault = await dpop.check(proof, { token, thumbprint, method: request.method, urls })
  if (!fault) return
  const { error, reason } = fault
  const message = PROOF_FAULTS[error]
  throw refuse(settings, { status: 401, scheme, error, message, reason, nonce: await dpop.nonce() })
}

const PROOF_FAULTS = {
  invalid_dpop_proof: 'The DPoP proof is missing, malformed, used or not for this request',
  invalid_token: 'The DPoP proof is of another key than that of the access token',
  use_dpop_nonce: 'The DPoP proof needs the nonce of this response',
}

/** The caller, as handlers know it. */
function admitted(settings: Settings, caller: Caller, token: AccessToken): Caller {
  const { issuer, subject, clientId, scopes, expiresAt, claims, confirmation } = token
  const bound = confirmation !== undefined
  const auth: Auth = { subject, clientId, issuer, scopes, expiresAt, bound, claims }
  return new TokenCaller(caller, principalOf(settings, token), auth)
}

/** A caller whose request does not show handlers the token, so that they cannot pass it on. */
class TokenCaller implements Caller {
  readonly principal: string
  readonly auth: Auth
  readonly env: unknown
  readonly waitUntil: Caller['waitUntil']
  readonly #given: Caller
  #request: Request | undefined

  constructor(given: Caller, principal: string, auth: Auth) {
    this.principal = principal
    this.auth = auth
    this.env = given.env
    this.waitUntil = given.waitUntil
    this.#given = given
  }

  /** Made when somebody looks, as most never do. Its body was read. */
  get request(): Request | undefined {
    const { request } = this.#given
    if (!request || this.#request) return this.#request
    const headers = new Headers(request.headers)
    headers.delete('authorization')
    headers.delete('dpop')
    const { url, method, signal } = request
    return (this.#request = new Request(url, { method, headers, signal }))
  }
}

function principalOf({ options, authorizationServers }: Settings, token: AccessToken): string {
  if (options.principal) return options.principal(token)
  const { issuer, subject, clientId } = token
  // No subject can be written like a client
  const user = subject?.replace(/^(?=(?:client|user) )/, 'user ')
  const name = user ?? `client ${clientId}`
  return authorizationServers.length > 1 ? `${issuer} ${name}` : name
}

function refuseToken(
  settings: Settings,
  { scheme }: Credentials,
  message: string,
  reason?: string,
): Refusal {
  return refuse(settings, { status: 401, error: 'invalid_token', message, reason, scheme })
}

function refuse(settings: Settings, why: Reason): Refusal {
  const { metadataUrl: metadata, scopes, options } = settings
  const algorithms = options.dpop?.algorithms
  return challenge({ metadata, scopes: union(scopes), algorithms }, why)
}
