/**
 * How many streams a hub has: at most as many as an object has sockets, and at most half for one
 * caller.
 *
 * @see https://developers.cloudflare.com/durable-objects/best-practices/websockets/
 */
import { accountOf, type SubscribeOptions } from '#internal/http'

/** The most sockets of one object, as the platform has it. */
const MAX_SOCKETS = 32_768
/** After how many requests for streams sockets are counted again: counting many takes long. */
const COUNT_EVERY = 256

const HEADER_ACCOUNT = 'edgewise-account'

/** The status of the hub's answer when it is full. */
export const FULL = 503
/** The status of the hub's answer when the caller has too many streams. */
export const TOO_MANY = 429

/** The connections of one hub. */
export class ConnectionQuota {
  readonly #ctx: DurableObjectState
  #open = 0
  /** How many streams were requested since sockets were counted. */
  #requested = Infinity

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx
  }

  /**
   * Counts one more stream, or returns the status that refuses it. A caller may have as many as are
   * left for all others, so at most half.
   */
  acquire(account: string): typeof FULL | typeof TOO_MANY | undefined {
    if (++this.#requested > COUNT_EVERY) {
      this.#open = this.#ctx.getWebSockets().length
      this.#requested = 0
    }
    const left = MAX_SOCKETS - this.#open
    if (left <= 0) return FULL
    if (this.#open >= left && this.#ctx.getWebSockets(account).length >= left) return TOO_MANY
    this.#open++
    return undefined
  }

  /** Counts a stream that ended. */
  release(): void {
    this.#open--
  }
}

/** The headers that name the account which a stream counts for. */
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

/** The account that a stream counts for, in the hub: a tag of its socket. */
export function readAccount(headers: Headers): string {
  return `account ${headers.get(HEADER_ACCOUNT) ?? ''}`
}
