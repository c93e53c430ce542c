/**
 * The places that a hub has for streams: as many as an object takes sockets, and no caller takes them
 * all.
 *
 * @see https://developers.cloudflare.com/durable-objects/best-practices/websockets/
 */
import { accountOf, type SubscribeOptions } from '#internal/http'

/** The most sockets of one object, as the platform has it. */
const MAX_SOCKETS = 32_768
/** How often sockets are counted anew, in streams that were asked for: of many it takes long. */
const COUNT_EVERY = 256

type Who = NonNullable<SubscribeOptions['caller']>

const HEADER_ACCOUNT = 'edgewise-account'

/** Why a hub has no place for a stream, as the status of its answer. */
export const FULL = 503
export const TOO_MANY = 429

/** The places of one hub. */
export class HubPlaces {
  readonly #ctx: DurableObjectState
  #taken = 0
  /** How many streams were asked for since sockets were counted. */
  #asked = Infinity

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx
  }

  /**
   * Takes a place for one more stream, or says why there is none. A caller may have no more than are
   * left, so that nobody has more than half, and others find some.
   */
  take(account: string): typeof FULL | typeof TOO_MANY | undefined {
    if (++this.#asked > COUNT_EVERY) {
      this.#taken = this.#ctx.getWebSockets().length
      this.#asked = 0
    }
    const left = MAX_SOCKETS - this.#taken
    if (left <= 0) return FULL
    if (this.#taken >= left && this.#ctx.getWebSockets(account).length >= left) return TOO_MANY
    this.#taken++
    return undefined
  }

  /** Notes that a stream ended. */
  leave(): void {
    this.#taken--
  }
}

/** The headers that tell the hub for whom a stream is counted. */
export async function accountHeaders({ principal, request }: Who = {}): Promise<
  Record<string, string>
> {
  const address = request?.headers.get('cf-connecting-ip') ?? ''
  const who = accountOf({ principal, address })
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(who))
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'))
  return { [HEADER_ACCOUNT]: hex.join('') }
}

/** For whom a stream is counted, in the hub: a tag of its socket. */
export function readAccount(headers: Headers): string {
  return `account ${headers.get(HEADER_ACCOUNT) ?? ''}`
}
