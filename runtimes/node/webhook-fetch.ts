/**
 * Requests to webhooks, whose URLs clients choose.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { ClientRequest, IncomingHttpHeaders } from 'node:http'
import type { Agent } from 'node:https'
import type { WebhookFetch } from '#internal/events'
import { SdkError } from '../../src/index.ts'
import { lookUpAll } from './public-addresses.ts'
import { webReadable } from './streams.ts'

/** The options of {@link webhookFetch}. */
export interface WebhookFetchOptions {
  /**
   * Allows an address that is not on the public Internet, such as `10.0.0.7` or `[fd00::7]`.
   * Default: none.
   */
  allowAddress?: (address: string) => boolean
  /** Resolves a host name to all of its addresses. Default: the resolver of the operating system. */
  resolve?: (hostname: string) => readonly string[] | Promise<readonly string[]>
  /** Certificates of authorities to trust, in PEM. By default, the runtime's authorities are trusted. */
  ca?: string | readonly string[]
}

/** The codes of errors after which another address of the host may work. */
const UNREACHABLE = /^E(?:CONNREFUSED|HOSTUNREACH|NETUNREACH|ADDRNOTAVAIL)$/
/** An IPv6 address of NAT64 that stands for an IPv4 address, as `URL` writes it. */
const NAT64 = /^\[64:ff9b::([\da-f]{1,4}):([\da-f]{1,4})\]$/

/**
 * Creates the option `fetch` of `webhooks`. It resolves the host of each URL, rejects private and
 * other special addresses, and connects to an address that it has checked. TLS verifies the name of
 * the host. Redirects are not followed, and no proxy from the environment is used.
 *
 * @example
 * ```ts
 * import { events, webhooks } from 'edgewise/events'
 * import { webhookFetch } from 'edgewise/node'
 *
 * const invoices = events({ webhooks: webhooks({ fetch: webhookFetch() }) })
 * ```
 *
 * @see https://cheatsheetseries.owasp.org/cheatsheets/Server_Side_Request_Forgery_Prevention_Cheat_Sheet.html
 */
export function webhookFetch(options: WebhookFetchOptions = {}): WebhookFetch {
  const { ca } = options
  let agent: Agent | undefined
  return async (url, { method, headers, body, signal }) => {
    // Loaded on demand, so that programs without webhooks do not load it
    const https = await import('node:https')
    agent ??= new https.Agent({ keepAlive: true, ...(ca !== undefined && { ca: [ca].flat() }) })
    const { hostname, host, port, pathname, search } = new URL(url)
    const addresses = await checkedAddresses(hostname, options)
    for (const [index, address] of addresses.entries()) {
      const request = https.request({
        agent,
        method,
        host: withoutBrackets(address),
        port: port || 443,
        path: pathname + search,
        headers: { ...headers, host, 'content-length': body?.length ?? 0 },
        ...(isHostName(hostname) && { servername: hostname }),
      })
      try {
        return await send(request, body, signal)
      } catch (error) {
        const isLast = index === addresses.length - 1
        if (isLast || !UNREACHABLE.test(String((error as { code?: unknown }).code))) throw error
      }
    }
    throw new SdkError('NETWORK', `"${hostname}" has no address`)
  }
}

/**
 * The addresses of a host.
 *
 * @throws {SdkError} `DENIED` if one of the addresses is not allowed.
 */
async function checkedAddresses(
  hostname: string,
  { resolve = lookUpAll, allowAddress = () => false }: WebhookFetchOptions,
): Promise<readonly string[]> {
  const { isPrivateHost } = await import('#internal/patterns')
  const resolved = isHostName(hostname) ? await resolve(hostname) : [hostname]
  const addresses = resolved.map(normalizeAddress)
  const denied = addresses.find((address) => {
    return isPrivateHost(translateNat64(address)) && !allowAddress(address)
  })
  if (denied === undefined) return addresses
  throw new SdkError('DENIED', `"${hostname}" has the address "${denied}", which is not public`)
}

/** Sends a request and waits for the head of the response. */
function send(
  request: ClientRequest,
  body: Uint8Array | undefined,
  signal: AbortSignal,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    // Rejects the promise here, because Deno does not report that a request was destroyed
    const abort = (): void => {
      request.destroy()
      reject(signal.reason)
    }
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort)
    request.on('error', reject)
    request.on('close', () => signal.removeEventListener('abort', abort))
    request.on('response', (message) => {
      const { statusCode: status = 0, headers } = message
      const hasBody = status !== 204 && status !== 304
      const stream = webReadable(message, () => request.destroy())
      if (!hasBody) message.resume()
      resolve(new Response(hasBody ? stream : null, { status, headers: plainHeaders(headers) }))
    })
    request.end(body)
  })
}

/** The headers of a response, without `set-cookie`, which is the only header that Node gives as a list. */
function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).filter(([, value]) => typeof value === 'string')
  return Object.fromEntries(entries) as Record<string, string>
}

/** Whether a host, as normalized by `URL`, is a name and not an address. */
function isHostName(hostname: string): boolean {
  return !/^(?:\[.*\]|[\d.]+)$/.test(hostname)
}

/** An address as `URL` writes it: IPv6 in brackets. */
function normalizeAddress(address: string): string {
  const host = address.includes(':') ? `[${withoutBrackets(address)}]` : address
  return new URL(`https://${host}/`).hostname
}

/** The address that a NAT64 gateway connects to; other addresses are returned unchanged. */
function translateNat64(address: string): string {
  const [, high, low] = NAT64.exec(address) ?? []
  if (high === undefined || low === undefined) return address
  const pairs = [high, low].map((pair) => Number.parseInt(pair, 16))
  return pairs.flatMap((pair) => [pair >> 8, pair & 255]).join('.')
}

function withoutBrackets(address: string): string {
  return address.replace(/^\[|\]$/g, '')
}
