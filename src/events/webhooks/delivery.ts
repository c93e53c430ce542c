/**
 * The deliveries to one subscription, in the order of its events.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { backoffMs } from '../../patterns/backoff.ts'
import type { OngoingOperation } from '../../patterns/guard-observer.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import { memberAt } from '../../protocol/validate.ts'
import type { EventHost, NextEvents, OpenSubscription } from '../host.ts'
import type { EventStorage, Position, WebhookSubscription } from '../storage.ts'
import { MAX_WEBHOOK_BYTES, type ControlBody, type EventOccurrence } from '../wire.ts'
import type { HostLimits } from './host-limits.ts'
import { Lease } from './lease.ts'
import type { WebhookSettings } from './options.ts'
import {
  controlProgress,
  isExpired,
  isTerminated,
  withoutCurrentBody,
  termination,
  type Progress,
} from './progress.ts'
import { encodeBody, randomText, sendSigned } from './request.ts'
import { planRetry, expiresBySuspension } from './retries.ts'
import { asOpenSubscription } from './subscribe.ts'

/** The maximum number of events that are read at once. */
const PAGE_SIZE = 50
/** After this number of events, other subscriptions have their turn. */
const MAX_EVENTS = 500
/** How long deliveries to a subscription pause after a function of the application failed, in milliseconds. */
const APPLICATION_RETRY_MS = 30_000
/** How long an event type may be unknown before its subscriptions end, in milliseconds. */
const MAX_MISSING_MS = 3_600_000
/**
 * How long deliveries to a subscription pause if the URL's host does not respond to the requests that are already
 * open, in milliseconds.
 */
const SILENT_RETRY_MS = 30_000
/**
 * How long an event is tried again if a function of the application fails for it, in milliseconds. After that,
 * the event is skipped.
 */
const MAX_BLOCKED_MS = 3_600_000

/** What all deliveries of one call of the runner's `deliver` share. */
export interface DeliveryEnvironment {
  readonly host: EventHost
  readonly settings: WebhookSettings
  readonly storage: EventStorage
  /** The platform's environment, such as a Worker's bindings. */
  readonly env: unknown
  /** Sends a request once fewer requests to the URL's host are under way. */
  readonly limit: HostLimits['run']
  /** Aborts when the subscription was deleted. The request under way is then aborted too. */
  readonly abort: AbortSignal
  /** Returns whether to stop before the next request. */
  readonly isOver: () => boolean
}

/**
 * Delivers to a subscription that this process has taken, until nothing is due, an attempt fails or
 * it is the turn of another subscription.
 */
