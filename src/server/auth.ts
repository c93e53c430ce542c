/**
 * Who is served: what every host asks before it answers. `edgewise/protected-resource` makes an
 * authenticator for access tokens; {@link authenticate} makes one for everything else.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import type { ServerDefinition } from './definition.ts'
import type { Authorizer, Caller } from './request/exchange.ts'

/** Authenticates and authorizes callers. Made by `protectedResource` or {@link authenticate}. */
export interface Authenticator extends Authorizer {
  /** The paths of the OAuth metadata, which the host must route to the handler too. */
  readonly paths: readonly string[]
  /** The request headers that carry credentials, in lower case, which handlers never see. */
  readonly credentialHeaders: readonly string[]
  /** Answers a request for the metadata, whatever its origin; `undefined` if it is for the endpoint. */
  handleMetadata(request: Request): Response | undefined
  /**
   * Authenticates the caller, before anything of the request but its headers is read.
   *
   * @returns The caller, with `principal` and `auth`; or a response that refuses the request.
   * @throws {HttpError} 401, 403 and so on, with a challenge.
   */
  authenticate(
    request: Request,
    caller: Caller,
    server: ServerDefinition,
  ): Promise<Caller | Response> | Caller
}

/**
 * Authenticates callers without OAuth, such as by an API key: a value of the option `auth` of every
 * host. For access tokens there is `protectedResource`.
 *
 * @example
 * ```ts
 * const handle = createHandler(server, {
 *   auth: authenticate(async (request) => {
 *     const user = await findUser(request.headers.get('x-api-key'))
 *     return user ? { principal: user.id } : new Response('Unknown key', { status: 401 })
 *   }),
 * })
 * ```
 *
 * @param identify Is called for each request, before anything but its headers is read, but not for
 *   CORS preflights, which carry no credentials. It also gets the environment of the platform, such
 *   as the bindings of a Worker. The caller it returns becomes `ctx.principal`, `ctx.auth` and
 *   `ctx.env`; on Workers `auth` must survive JSON. A response refuses the request; pages of allowed
 *   origins can read it. An exception becomes a response with status 500, and goes to `onError`.
 */
export function authenticate<Env = unknown>(
  identify: (request: Request, env: Env) => Caller | Response | Promise<Caller | Response>,
): Authenticator {
  return {
    paths: [],
    credentialHeaders: [],
    handleMetadata: () => undefined,
    async authenticate(request, known) {
      const found = await identify(request, known.env as Env)
      return found instanceof Response ? found : { ...known, ...found }
    },
    authorize: () => {},
  }
}
