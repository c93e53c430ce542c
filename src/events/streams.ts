/**
 * The open streams of a server.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { JsonObject, Result } from '../protocol/types.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import { accountOf } from '../patterns/account.ts'
import type { EventFailure } from './errors.ts'
import type { ServerEventHost } from './event-host.ts'
import type { OpenSubscription } from './host.ts'
import { EventStream } from './stream.ts'

/** Selects the subscriptions with all given members. */
export interface SubscriptionFilter {
  readonly principal?: string
  /** The id of a subscription. */
  readonly id?: string
  /** The name of the event type. */
  readonly name?: string
}

/** How many streams may be open at once. */
export interface StreamLimits {
  readonly heartbeatMs: number
  readonly maxStreams: number
  readonly maxStreamsPerPrincipal: number
}

/** The beginning of the ids of streams. */
export const STREAM_PREFIX = 'stream_'

/** Opens and ends streams. */
export class EventStreams {
  readonly #host: ServerEventHost
  readonly #limits: StreamLimits
  readonly #streams = new Map<string, EventStream>()
  /** The number of streams of each account, including streams that are being opened. */
  readonly #counts = new Map<string, number>()
  #total = 0

  constructor(host: ServerEventHost, limits: StreamLimits) {
    this.#host = host
    this.#limits = limits
  }

  /**
   * Answers `events/stream`.
   *
   * @throws {ProtocolError} NotFound, Unsupported, `INVALID_PARAMS`, ResourceExhausted or Forbidden,
   *   before anything was sent.
   */
  async stream(params: JsonObject, ctx: RequestContext): Promise<Result> {
    let release: (() => void) | undefined
    try {
      const opened = await this.#host.open(params, 'push', ctx, {
        beforeAuthorize: () => void (release = this.#reserve(ctx)),
      })
      const start = await this.#host.start(opened, params, ctx)
      const id = STREAM_PREFIX + crypto.randomUUID()
      // The same object, by which the host knows the validated arguments
      const subscription = Object.assign(opened, { id })
      await this.#host.subscribed(subscription, 'push')
      const stream = new EventStream(this.#host, subscription, ctx)
      this.#streams.set(id, stream)
      try {
        return await stream.run(start, this.#limits.heartbeatMs)
      } finally {
        this.#streams.delete(id)
        this.#host.unsubscribed(subscription, 'push')
      }
    } finally {
      release?.()
    }
  }

  /** Whether a stream has this id. */
  has(id: string): boolean {
    return this.#streams.has(id)
  }

  /** Ends streams with an error. */
  terminate(filter: SubscriptionFilter, failure: EventFailure): void {
    for (const stream of this.#streams.values()) {
      if (isSelected(stream.subscription, filter)) stream.terminate(failure)
    }
  }

  /** Ends all streams; their clients may open them again. */
  close(): void {
    for (const stream of this.#streams.values()) stream.end()
  }

  /**
   * Counts a stream; the returned function ends that.
   *
   * @throws {ProtocolError} ResourceExhausted.
   */
  #reserve(ctx: RequestContext): () => void {
    const account = accountOf(ctx.caller) ?? ''
    const { maxStreams, maxStreamsPerPrincipal } = this.#limits
    const count = this.#counts.get(account) ?? 0
    // Callers about whom nothing is known share only the total limit
    const max = account === '' ? maxStreams : Math.min(maxStreams, maxStreamsPerPrincipal)
    if (this.#total >= maxStreams || count >= max) {
      const data = { limit: 'subscriptions', max }
      throw this.#host.error('ResourceExhausted', 'Too many streams are open', data, ctx)
    }
    this.#total++
    this.#counts.set(account, count + 1)
    return () => {
      this.#total--
      const left = (this.#counts.get(account) ?? 0) - 1
      if (left > 0) this.#counts.set(account, left)
      else this.#counts.delete(account)
    }
  }
}

/** Whether a subscription has all members of a filter. */
export function isSelected(
  { id, name, subscriber }: OpenSubscription,
  filter: SubscriptionFilter,
): boolean {
  return (
    (filter.id === undefined || filter.id === id) &&
    (filter.name === undefined || filter.name === name) &&
    (filter.principal === undefined || filter.principal === subscriber.principal)
  )
}
