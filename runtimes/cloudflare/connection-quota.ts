/**
 * The limits on the streams of a hub, the Durable Object that announces changes. Each stream is a socket, so
 * the platform's limit on sockets applies. One caller can have at most half of the sockets.
 *
 * @see https://developers.cloudflare.com/durable-objects/best-practices/websockets/
 */
import { accountOf, type SubscribeOptions } from '#internal/http'

/** The platform's limit on the sockets of one object. */
const MAX_SOCKETS = 32_768
/** The sockets are counted again only after this number of requests for streams, because counting is slow. */
const COUNT_EVERY = 256

const HEADER_ACCOUNT = 'edgewise-account'

/** The response status when the hub is full. */
export const HUB_FULL_STATUS = 503
/** The response status when the caller has too many streams. */
export const CALLER_FULL_STATUS = 429

/** Counts the streams of one hub, and limits their number. */
export class ConnectionQuota {
  readonly #ctx: DurableObjectState
  #openCount = 0
  /** The number of streams requested since the sockets were counted. */
  #requestsSinceCount = Infinity

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx
  }

  /**
   * Counts one more stream, or returns the status for rejecting it. A stream is rejected if its caller has at
   * least as many streams as the hub has free sockets. One caller therefore has at most half of all sockets.
   */
  acquire(account: string): typeof HUB_FULL_STATUS | typeof CALLER_FULL_STATUS | undefined {
    this.#requestsSinceCount++
    if (this.#requestsSinceCount > COUNT_EVERY) {
      this.#openCount = this.#ctx.getWebSockets().length
      this.#requestsSinceCount = 0
    }
    const remaining = MAX_SOCKETS - this.#openCount
    if (remaining <= 0) return HUB_FULL_STATUS
    // Counting the streams of one account is slow. It is skipped while the streams of all accounts together are
    // fewer than one account may have
    if (this.#openCount >= remaining && this.#ctx.getWebSockets(account).length >= remaining) {
      return CALLER_FULL_STATUS
    }
    this.#openCount++
    return undefined
  }

  /** Counts a stream that ended. */
  release(): void {
    this.#openCount--
  }
}

/** The header that names the account of a stream: a hash of the caller's principal or address. */
export async function accountHeaders({
  principal,
  request,
}: NonNullable<SubscribeOptions['caller']> = {}): Promise<Record<string, string>> {
  const address = request?.headers.get('cf-connecting-ip') ?? ''
  const account = accountOf({ principal, address })
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(account))
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'))
  return { [HEADER_ACCOUNT]: hex.join('') }
}

/** Reads the account of a stream, as a tag for the stream's socket. The hub calls this. */
export function readAccount(headers: Headers): string {
  return `account ${headers.get(HEADER_ACCOUNT) ?? ''}`
}
