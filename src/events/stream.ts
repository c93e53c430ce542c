/**
 * `events/stream`: the events of one subscription as they happen.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { backoffMs } from '../patterns/backoff.ts'
import { unref } from '../patterns/timers.ts'
import { toErrorObject } from '../protocol/errors.ts'
import { notification } from '../protocol/jsonrpc.ts'
import { META_SUBSCRIPTION_ID } from '../protocol/meta.ts'
import type { JsonObject, Result } from '../protocol/types.ts'
import { ExtensionError } from '../server/composition/extension-error.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import { WakeSignal } from '../patterns/wake-signal.ts'
import type { EventFailure } from './errors.ts'
import type { ServerEventHost } from './event-host.ts'
import type { NextEvents, OpenSubscription, Start } from './host.ts'
import type { Position } from './storage.ts'
import { EventNotification } from './wire.ts'

/** The number of events that are read at once. */
const BATCH = 100

/** The stream of one subscription. */
export class EventStream {
  readonly subscription: OpenSubscription
  readonly #host: ServerEventHost
  readonly #ctx: RequestContext
  readonly #wakeSignal = new WakeSignal()
  readonly #meta: JsonObject
  #position: Position = null
  #ended = false
  /** The error with which the subscription ends. */
  #error: Error | undefined
  /** Continues although the reader has not taken the last message. */
  #release: (() => void) | undefined
  #isHeartbeatDue = false
  /** When the author's `poll` is called next, by the clock. */
  #pollAt = 0
  #failures = 0
  /** How many heartbeats became due while the reader did not take a message. */
  #missedHeartbeats = 0

  constructor(host: ServerEventHost, subscription: OpenSubscription, ctx: RequestContext) {
    this.#host = host
    this.subscription = subscription
    this.#ctx = ctx
    this.#meta = { [META_SUBSCRIPTION_ID]: ctx.id }
  }

  /** Ends the stream, with an error if the subscription ends too. */
  end(error?: Error): void {
    this.#ended = true
    this.#error ??= error
    this.#release?.()
    this.#wakeSignal.send()
  }

  /** Ends the stream because the subscription ends. */
  terminate(failure: EventFailure): void {
    this.end(this.#host.failure(failure, this.#ctx))
  }

  /**
   * Sends events until the stream ends. Returns the closing result.
   */
  async run(start: Start, heartbeatMs: number): Promise<Result> {
    const { signal, exchange } = this.#ctx
    const end = (): void => this.end()
    signal.addEventListener('abort', end)
    const stopWatchingShutdown = exchange.shutdown?.onEnd(end)
    const unwatch = await this.#host.log.watch(this.subscription.name, () =>
      this.#wakeSignal.send(),
    )
    const heartbeat = setInterval(() => this.#beat(), heartbeatMs)
    unref(heartbeat)
    try {
      await this.#begin(start)
      while (!this.#ended) await this.#advance()
      if (this.#error && !signal.aborted) {
        const error = toErrorObject(this.#error)
        await this.#send(EventNotification.TERMINATED, { error })
      }
      return { _meta: this.#meta }
    } finally {
      clearInterval(heartbeat)
      unwatch()
      stopWatchingShutdown?.()
      signal.removeEventListener('abort', end)
    }
  }

  async #begin({ position, truncated }: Start): Promise<void> {
    this.#position = position
    if (this.#ctx.signal.aborted) this.end()
    const cursor = await this.#host.cursorOf(this.subscription, position)
    await this.#send(EventNotification.ACTIVE, { cursor, truncated })
  }

  /** Sends what is new, or waits for it. */
  async #advance(): Promise<void> {
    try {
      const next = await this.#read()
      if (next?.events.length || this.#isHeartbeatDue) {
        await this.#host.authorize(this.subscription, this.#ctx)
      }
      if (next) await this.#deliver(next)
      if (this.#isHeartbeatDue && !this.#ended) {
        this.#isHeartbeatDue = false
        const cursor = await this.#host.cursorOf(this.subscription, this.#position)
        await this.#send(EventNotification.HEARTBEAT, { cursor })
      }
      this.#failures = 0
      if (!next?.hasMore && !this.#ended) await this.#wait()
    } catch (error) {
      if (error instanceof ExtensionError) return this.end(error)
      await this.#recover(error)
    }
  }

  /** Reads events; undefined while the author's source need not be asked yet. */
  async #read(): Promise<NextEvents | undefined> {
    if (Date.now() < this.#pollAt) return undefined
    const next = await this.#host.next(this.subscription, this.#position, BATCH)
    const pollMs = this.#host.pollMs(this.subscription.name)
    if (pollMs !== null && !next.hasMore) this.#pollAt = Date.now() + pollMs
    return next
  }

  async #deliver({ events, position, from, truncated }: NextEvents): Promise<void> {
    if (truncated) {
      const cursor = await this.#host.cursorOf(this.subscription, from)
      await this.#send(EventNotification.ACTIVE, { cursor, truncated })
    }
    for (const { occurrence, position: after } of events) {
      if (this.#ended) return
      const cursor = await this.#host.cursorOf(this.subscription, after)
      await this.#send(EventNotification.EVENT, { ...occurrence, cursor })
      this.#position = after
    }
    if (!this.#ended) this.#position = position
  }

  /** Waits for events, the next poll or the next heartbeat. */
  async #wait(delayMs: number = this.#pollAt - Date.now()): Promise<void> {
    await this.#wakeSignal.wait(delayMs > 0 ? delayMs : Infinity)
  }

  /** Reports a failure that passes, and waits before the next attempt. */
  async #recover(error: unknown): Promise<void> {
    if (this.#ended) return
    this.#host.report(error)
    await this.#send(EventNotification.ERROR, { error: toErrorObject(error) })
    const until = Date.now() + Math.round(backoffMs(this.#failures++))
    while (!this.#ended && Date.now() < until) await this.#wait(until - Date.now())
  }

  /** Sends a notification; waits until a slow reader has taken it, or the stream ends. */
  async #send(method: string, { _meta, ...params }: JsonObject): Promise<void> {
    const meta = { ...(_meta as JsonObject | undefined), ...this.#meta }
    const sent = this.#ctx.exchange.send(notification(method, { ...params, _meta: meta }))
    if (sent && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#release = resolve
        sent.then(resolve, resolve)
      })
    }
    this.#missedHeartbeats = 0
  }

  #beat(): void {
    this.#isHeartbeatDue = true
    // The reader is too slow: it reads the rest of the events later, with its cursor
    if (++this.#missedHeartbeats > 2) this.end()
    this.#wakeSignal.send()
  }
}
