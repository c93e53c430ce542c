/**
 * The progress of a subscription's deliveries, which is stored with the subscription.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { ProtocolError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/types.ts'
import type { WebhookSubscription } from '../storage.ts'
import type { ControlBody, DeliveryFailure, DeliveryStatus } from '../wire.ts'
import { randomText } from './request.ts'

/** The state of the deliveries of a subscription. Times are in milliseconds since 1970. */
export interface Progress {
  /** The control body that is sent before the next event, if any. */
  readonly control?: ControlBody | undefined
  /** The header `webhook-id` of the current body, unless the header contains the id of the event. */
  readonly messageId?: string | undefined
  /** The cursor in the current body, which must be the same in each attempt. */
  readonly cursor?: string | null | undefined
  /** How many attempts to send the current body have failed. */
  readonly attempts?: number | undefined
  /** When the current body was first sent. */
  readonly firstAttemptAt?: number | undefined
  /** The time until which the receiver wants no request. */
  readonly notBefore?: number | undefined
  /** When an event was last accepted. */
  readonly acceptedAt?: number | undefined
  /** Why the last failed attempt has failed. */
  readonly lastFailure?: DeliveryFailure | undefined
  /** When the first attempt after the last success failed. */
  readonly failedSince?: number | undefined
  /** How many attempts have failed since the last success, or since a suspension ended. */
  readonly failures?: number | undefined
  /** When the subscription was suspended. */
  readonly suspendedAt?: number | undefined
  /** Since when the next event cannot be sent because a function of the application fails for it. */
  readonly blockedSince?: number | undefined
  /** Since when the event type is unknown. */
  readonly missingSince?: number | undefined
}

/** The progress as it is stored, without the members that are undefined. */
type StoredProgress = Progress & JsonObject

/** The progress of a stored subscription. */
export function progressOf({ progress }: WebhookSubscription): Progress {
  return progress
}

/** The progress after the current body was accepted or given up: without the members that concern the body. */
export function withoutCurrentBody({
  acceptedAt,
  lastFailure,
  failedSince,
  failures,
}: Progress): StoredProgress {
  return { acceptedAt, lastFailure, failedSince, failures }
}

/** The progress when a suspension ends. The suspended time does not count toward `maxRetryMs`. */
export function resumedProgress({
  suspendedAt = 0,
  firstAttemptAt = 0,
  ...rest
}: Progress): StoredProgress {
  return { ...rest, failures: 0, firstAttemptAt: firstAttemptAt + Date.now() - suspendedAt }
}

/** The progress of a subscription to which a control body is sent before the next event. */
export function controlProgress(control: ControlBody): StoredProgress {
  return { control, messageId: `msg_${control.type}_${randomText()}` }
}

/** Returns the changes of a subscription that the server ends. The receiver must still be notified. */
export function termination(error: Error): {
  readonly progress: StoredProgress
  readonly status: 'active'
  readonly expiresAt: null
} {
  const { code, message, data } = error as ProtocolError
  const progress = controlProgress({ type: 'terminated', error: { code, message, data } })
  return { progress, status: 'active', expiresAt: null }
}

/** Whether the server has ended a subscription whose receiver must still be notified. */
export function isTerminated(subscription: WebhookSubscription): boolean {
  return progressOf(subscription).control?.type === 'terminated'
}

/** Whether a subscription has expired. */
export function isExpired({ expiresAt }: WebhookSubscription): boolean {
  return expiresAt !== null && expiresAt <= Date.now()
}

/** Whether a subscription has neither expired nor ended. */
export function isLive(subscription: WebhookSubscription): boolean {
  return !isExpired(subscription) && !isTerminated(subscription)
}

/**
 * Returns the state of the deliveries for the result of a refresh.
 *
 * @param isThrottled Whether requests wait because too many requests to the host are under way.
 */
export function deliveryStatus(
  subscription: WebhookSubscription,
  isThrottled: boolean,
): DeliveryStatus {
  const { acceptedAt, lastFailure = null, failedSince } = progressOf(subscription)
  return {
    active: subscription.status === 'active',
    lastDeliveryAt: acceptedAt === undefined ? null : toIso(acceptedAt),
    lastError: lastFailure,
    ...(failedSince !== undefined && { failedSince: toIso(failedSince) }),
    ...(isThrottled && { throttled: true }),
  }
}

/** A time in the format of RFC 3339. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString()
}
