/**
 * Callers whom a host knows without OAuth, such as by an API key.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import type { Caller } from './request/exchange.ts'
import type { Protection } from './auth.ts'

/**
 * Lets a handler find out who calls, as its option `protect`, wherever it runs; for access tokens
 * there is `protectedResource`.
 *
 * @param identify Is asked of each request, before anything but its headers is read, but not of
 *   those by which a browser asks whether a page may call at all. What it gives becomes `ctx.principal`,
 *   `ctx.auth` and `ctx.env`. A response refuses the request, such as one with status 401; pages of
 *   allowed origins can read it. What it throws is a response with status 500, and goes to `onError`.
 */
export function identifyCallers(
  identify: (request: Request) => Caller | Response | Promise<Caller | Response>,
): Protection {
  return {
    paths: [],
    publish: () => undefined,
    async admit(request, known) {
      const found = await identify(request)
      return found instanceof Response ? found : { ...known, ...found }
    },
    permit: () => {},
  }
}
