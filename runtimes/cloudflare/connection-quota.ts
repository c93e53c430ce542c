/**
 * The limits on the streams of a hub, the Durable Object that announces changes. Each stream is a socket, so
 * the platform's limit on sockets applies. One caller has at most half of them.
 *
 * @see https://developers.cloudflare.com/durable-objects/best-practices/websockets/
 */
import { accountOf, type SubscribeOptions } from '#internal/http'

/** The platform's limit on the sockets of one object. */
const MAX_SOCKETS = 32_768
/** Counting sockets is slow, so it is done once in this many stream requests. */
const COUNT_EVERY = 256

const HEADER_ACCOUNT = 'edgewise-account'

/** The response status when the hub is full. */
export const HUB_FULL_STATUS = 503
/** The response status when the caller has too many streams. */
export const CALLER_FULL_STATUS = 429

/** The connections of one hub. */
export class ConnectionQuota {
  readonly #ctx: DurableObjectState
  #openCount = 0
  /** The number of streams requested since the sockets were counted. */
  #requestsSinceCount = Infinity

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx
  }

  /**
   * Counts one more stream, or returns the status for rejecting it. A stream is rejected if its caller
   * has as many streams as the hub has free, so one caller has at most half of all.
   */
  acquire(account: string): typeof HUB_FULL_STATUS | typeof CALLER_FULL_STATUS | undefined {
    this.#requestsSinceCount++
    if (this.#requestsSinceCount > COUNT_EVERY) {
      this.#openCount = this.#ctx.getWebSockets().length
      this.#requestsSinceCount = 0
    }
    const remaining = MAX_SOCKETS - this.#openCount
    if (remaining <= 0) return HUB_FULL_STATUS
    // Counting the streams of one account is slow, so it is skipped while all accounts together are below the
    // limit of one
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

/** The headers that name the account of a stream: its caller's principal or address, hashed. */
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

/** Reads the account of a stream in the hub, where it becomes a tag of the socket. */
export function readAccount(headers: Headers): string {
  return `account ${headers.get(HEADER_ACCOUNT) ?? ''}`
}
