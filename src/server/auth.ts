/**
 * Authentication of callers, which precedes the handling of every request.
 * `edgewise/protected-resource` creates an authenticator for access tokens; {@link authenticate}
 * creates one for all other schemes.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import type { ServerDefinition } from './definition.ts'
import type { Authorizer, Caller } from './request/exchange.ts'

/**
 * Authenticates and authorizes callers. Created by `protectedResource` or {@link authenticate}.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
export interface Authenticator extends Authorizer {
  /** The paths of the OAuth metadata, which your program must route to the handler too. */
  readonly paths: readonly string[]
  /** The request headers that carry credentials, in lower case; they are hidden from handlers. */
  readonly credentialHeaders: readonly string[]
  /**
   * Answers metadata requests from any origin. Returns `undefined` for requests to the endpoint.
   */
  handleMetadata(request: Request): Response | undefined
  /**
   * Authenticates the caller, before anything except the headers is read.
   *
   * @returns The caller, with `principal` and `auth`; or a response that rejects the request.
   * @throws {HttpError} 401, 403 and so on, with a challenge.
   */
  authenticate(
    request: Request,
    caller: Caller,
    server: ServerDefinition,
  ): Promise<Caller | Response> | Caller
}

/**
 * Authenticates callers without OAuth, for example by an API key: a value for the option `auth` of
 * every host. For access tokens, use `protectedResource`.
 *
 * @example
 * ```ts
 * import { authenticate, createHandler, createServer } from 'edgewise/server'
 *
 * const users = new Map([['a-secret-key', 'alice']])
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 *
 * export const handle = createHandler(server, {
 *   auth: authenticate((request) => {
 *     const principal = users.get(request.headers.get('x-api-key') ?? '')
 *     return principal === undefined ? new Response('Unknown key', { status: 401 }) : { principal }
 *   }),
 * })
 * ```
 *
 * @param identify Called for each request, before anything except the headers is read, but not for
 * CORS preflights, which carry no credentials. Its second parameter is the platform's environment,
 * such as the bindings of a Worker. The returned caller becomes `ctx.principal`, `ctx.auth` and
 * `ctx.env`; on Workers, `auth` must be serializable as JSON. A response rejects the request, and
 * pages of allowed origins can read it. An exception is passed to `onError`, and the response has
 * the status 500.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
export function authenticate<Env = unknown>(
  identify: (request: Request, env: Env) => Caller | Response | Promise<Caller | Response>,
): Authenticator {
  return {
    paths: [],
    credentialHeaders: [],
    handleMetadata: () => undefined,
    async authenticate(request, caller) {
      const identified = await identify(request, caller.env as Env)
      return identified instanceof Response ? identified : { ...caller, ...identified }
    },
    authorize: () => {},
  }
}
