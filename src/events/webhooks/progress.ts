/**
 * The progress of a subscription's deliveries, stored with it.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { ProtocolError } from '../../protocol/errors.ts'
import type { ErrorObject, JsonObject } from '../../protocol/types.ts'
import type { WebhookSubscription } from '../storage.ts'
import type { ControlBody, DeliveryFailure, DeliveryStatus } from '../wire.ts'
import { randomText } from './request.ts'

/** How the deliveries of a subscription stand. Times are in milliseconds since 1970. */
export interface Progress {
  /** A control body to send before any event. */
  readonly control?: ControlBody
  /** The header `webhook-id` of the current body, if it is not the id of the event. */
  readonly messageId?: string
  /** The cursor in the current body, which repeated attempts must not change. */
  readonly cursor?: string | null
  /** How many attempts to send the current body have failed. */
  readonly attempts?: number
  /** When the current body was first sent. */
  readonly firstAttemptAt?: number
  /** Until when the receiver wants no request. */
  readonly notBefore?: number
  /** When an event was last accepted. */
  readonly acceptedAt?: number
  readonly lastFailure?: DeliveryFailure
  /** Since when all attempts have failed. */
  readonly failedSince?: number
  /** How many attempts have failed since then. */
  readonly failures?: number
  readonly suspendedAt?: number
  /** Since when the event type is unknown. */
  readonly missingSince?: number
}

/** The progress of a stored subscription. */
export function progressOf({ progress }: WebhookSubscription): Progress {
  return progress
}

/** Without what belongs to the current body, after it was accepted or given up. */
export function nextBody(progress: Progress): Progress & JsonObject {
  const { acceptedAt, lastFailure, failedSince, failures } = progress
  return {
    ...(acceptedAt !== undefined && { acceptedAt }),
    ...(lastFailure && { lastFailure }),
    ...(failedSince !== undefined && { failedSince, failures }),
  }
}

/** After the receiver has accepted the current body. */
export function accepted(): Progress & JsonObject {
  return { acceptedAt: Date.now() }
}

/** After an attempt that failed. */
export function failed(progress: Progress, lastFailure: DeliveryFailure): Progress & JsonObject {
  const { attempts = 0, failures = 0 } = progress
  const { firstAttemptAt = Date.now(), failedSince = Date.now() } = progress
  return {
    ...progress,
    ...{ attempts: attempts + 1, firstAttemptAt },
    ...{ lastFailure, failedSince, failures: failures + 1 },
  }
}

/** After a suspension, which does not count for the time in which a body is sent again. */
export function resumed(progress: Progress): Progress & JsonObject {
  const { suspendedAt, firstAttemptAt, ...rest } = progress
  if (suspendedAt === undefined) return { ...progress }
  const pausedMs = Date.now() - suspendedAt
  const movedTo = firstAttemptAt !== undefined && { firstAttemptAt: firstAttemptAt + pausedMs }
  return { ...rest, failures: 0, ...movedTo }
}

/** A control body that is to be sent before any event. */
export function controlMessage(control: ControlBody): Progress & JsonObject {
  return { control, messageId: `msg_${control.type}_${randomText()}` }
}

/** What changes when the server ends a subscription: its receiver is still to be notified. */
export function termination({ code, message, data }: ProtocolError): {
  readonly progress: Progress & JsonObject
  readonly status: 'active'
  readonly expiresAt: null
} {
  const error: ErrorObject = { code, message, ...(data !== undefined && { data }) }
  const progress = controlMessage({ type: 'terminated', error })
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

/**
 * What the result of a refresh says about the deliveries.
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
