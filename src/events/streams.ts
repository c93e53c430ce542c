/**
 * `events/stream`, and the limits on the number of open streams.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { accountOf } from '../patterns/account.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import { STREAM_PREFIX, type ServerEventHost } from './server-event-host.ts'
import type { StreamMode } from './options.ts'
import { runStream } from './stream.ts'

/** The options of `streams`. */
export interface StreamOptions {
  /**
   * The maximum number of streams that are open at once.
   *
   * @default 10000
   */
  maxStreams?: number
  /**
   * The maximum number of streams that one principal has open at once. Without a principal, the limit
   * applies to the caller's address.
   *
   * @default 100
   */
  maxStreamsPerPrincipal?: number
  /**
   * The interval between heartbeats of a stream, in milliseconds. Clients expect at least one in 30
   * seconds.
   *
   * @default 25000
   */
  heartbeatMs?: number
}

/**
 * Delivers events in streams that clients keep open.
 *
 * @example
 * ```ts
 * import { events, streams } from 'edgewise/events'
 *
 * const invoices = events({ streams: streams({ maxStreams: 1000 }) })
 * ```
 *
 * @throws {RangeError} If a limit is negative or not a number.
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export function streams(options: StreamOptions = {}): StreamMode {
  const { heartbeatMs = 25_000, maxStreams = 10_000, maxStreamsPerPrincipal = 100 } = options
  requireKnown('streams', options, OPTION_NAMES)
  // Also false for `NaN`
  const isValid = heartbeatMs > 0 && maxStreams >= 0 && maxStreamsPerPrincipal >= 0
  if (!isValid) {
    throw new RangeError('"heartbeatMs" must be above 0, and limits must not be negative')
  }
  return (host) => createStreamMethod(host, { heartbeatMs, maxStreams, maxStreamsPerPrincipal })
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<StreamOptions> = {
  maxStreams: 1,
  maxStreamsPerPrincipal: 1,
  heartbeatMs: 1,
}

/**
 * Creates the function that answers `events/stream`. The function throws NotFound, Unsupported,
 * `INVALID_PARAMS`, ResourceExhausted or Forbidden before it sends anything.
 */
function createStreamMethod(
  host: ServerEventHost,
  { heartbeatMs, maxStreams, maxStreamsPerPrincipal }: Required<StreamOptions>,
): ReturnType<StreamMode> {
  /** The number of streams by account, and of all streams under the key `''`. Includes streams being opened. */
  const counts = new Map<string, number>()

  return async (params, ctx) => {
    let release: (() => void) | undefined
    try {
      const opened = await host.open(params, 'push', ctx, {
        beforeAuthorize: () => {
          release = reserve(ctx)
        },
      })
      const start = await host.start(opened, params)
      // Not a copy of `opened`, because the host finds the validated arguments by the identity of this object
      const subscription = Object.assign(opened, { id: STREAM_PREFIX + crypto.randomUUID() })
      return await runStream(host, subscription, ctx, start, heartbeatMs)
    } finally {
      release?.()
    }
  }

  /**
   * Counts a stream as open. Call the returned function when the stream ends.
   *
   * @throws {ProtocolError} ResourceExhausted.
   */
  function reserve({ caller }: RequestContext): () => void {
    const account = accountOf(caller)
    const limits: [key: string, max: number][] = [['', maxStreams]]
    // A caller without principal and address has no limit of its own, only the total limit
    if (account !== undefined) limits.unshift([account, maxStreamsPerPrincipal])
    for (const [key, max] of limits) {
      if ((counts.get(key) ?? 0) < max) continue
      const data = { limit: 'subscriptions', max }
      throw host.error('ResourceExhausted', 'Too many streams are open', data)
    }
    const add = (change: number): void =>
      limits.forEach(([key]) => {
        const count = (counts.get(key) ?? 0) + change
        if (count > 0) counts.set(key, count)
        else counts.delete(key)
      })
    add(1)
    return () => add(-1)
  }
}
