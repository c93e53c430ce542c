/**
 * A web site that only the user who started it can use. Each request is checked before it is handled, because any page
 * in a browser, and any other user of this machine, can send requests to a port of the machine.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/tutorials/security/security_best_practices
 */
import { randomBytes } from 'node:crypto'
import { listen } from '../listen.ts'
import { toNodeListener } from '../listener.ts'

const HOST = '127.0.0.1'

/** A site that is being served. */
export interface LocalSite {
  /** The URL of the page, which contains the secret path. */
  readonly url: string
  /** Closes all connections, and stops listening. */
  close(): void
}

/** Creates a path that cannot be guessed. It has no trailing slash. */
export function secretPath(): string {
  return `/${randomBytes(16).toString('hex')}`
}

/**
 * Listens on localhost, and serves a site below a secret path. Rejects requests that name another host (as after DNS
 * rebinding), come from a page of another origin, or lack the secret path.
 *
 * @param port The port, or 0 for any free port.
 * @param answer Answers a request. Its second parameter is the path below the secret path, such as `/mcp`.
 * @throws {SdkError} `INVALID_USE` if the port is taken.
 */
export async function serveLocally(
  port: number,
  answer: (request: Request, path: string) => Promise<Response>,
): Promise<LocalSite> {
  const secret = secretPath()
  const { createServer } = await import('node:http')
  const http = createServer(
    toNodeListener(async (request) => {
      const { pathname } = new URL(request.url)
      if (isForeign(request)) return new Response(null, { status: 403 })
      if (!pathname.startsWith(`${secret}/`)) return new Response(null, { status: 404 })
      return answer(request, pathname.slice(secret.length))
    }),
  )
  return {
    url: `http://${HOST}:${await listen(http, port, HOST)}${secret}/`,
    close() {
      http.closeAllConnections()
      http.close()
    },
  }
}

/** Whether a request names another host, or was made by a page of another origin. */
function isForeign({ url, headers }: Request): boolean {
  const { origin, hostname } = new URL(url)
  if (hostname !== HOST && hostname !== 'localhost') return true
  const pageOrigin = headers.get('origin')
  if (pageOrigin !== null) return pageOrigin !== origin
  // Browsers send no origin for images and scripts. Navigation by a link or a redirect is allowed
  const site = headers.get('sec-fetch-site') ?? 'none'
  return !/^(?:none|same-origin)$/.test(site) && headers.get('sec-fetch-mode') !== 'navigate'
}
