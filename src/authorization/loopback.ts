/**
 * Signing in with the user's own browser, which comes back to a port of this machine (RFC 8252).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#communication-security
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import { isLoopback } from '../patterns/loopback.ts'
import type { AuthorizationFlow, AuthorizationRedirect } from './authorization-flow.ts'
import { parseUrl } from './urls.ts'

/** How the user is sent away and received again. */
export interface LoopbackOptions {
  /** The port to be sent back to. Default: the one that is registered, or any that is free. */
  readonly port?: number
  /**
   * The host name to be sent back to: `localhost` where a client is registered with that, or an
   * address of this machine. Only loopback addresses are listened on. Default: the one that is
   * registered, or `127.0.0.1`.
   */
  readonly hostname?: string
  /** The path to be sent back to. Default: `/callback`. */
  readonly path?: string
  /** Shows a page to the user. Default: prints its URL to stderr and opens it in their browser. */
  readonly open?: (url: string) => Awaitable<void>
  /** The HTML that users see when they are back. Default: a sentence. */
  readonly page?: string
}

/** What that needs of the machine. */
export interface LoopbackHost {
  /** The operating system, such as `linux`, `darwin` or `win32`. */
  readonly os: string
  /**
   * Listens on an address, such as `127.0.0.1` or `::1`; a port of 0 stands for any. Rejects when
   * the port is taken, with the code `EADDRINUSE`.
   */
  listen(
    port: number,
    answer: (request: Request) => Response,
    address: string,
  ): Promise<LoopbackListener>
  /**
   * Runs a program without a shell, and does not keep this one from ending. Rejects when it cannot
   * be started, or ends with a status other than 0.
   */
  run(command: string, args: readonly string[]): Promise<void>
}

/** A port that is listened on. */
export interface LoopbackListener {
  readonly port: number
  /** Stops listening, once what is being answered has been. */
  close(): Awaitable<void>
}

const PAGE =
  '<!doctype html><meta charset="utf-8"><title>Signed in</title><p>You can close this page.'
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
}

/**
 * Makes the interaction of a machine.
 *
 * @throws {TypeError} When the host name is not one of this machine.
 */
export function loopbackOn(host: LoopbackHost, options: LoopbackOptions = {}): AuthorizationFlow {
  const { path = '/callback', page = PAGE, open = (url) => showUrl(host, url) } = options
  const { port: wantedPort, hostname: wantedHost } = options
  if (wantedHost !== undefined && !isLoopback(wantedHost)) {
    throw new TypeError(`Cannot listen on "${wantedHost}": it is not a loopback host`)
  }
  return {
    async begin(known): Promise<AuthorizationRedirect> {
      const url = parseUrl(known ?? '')
      const registered = url && isLoopback(url.hostname) ? url : undefined
      const hostname = wantedHost ?? registered?.hostname ?? '127.0.0.1'
      let state: string | null = null
      let arrived: ((callback: string) => void) | undefined
      const answer = ({ url, method }: Request): Response => {
        const { hostname, pathname, searchParams } = new URL(url)
        // Any other name was resolved to this machine by DNS rebinding
        if (!isLoopback(hostname)) return new Response(null, { status: 403 })
        if (method !== 'GET' || pathname !== path) return new Response(null, { status: 404 })
        // Any page can send the browser here; only the authorization server knows the state
        if (!arrived || searchParams.get('state') !== state) {
          return new Response('This is not the sign-in that was begun', { status: 400 })
        }
        arrived(url)
        arrived = undefined
        return new Response(page, { headers: HEADERS })
      }
      const listen = (port: number): Promise<LoopbackListener> =>
        listenOn(host, hostname, port, answer)
      const listener =
        wantedPort === undefined && registered?.port
          ? await listen(Number(registered.port)).catch(() => listen(0))
          : await listen(wantedPort ?? 0)
      return {
        redirectUri: `http://${hostname}:${listener.port}${path}`,
        go: (url, _flow, signal) =>
          new Promise((resolve, reject) => {
            state = new URL(url).searchParams.get('state')
            arrived = resolve
            signal.addEventListener('abort', () => reject(signal.reason))
            Promise.resolve(open(url)).catch(reject)
          }),
        end: () => listener.close(),
      }
    },
  }
}

/** Listens on every address that browsers may resolve a loopback name to. */
async function listenOn(
  host: LoopbackHost,
  hostname: string,
  port: number,
  answer: (request: Request) => Response,
): Promise<LoopbackListener> {
  const isName = hostname === 'localhost'
  const address = isName ? '127.0.0.1' : hostname.replace(/[[\]]/g, '')
  const listener = await host.listen(port, answer, address)
  if (!isName) return listener
  try {
    const other = await host.listen(listener.port, answer, '::1')
    const close = async (): Promise<void> => {
      await Promise.all([listener.close(), other.close()])
    }
    return { port: listener.port, close }
  } catch (error) {
    // A machine may have no IPv6. A taken port would send the user to another program
    if ((error as { code?: unknown }).code !== 'EADDRINUSE') return listener
    await listener.close()
    throw error
  }
}

/** Prints a URL, as a browser may not show it even if it was started, and opens it in a browser. */
async function showUrl(host: LoopbackHost, url: string): Promise<void> {
  const { href } = new URL(url)
  console.error(`To sign in, open ${href}`)
  await openBrowser(host, href).catch((error: unknown) => {
    console.error(
      `Cannot open a browser: ${error instanceof Error ? error.message : String(error)}`,
    )
  })
}

/**
 * Opens a page in the user's browser.
 *
 * @throws the error of `host.run`: there is no program for that, or it failed.
 */
export function openBrowser(host: Pick<LoopbackHost, 'os' | 'run'>, url: string): Promise<void> {
  const [command, ...args] =
    host.os === 'darwin'
      ? ['open']
      : host.os.startsWith('win')
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open']
  return host.run(command ?? '', [...args, new URL(url).href])
}
