/**
 * A sign-in in the user's browser that ends with a redirect to a local port (RFC 8252).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#communication-security
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { isLoopback } from '../patterns/loopback.ts'
import type { AuthorizationFlow, AuthorizationRedirect } from './authorization-flow.ts'
import { parseUrl } from '../patterns/url.ts'

/** How the redirect is received. */
export interface LoopbackOptions {
  /** The port of the redirect URI. By default the port of the registered URI is used, or any free port. */
  readonly port?: number
  /**
   * The host name of the redirect URI: a loopback address, or `localhost` if the client is registered with that
   * name. The listener binds to loopback addresses only. By default the host name of the registered URI is used,
   * or `127.0.0.1`.
   */
  readonly hostname?: string
  /**
   * The path of the redirect URI.
   *
   * @default '/callback'
   */
  readonly path?: string
  /**
   * Opens a page for the user. By default the URL is printed to stderr and opened in the default
   * browser.
   */
  readonly open?: (url: string) => Awaitable<void>
  /** The HTML page shown after the redirect. The default page tells the user that it can be closed. */
  readonly page?: string
}

/** The operations of the machine that a runtime provides. */
export interface LoopbackHost {
  /** The operating system, such as `linux`, `darwin` or `win32`. */
  readonly os: string
  /**
   * Listens on an address, such as `127.0.0.1` or `::1`. Port 0 means any free port. Rejects with an error that has
   * the code `EADDRINUSE` if the port is taken.
   */
  listen(
    port: number,
    answer: (request: Request) => Response,
    address: string,
  ): Promise<LoopbackListener>
  /**
   * Runs a program without a shell. A running program does not keep this process alive. Rejects if the program
   * cannot be started, or exits with a status other than 0.
   */
  run(command: string, args: readonly string[]): Promise<void>
}

/** A listening port. */
export interface LoopbackListener {
  readonly port: number
  /** Stops listening once pending responses are complete. */
  close(): Awaitable<void>
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<LoopbackOptions> = {
  port: 1,
  hostname: 1,
  path: 1,
  open: 1,
  page: 1,
}

const DEFAULT_PAGE =
  '<!doctype html><meta charset="utf-8"><title>Signed in</title><p>You can close this page.'
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
}

/**
 * Creates an authorization flow that opens the user's browser and listens for the redirect.
 *
 * @throws {TypeError} If the host name is not a loopback name or address, or an option is unknown.
 */
export function createLoopbackFlow(
  host: LoopbackHost,
  options: LoopbackOptions = {},
): AuthorizationFlow {
  const { path = '/callback', page = DEFAULT_PAGE, open = (url) => showUrl(host, url) } = options
  const { port: wantedPort, hostname: wantedHostname } = options
  requireKnown('loopback', options, OPTION_NAMES)
  if (wantedHostname !== undefined && !isLoopback(wantedHostname)) {
    throw new TypeError(`Cannot listen on "${wantedHostname}": it is not a loopback host`)
  }
  return {
    async begin(registeredUri): Promise<AuthorizationRedirect> {
      const registeredUrl = parseUrl(registeredUri ?? '')
      const registeredLoopback =
        registeredUrl && isLoopback(registeredUrl.hostname) ? registeredUrl : undefined
      const hostname = wantedHostname ?? registeredLoopback?.hostname ?? '127.0.0.1'
      let state: string | null = null
      let onRedirect: ((callback: string) => void) | undefined
      const handleRequest = ({ url, method }: Request): Response => {
        const { hostname: requestedHostname, pathname, searchParams } = new URL(url)
        // Only DNS rebinding can make a browser send a request with another host name to this machine
        if (!isLoopback(requestedHostname)) return new Response(null, { status: 403 })
        if (method !== 'GET' || pathname !== path) return new Response(null, { status: 404 })
        // Any page can send the browser here, but only the authorization server knows the state
        if (!onRedirect || searchParams.get('state') !== state) {
          return new Response('This is not the sign-in that was started', { status: 400 })
        }
        onRedirect(url)
        onRedirect = undefined
        return new Response(page, { headers: HEADERS })
      }
      const listen = (port: number): Promise<LoopbackListener> =>
        listenOnLoopback(host, hostname, port, handleRequest)
      const listener =
        wantedPort === undefined && registeredLoopback?.port
          ? await listen(Number(registeredLoopback.port)).catch(() => listen(0))
          : await listen(wantedPort ?? 0)
      return {
        redirectUri: `http://${hostname}:${listener.port}${path}`,
        go: (url, _flow, signal) =>
          new Promise((resolve, reject) => {
            state = new URL(url).searchParams.get('state')
            onRedirect = resolve
            signal.addEventListener('abort', () => reject(signal.reason))
            Promise.resolve(open(url)).catch(reject)
          }),
        end: () => listener.close(),
      }
    },
  }
}

/** Listens on every address that a browser may resolve a loopback name to. */
async function listenOnLoopback(
  host: LoopbackHost,
  hostname: string,
  port: number,
  answer: (request: Request) => Response,
): Promise<LoopbackListener> {
  const isLocalhost = hostname === 'localhost'
  const address = isLocalhost ? '127.0.0.1' : hostname.replace(/[[\]]/g, '')
  const listener = await host.listen(port, answer, address)
  if (!isLocalhost) return listener
  try {
    const ipv6Listener = await host.listen(listener.port, answer, '::1')
    const close = async (): Promise<void> => {
      await Promise.all([listener.close(), ipv6Listener.close()])
    }
    return { port: listener.port, close }
  } catch (error) {
    // Without IPv6, IPv4 suffices. But if another program has the port, that program could receive the redirect
    if ((error as { code?: unknown }).code !== 'EADDRINUSE') return listener
    await listener.close()
    throw error
  }
}

/** Prints a URL, and opens it in a browser. The printed URL helps if the browser starts without showing the page. */
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
 * @throws The error of `host.run`, if the program does not exist or fails.
 */
export function openBrowser(host: Pick<LoopbackHost, 'os' | 'run'>, url: string): Promise<void> {
  const [command = '', ...args] = browserCommand(host.os)
  return host.run(command, [...args, new URL(url).href])
}

/** The program that opens a URL in the default browser, and its first arguments. */
function browserCommand(os: string): readonly string[] {
  if (os === 'darwin') return ['open']
  return os.startsWith('win') ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open']
}
