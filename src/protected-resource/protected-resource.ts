/**
 * A server as an OAuth protected resource: every request needs an access token that is authentic,
 * issued for this server, currently valid, and granted the scopes that the request needs.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import { MAX_TIMER_MS } from '../patterns/timers.ts'
import { ProtocolError } from '../protocol/errors.ts'
import { INTERNAL_ERROR } from '../protocol/error-codes.ts'
import type { ServerDefinition } from '../server/definition.ts'
import type { Auth, Caller } from '../server/request/exchange.ts'
import type { Authenticator } from '../server/auth.ts'
import type { HttpError } from '../transport/http/http-error.ts'
import { faultOf, type AccessToken, type RefusedToken } from './access-token.ts'
import { challenge } from './challenge.ts'
import { readCredentials, type Credentials } from './credentials.ts'
import { metadataResponse } from './metadata.ts'
import { readOptions, type ProtectedResourceOptions, type Settings } from './options.ts'
import { requirePermission } from './scopes.ts'

/** A request without a body contains no message. */
const NO_MESSAGE = undefined
const CREDENTIAL_HEADERS = ['authorization', 'dpop'] as const

/**
 * Protects a server with access tokens: pass the result as `auth` to `createHandler`,
 * `createWorker`, `serve` and so on.
 *
 * @example
 * ```ts
 * import { jwtTokens, protectedResource } from 'edgewise/protected-resource'
 * import { createHandler, createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'notes', version: '1.0.0' })
 * const auth = protectedResource({
 *   resource: 'https://notes.example/mcp', // The URL that clients connect to
 *   authorizationServers: ['https://auth.example.com'],
 *   verify: jwtTokens(),
 *   scopes: ['notes'],
 * })
 * export const handle = createHandler(server, { auth }) // Route the paths in auth.paths to it too
 * ```
 *
 * @throws {TypeError} If the resource, an issuer or a scope is invalid, there is no issuer, or an
 *   option is unknown.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 * @see https://www.rfc-editor.org/rfc/rfc9728
 */
export function protectedResource(options: ProtectedResourceOptions): Authenticator {
  const settings = readOptions(options)
  return {
    paths: settings.paths,
    credentialHeaders: CREDENTIAL_HEADERS,
    handleMetadata: (request) => metadataResponse(settings, request),
    authorize: (...args) => requirePermission(settings, ...args),
    async authenticate(request, caller, server) {
      const credentials = requireCredentials(settings, request)
      let verified: AccessToken | RefusedToken | undefined
      try {
        verified = await options.verify(credentials.token, settings)
      } catch (error) {
        server.report(error)
        throw new ProtocolError(INTERNAL_ERROR, 'The access token cannot be checked now')
      }
      const token = requireValidToken(settings, credentials, verified)
      await requireBinding(settings, request, credentials, token)
      const authenticated = authenticatedCaller(
        settings,
        caller,
        token,
        watchRevocation(settings, credentials, token, server),
      )
      // The scopes of a POST depend on its message, which is read later
      if (request.method !== 'POST') requirePermission(settings, NO_MESSAGE, authenticated, server)
      return authenticated
    },
  }
}

function requireCredentials(settings: Settings, request: Request): Credentials {
  const credentials = readCredentials(request)
  if (credentials === 'malformed') {
    throw challenge(settings, {
      status: 400,
      error: 'invalid_request',
      message: 'The request must have one access token, in its Authorization header',
    })
  }
  if (credentials && (settings.options.dpop || credentials.scheme === 'bearer')) return credentials
  const message = 'The request has no access token'
  const reason = credentials && 'It has one with a proof, but proofs are not supported here'
  throw challenge(settings, { status: 401, message, reason })
}

function requireValidToken(
  settings: Settings,
  credentials: Credentials,
  verified: AccessToken | RefusedToken = { refused: 'The verifier gave no reason' },
): AccessToken {
  const fault = 'refused' in verified ? verified.refused : faultOf(verified, settings, Date.now())
  if (!('refused' in verified) && fault === undefined) return verified
  throw refuse(settings, credentials, 'The access token is not valid here', fault)
}

/** Checks that the sender of a bound token possesses its key. */
async function requireBinding(
  settings: Settings,
  request: Request,
  credentials: Credentials,
  { confirmation }: AccessToken,
): Promise<void> {
  const { resource, options } = settings
  const { dpop } = options
  const thumbprint = confirmation?.jkt
  // A token that is neither bound nor sent with a proof is accepted unless DPoP is required
  if (thumbprint === undefined && credentials.scheme === 'bearer' && !dpop?.required) return
  if (!dpop) {
    throw refuse(
      settings,
      credentials,
      'The access token is bound to a key, but proofs are not supported here',
    )
  }
  const fault = await dpop.check(request, { ...credentials, thumbprint, resource })
  if (fault) throw challenge(settings, { status: 401, scheme: 'dpop', ...fault })
}

/** The caller as handlers see it. */
function authenticatedCaller(
  settings: Settings,
  caller: Caller,
  token: AccessToken,
  onRevoked: Caller['onRevoked'],
): Caller {
  const { issuer, subject, clientId, scopes, expiresAt, claims, confirmation } = token
  const bound = confirmation !== undefined
  const auth: Auth = { subject, clientId, issuer, scopes, expiresAt, bound, claims }
  let request: Request | undefined
  return {
    ...caller,
    principal: principalOf(settings, token),
    auth,
    onRevoked,
    /** The request without its credentials. Copied on first access, because most handlers do not need it. */
    get request() {
      return (request ??= caller.request && withoutCredentials(caller.request))
    },
  }
}

/** Verifies the token periodically while a stream is open, if `revocationCheckMs` is set. */
function watchRevocation(
  settings: Settings,
  { token: tokenText }: Credentials,
  { expiresAt = Infinity }: AccessToken,
  server: ServerDefinition,
): Caller['onRevoked'] {
  const { revocationCheckMs = 0, verify } = settings.options
  // False for `NaN`
  const isWatched = revocationCheckMs > 0
  if (!isWatched) return undefined
  return (onRevoked) => {
    const check = async (): Promise<void> => {
      try {
        const verified = await verify(tokenText, settings)
        // A token that expired is rejected too, but expiry has its own timer
        if ((verified && !('refused' in verified)) || Date.now() >= expiresAt) return
        clearInterval(timer)
        onRevoked()
      } catch (error) {
        // The next interval retries
        server.report(error)
      }
    }
    const timer = setInterval(() => void check(), Math.min(revocationCheckMs, MAX_TIMER_MS))
    return () => clearInterval(timer)
  }
}

/** A copy of a request that hides the token from handlers, so that they cannot pass it on. */
function withoutCredentials(request: Request): Request {
  const headers = new Headers(request.headers)
  for (const name of CREDENTIAL_HEADERS) headers.delete(name)
  // The body was already consumed
  const { url, method, signal } = request
  return new Request(url, { method, headers, signal })
}

function principalOf({ options, authorizationServers }: Settings, token: AccessToken): string {
  if (options.principal) return options.principal(token)
  const { issuer, subject, clientId } = token
  // The prefix `user` distinguishes a subject that looks like the principal of a client
  const user = subject?.replace(/^(?=(?:client|user) )/, 'user ')
  const name = user ?? `client ${clientId}`
  return authorizationServers.length > 1 ? `${issuer} ${name}` : name
}

function refuse(
  settings: Settings,
  { scheme }: Credentials,
  message: string,
  reason?: string,
): HttpError {
  return challenge(settings, { status: 401, error: 'invalid_token', message, reason, scheme })
}