export async function deliverTo(
  environment: DeliveryEnvironment,
  taken: WebhookSubscription,
): Promise<void> {
  const { host: eventHost, settings, storage, env, limit, abort, isOver } = environment
  const lease = new Lease(storage, taken, settings, abort)
  let subscription: OpenSubscription = { ...asOpenSubscription(taken, env), log: storage }

  // If the subscription has ended, only the message about its end is still sent
  if (isExpired(taken) && !(await expire())) return
  if (!isTerminated(lease.record) && !(await reopen())) return
  const { control } = lease.progress
  if (control && !(await sendControl(control))) return
  if (control?.type === 'terminated') await storage.remove(lease.record)
  else await deliverEvents()

  /** Checks that the subscriber may still receive events. Returns whether to continue. */
  async function reopen(): Promise<boolean> {
    const { missingSince = Date.now(), ...progress } = lease.progress
    try {
      subscription = await eventHost.reopen(subscription)
      lease.record = { ...lease.record, progress }
      return true
    } catch (error) {
      // During a deployment, other processes may know the type, because they run another version
      const isMissing = memberAt(error, ['data', 'kind']) === 'event'
      const mayReappear = isMissing && Date.now() - missingSince < MAX_MISSING_MS
      if (error instanceof ProtocolError && !mayReappear) return terminate(error)
      return postpone(error, isMissing ? { ...progress, missingSince } : progress)
    }
  }

  async function deliverEvents(): Promise<unknown> {
    for (let count = 0; ;) {
      let page: NextEvents
      const { blockedSince = Date.now() } = lease.progress
      const stopsAtFailure = Date.now() - blockedSince < MAX_BLOCKED_MS
      try {
        page = await eventHost.next(subscription, lease.record.position, PAGE_SIZE, stopsAtFailure)
      } catch (error) {
        return postpone(error, { ...lease.progress, blockedSince })
      }
      if (page.truncated && !(await sendGap(page))) return
      for (const [index, { occurrence, position }] of page.events.entries()) {
        // After the last event, the position moves to the end of the searched part of the log
        const isLast = index === page.events.length - 1
        if (!(await sendEvent(occurrence, isLast ? page.position : position))) return
      }
      count += page.events.length
      const { blockedSince: _, ...progress } = lease.progress
      if (page.events.length === 0 && !(await lease.save({ position: page.position, progress }))) {
        return
      }
      if (page.hasMore && count < MAX_EVENTS && !isOver()) continue
      const waitMs = page.hasMore ? 0 : page.waitMs
      return lease.save({ dueAt: waitMs === undefined ? null : Date.now() + waitMs })
    }
  }

  /** Sends an event. Like all functions here that send, returns whether to continue with the next body. */
  async function sendEvent(occurrence: EventOccurrence, position: Position): Promise<boolean> {
    const { record, progress } = lease
    const cursor = progress.cursor ?? (await eventHost.cursorOf(subscription, record.position))
    const body = encodeBody({ ...occurrence, cursor })
    const { eventId, name } = occurrence
    if (body.length > MAX_WEBHOOK_BYTES) {
      const message = `Cannot deliver "${eventId}" of "${name}": it has more than ${MAX_WEBHOOK_BYTES} bytes`
      eventHost.report(new RangeError(message))
      return lease.save({ position, progress: withoutCurrentBody(progress) })
    }
    const { messageId = settings.randomMessageIds ? `msg_${randomText()}` : eventId } = progress
    return sendOnce(eventId, body, { position }, { cursor, messageId })
  }

  /** Tells the receiver that events were skipped. Types without positions, and ChatGPT, have no such message. */
  async function sendGap({ events, position }: NextEvents): Promise<boolean> {
    const firstPosition = events[0]?.position
    // The cursor must be before the first event, which is still to be sent. Only positions in the log are numbers
    const start =
      typeof firstPosition === 'number' ? firstPosition - 1 : (firstPosition ?? position)
    const cursor = await eventHost.cursorOf(subscription, start)
    if (cursor === null || eventHost.profile === 'chatgpt') return true
    const gap: ControlBody = { type: 'gap', cursor }
    const progress = { ...withoutCurrentBody(lease.progress), ...controlProgress(gap) }
    return (await lease.save({ position: start, progress })) && (await sendControl(gap))
  }

  function sendControl(body: ControlBody): Promise<boolean> {
    const { messageId } = lease.progress
    return sendOnce(body.type, encodeBody(body), {}, { messageId })
  }

  /**
   * Sends the current body once, and stores the result.
   *
   * @param eventId The id of the event, or the type of the control body, for the log of deliveries.
   * @param changes The changes of the subscription after the body was accepted or given up.
   * @param reused The message id and cursor, which further attempts must reuse.
   */
  async function sendOnce(
    eventId: string,
    body: Uint8Array<ArrayBuffer>,
    changes: Partial<WebhookSubscription>,
    reused: Pick<Progress, 'cursor' | 'messageId'>,
  ): Promise<boolean> {
    const { messageId = '' } = reused
    const { attempts = 0, notBefore = 0 } = lease.progress
    // The last attempt is due, but the receiver has asked for a longer pause, so the body is given up
    if (notBefore > Date.now()) {
      return lease.save({ ...changes, progress: withoutCurrentBody(lease.progress) })
    }
    const { id: subscriptionId, url, secrets, name, principal } = lease.record
    const attemptIds = { subscriptionId, eventId, attempt: attempts + 1 }
    let sentAt = 0
    let ongoing: OngoingOperation | undefined
    const answer = await limit(url, async () => {
      sentAt = Date.now()
      // The request may have waited for other requests to the URL's host
      const isLate = lease.leftMs < settings.timeoutMs || isExpired(lease.record)
      if (isLate || abort.aborted || isOver()) return undefined
      ongoing = eventHost.observe?.begin({ type: 'delivery', ...attemptIds, name, principal })
      const send = (): ReturnType<typeof sendSigned> =>
        sendSigned({ url, subscriptionId, messageId, body, secrets }, settings, abort)
      return ongoing ? ongoing.run(send) : send()
    })
    if (abort.aborted) {
      ongoing?.end({ outcome: 'cancelled' })
      return false
    }
    if (!answer) {
      // If `limit` did not call the function, the URL's host is silent. Otherwise any process may continue at once.
      // `backoffMs` adds a random part to the delay, and 0 earlier failures do not increase it
      const delayMs = sentAt > 0 ? 0 : Math.round(backoffMs(0, SILENT_RETRY_MS))
      if (lease.leftMs > 0) await lease.save({ dueAt: Date.now() + delayMs })
      return false
    }
    const { status, failure } = answer
    const retry = failure && planRetry(lease.record, answer, failure, reused, settings)
    // If `dueAt` is absent, there will be no further attempt
    const failedOutcome = retry?.dueAt === undefined ? 'given_up' : 'failed'
    const outcome = failure ? failedOutcome : 'complete'
    ongoing?.end({ outcome, status })
    const result = { ...(status !== undefined && { status }), ...(failure && { error: failure }) }
    await storage.addAttempt(
      { ...attemptIds, at: sentAt, durationMs: Date.now() - sentAt, ...result },
      name,
    )
    if (outcome !== 'failed') {
      return lease.save({ ...changes, progress: retry?.progress ?? { acceptedAt: Date.now() } })
    }
    await lease.save({ ...retry })
    return false
  }

  /** Stops for now, because a function of the application failed. The deliveries continue later. */
  async function postpone(error: unknown, progress: Progress): Promise<false> {
    eventHost.report(error)
    await lease.save({ dueAt: Date.now() + APPLICATION_RETRY_MS, progress: { ...progress } })
    return false
  }

  /** Ends an expired subscription. Returns whether its receiver is to be notified. */
  async function expire(): Promise<boolean> {
    if (!expiresBySuspension(lease.record)) return remove()
    const { lastFailure: reason = 'connection_refused' } = lease.progress
    const message = 'All deliveries have failed for too long'
    return terminate(eventHost.error('CallbackEndpointError', message, { reason }))
  }

  /** Ends the subscription with an error. Returns whether its receiver is to be notified. */
  async function terminate(error: Error): Promise<boolean> {
    if (eventHost.profile === 'chatgpt') return remove()
    if (!(await lease.save(termination(error)))) return false
    eventHost.unsubscribed(subscription)
    return true
  }

  /** Deletes the subscription. Returns false, because its receiver is not to be notified. */
  async function remove(): Promise<false> {
    if (await storage.remove(lease.record)) eventHost.unsubscribed(subscription)
    return false
  }
}
