/**
 * A subscription whose events are being delivered: its position, its requests, and how they are retried.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { ExtensionClient } from '../../client/extension.ts'
import type { RequestOptions } from '../../client/request-options.ts'
import { sleep } from '../../patterns/abort.ts'
import { backoffMs } from '../../patterns/backoff.ts'
import { isTransient } from '../../patterns/transient.ts'
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts'
import { retryAfterMsOf, SdkError } from '../../protocol/errors.ts'
import type { JsonObject, Result } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import type { EventError } from './event-error.ts'
import { requestEvents, type Report } from './event-requests.ts'
import type { StoredSubscription, SubscriptionRecords } from './subscription-store.ts'

/** The limits of a subscription. They are options of the application, with the defaults filled in. */
export interface FollowLimits {
  /** The shortest wait between two polls, in milliseconds. */
  readonly minPollMs: number
  /** The maximum number of events in the result of a poll. If undefined, the server decides. */
  readonly maxEvents: number | undefined
  /** How long a stream may be silent before it is opened again, in milliseconds. */
  readonly maxSilenceMs: number
  /** The maximum number of events that wait until the application reads them. */
  readonly maxQueued: number
}

/** A subscription whose events are being delivered. */
export class FollowedSubscription {
  readonly client: ExtensionClient
  readonly limits: FollowLimits
  readonly signal: AbortSignal
  readonly report: Report
  record: StoredSubscription
  /** The error with which the server ended the subscription. It is never treated as temporary. */
  endError: EventError | undefined
  readonly #store: SubscriptionRecords
  readonly #maxAgeMs: number | undefined
  /** Whether a request has succeeded. Only requests before the first success count as initiated by the user. */
  #hasSucceeded = false
  /** Whether the server has sent a cursor since this object was created. */
  #hasHistory = false
  /** Whether the server has omitted a cursor after it had sent one, which is reported once. */
  #hasOmittedCursor = false
  #isRemoved = false
  /** The number of consecutive failures, for the backoff. */
  #failures = 0

  constructor(
    parts: Pick<FollowedSubscription, 'client' | 'limits' | 'signal' | 'report' | 'record'>,
    store: SubscriptionRecords,
    maxAgeMs: number | undefined,
  ) {
    this.client = parts.client
    this.limits = parts.limits
    this.signal = parts.signal
    this.report = parts.report
    this.record = parts.record
    this.#store = store
    this.#maxAgeMs = maxAgeMs
  }

  /** The params that the subscribing requests of all modes share. */
  get params(): JsonObject {
    const { name, arguments: args, cursor } = this.record
    const params = { name, arguments: args, cursor }
    return this.#maxAgeMs === undefined ? params : { ...params, maxAgeMs: this.#maxAgeMs }
  }

  /** Sends a request of the subscription. */
  async request(method: string, params: JsonObject, options?: RequestOptions): Promise<Result> {
    const result = await requestEvents(this.client, method, params, {
      signal: this.signal,
      background: this.#hasSucceeded,
      ...options,
    })
    this.#hasSucceeded = true
    return result
  }

  /** Changes the record, and stores it. */
  async save(changes: Partial<StoredSubscription>): Promise<void> {
    this.record = { ...this.record, ...changes }
    if (!this.#isRemoved) await this.#store.save(this.record)
  }

  /** Removes the record. If the last event is still being processed, the record is not stored again afterwards. */
  async remove(): Promise<void> {
    this.#isRemoved = true
    await this.#store.remove(this.record.key)
  }

  /** Stores the position that the server has sent. Null or undefined means that the type has no positions. */
  async moveTo(cursor: unknown): Promise<void> {
    const { record } = this
    if (typeof cursor === 'string') {
      this.#hasHistory = true
      if (cursor !== record.cursor) await this.save({ cursor })
    } else if (!this.#hasHistory) {
      if (record.cursor !== null) await this.save({ cursor: null })
    } else if (!this.#hasOmittedCursor) {
      this.#hasOmittedCursor = true
      const message = `The server omits cursors of "${record.name}" that it sent before`
      this.report(new SdkError('INVALID_MESSAGE', message))
    }
  }

  /** Lets the backoff begin again at its shortest delay. Called when a delivery mode works. */
  resetBackoff(): void {
    this.#failures = 0
  }

  /**
   * Waits before the next attempt, with backoff, and at least for as long as the server asks for.
   *
   * @throws {unknown} The error, if another attempt would fail too, or the signal's reason, if the signal aborts.
   */
  async waitAfter(
    error: unknown,
    { isReported = true }: { isReported?: boolean } = {},
  ): Promise<void> {
    if (!this.mayRetry(error)) throw error
    if (isReported) this.report(error)
    await sleep(Math.max(backoffMs(this.#failures++), retryAfterMs(error)), this.signal)
  }

  /** Whether the request that failed with an error may succeed later. */
  mayRetry(error: unknown): boolean {
    if (this.signal.aborted || error === this.endError) return false
    const { code } = error as SdkError | EventError
    const isSignedOut = this.#hasSucceeded && code === 'UNAUTHORIZED'
    const isRateLimited = (error as EventError).kind === 'RateLimited' || retryAfterMs(error) > 0
    return isTransient(error) || code === INTERNAL_ERROR || isSignedOut || isRateLimited
  }
}

/** The delay in milliseconds that the server asks for, in the error's data or in the header `Retry-After`. */
function retryAfterMs(error: unknown): number {
  const { data, retryAfter } = error as EventError
  const requestedMs = retryAfterMsOf({ data })
  const header = isObject(data) ? (data.retryAfter ?? retryAfter) : retryAfter
  if (requestedMs !== undefined || typeof header !== 'string') return requestedMs ?? 0
  const seconds = Number(header)
  const delayMs = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1_000
  return Number.isNaN(delayMs) ? 0 : delayMs
}
