/**
 * The stream of one subscription, on which the server sends events as they happen.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { backoffMs } from '../patterns/backoff.ts'
import { unref } from '../patterns/timers.ts'
import { WakeSignal } from '../patterns/wake-signal.ts'
import { toErrorObject } from '../protocol/errors.ts'
import { notification } from '../protocol/jsonrpc.ts'
import { META_SUBSCRIPTION_ID } from '../protocol/meta.ts'
import type { JsonObject, Result } from '../protocol/types.ts'
import { ExtensionError } from '../server/composition/extension-error.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { ServerEventHost } from './server-event-host.ts'
import type { NextEvents, OpenSubscription, Start } from './host.ts'
import { EventNotification } from './wire.ts'

/** The maximum number of events that are read at once. */
const BATCH_SIZE = 100

/** Sends events until the stream ends. Returns the closing result. */
export async function runStream(
  host: ServerEventHost,
  subscription: OpenSubscription,
  ctx: RequestContext,
  { position: startPosition, truncated }: Start,
  heartbeatMs: number,
): Promise<Result> {
  const { signal, exchange } = ctx
  const meta = { [META_SUBSCRIPTION_ID]: ctx.id }
  const wakeSignal = new WakeSignal()
  let position = startPosition
  let isEnded = false
  /** The error with which the subscription ends. */
  let failure: Error | undefined
  /** Ends the wait for the reader to take the last message. */
  let stopWaiting: ((value?: unknown) => void) | undefined
  let isHeartbeatDue = false
  /** How many heartbeats became due while the reader did not take a message. */
  let missedHeartbeats = 0
  /** When to call the type's `poll` next, in milliseconds since 1970; 0 if events are read from the log. */
  let nextPollAt = 0
  let failures = 0

  await host.subscribed(subscription, 'push', end)
  const stop = (): void => end()
  signal.addEventListener('abort', stop)
  const stopWatchingShutdown = exchange.shutdown?.onEnd(stop)
  const heartbeat = setInterval(beat, heartbeatMs)
  unref(heartbeat)
  let unwatch: (() => void) | undefined
  try {
    unwatch = await host.log.watch(subscription.name, () => wakeSignal.send())
    if (signal.aborted) end()
    await send(EventNotification.ACTIVE, { truncated, cursor: await cursor() })
    while (!isEnded) await advance()
    if (failure && !signal.aborted) {
      const error = toErrorObject(host.forClient(failure, ctx))
      await send(EventNotification.TERMINATED, { error })
    }
    return { _meta: meta }
  } finally {
    clearInterval(heartbeat)
    unwatch?.()
    stopWatchingShutdown?.()
    signal.removeEventListener('abort', stop)
    host.unsubscribed(subscription, 'push')
  }

  /** Ends the stream, with an error if the subscription ends too. */
  function end(error?: Error): void {
    isEnded = true
    failure ??= error
    stopWaiting?.()
    wakeSignal.send()
  }

  /** Sends new events and a due heartbeat. Then waits, unless more events are available immediately. */
  async function advance(): Promise<void> {
    try {
      const isDue = Date.now() >= nextPollAt
      const next = isDue ? await host.next(subscription, position, BATCH_SIZE) : undefined
      if (next) nextPollAt = next.waitMs && !next.hasMore ? Date.now() + next.waitMs : 0
      if (next?.events.length || isHeartbeatDue) await host.authorize(subscription)
      if (next) await deliver(next)
      if (isHeartbeatDue && !isEnded) {
        isHeartbeatDue = false
        await send(EventNotification.HEARTBEAT, { cursor: await cursor() })
      }
      failures = 0
      if (!next?.hasMore && !isEnded)
        await wakeSignal.wait(nextPollAt ? nextPollAt - Date.now() : Infinity)
    } catch (error) {
      if (error instanceof ExtensionError) return end(error)
      await recover(error)
    }
  }

  async function deliver(next: NextEvents): Promise<void> {
    if (next.truncated) {
      position = next.from
      await send(EventNotification.ACTIVE, { truncated: true, cursor: await cursor() })
    }
    for (const { occurrence, position: after } of next.events) {
      if (isEnded) return
      await send(EventNotification.EVENT, { ...occurrence, cursor: await cursor(after) })
      position = after
    }
    if (!isEnded) ({ position } = next)
  }

  /** Reports a temporary failure, and waits before the next attempt. */
  async function recover(error: unknown): Promise<void> {
    if (isEnded) return
    host.report(error)
    await send(EventNotification.ERROR, { error: toErrorObject(error) })
    const until = Date.now() + Math.round(backoffMs(failures++))
    while (!isEnded && Date.now() < until) await wakeSignal.wait(until - Date.now())
  }

  function cursor(at = position): Promise<string | null> {
    return host.cursorOf(subscription, at)
  }

  /** Sends a notification. Waits until a slow reader has taken the notification, or the stream ends. */
  async function send(method: string, { _meta, ...params }: JsonObject): Promise<void> {
    const allParams = { ...params, _meta: { ...(_meta as JsonObject | undefined), ...meta } }
    const delivery = exchange.send(notification(method, allParams))
    if (delivery && !isEnded) {
      await new Promise<unknown>((resolve) => {
        stopWaiting = resolve
        delivery.then(resolve, resolve)
      })
    }
    missedHeartbeats = 0
  }

  function beat(): void {
    isHeartbeatDue = true
    // The reader is too slow. It can open a new stream at its last cursor, to receive the remaining events
    if (++missedHeartbeats > 2) end()
    wakeSignal.send()
  }
}
