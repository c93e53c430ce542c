/**
 * The progress of a subscription's deliveries, stored with it.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { ProtocolError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/types.ts'
import type { WebhookSubscription } from '../storage.ts'
import type { ControlBody, DeliveryFailure, DeliveryStatus } from '../wire.ts'
import { randomText } from './request.ts'

/** How the deliveries of a subscription stand. Times are in milliseconds since 1970. */
export interface Progress {
  /** A control body to send before any event. */
  readonly control?: ControlBody | undefined
  /** The header `webhook-id` of the current body, if it is not the id of the event. */
  readonly messageId?: string | undefined
  /** The cursor in the current body, which repeated attempts must not change. */
  readonly cursor?: string | null | undefined
  /** How many attempts to send the current body have failed. */
  readonly attempts?: number | undefined
  /** When the current body was first sent. */
  readonly firstAttemptAt?: number | undefined
  /** Until when the receiver wants no request. */
  readonly notBefore?: number | undefined
  /** When an event was last accepted. */
  readonly acceptedAt?: number | undefined
  readonly lastFailure?: DeliveryFailure | undefined
  /** Since when all attempts have failed. */
  readonly failedSince?: number | undefined
  /** How many attempts have failed since then. */
  readonly failures?: number | undefined
  readonly suspendedAt?: number | undefined
  /** Since when a failing function of the application blocks the next event. */
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

/** The progress without the members that concern the current body, after the body was accepted or given up. */
export function withoutCurrentBody({
  acceptedAt,
  lastFailure,
  failedSince,
  failures,
}: Progress): StoredProgress {
  return { acceptedAt, lastFailure, failedSince, failures }
}

/** The progress after a suspension. The suspended time does not count toward `maxRetryMs`. */
export function resumedProgress({
  suspendedAt = 0,
  firstAttemptAt = 0,
  ...rest
}: Progress): StoredProgress {
  return { ...rest, failures: 0, firstAttemptAt: firstAttemptAt + Date.now() - suspendedAt }
}

/** The progress if a control body is to be sent before any event. */
export function controlProgress(control: ControlBody): StoredProgress {
  return { control, messageId: `msg_${control.type}_${randomText()}` }
}

/** The changes to store when the server ends a subscription: its receiver is still to be notified. */
export function termination(error: Error): {
  readonly progress: Progress & JsonObject
  readonly status: 'active'
  readonly expiresAt: null
} {
  const { code, message, data } = error as ProtocolError
  const progress = controlProgress({ type: 'terminated', error: { code, message, data } })
  return { progress, status: 'active', expiresAt: null }
}

/** Whether a subscription was ended by the server, and its receiver is still to be notified. */
export function isTerminated(subscription: WebhookSubscription): boolean {
  return progressOf(subscription).control?.type === 'terminated'
}

/** Whether the time of a subscription has passed. */
export function isExpired({ expiresAt }: WebhookSubscription): boolean {
  return expiresAt !== null && expiresAt <= Date.now()
}

/** Whether a subscription has neither expired nor ended. */
export function isLive(subscription: WebhookSubscription): boolean {
  return !isExpired(subscription) && !isTerminated(subscription)
}

/**
 * The status of the deliveries, for the result of a refresh.
 *
 * @param isThrottled Whether requests wait because there are too many for the host.
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
