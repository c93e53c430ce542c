/**
 * Delivers the events of one subscription: starts a delivery mode, and passes each event to the application once.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { wasStable } from '../../patterns/reopen.ts'
import { SdkError } from '../../protocol/errors.ts'
import type { DeliveryMode, EventType } from '../wire.ts'
import { EventError, type EventFailure } from './event-error.ts'
import { listEventTypes } from './event-requests.ts'
import type { FollowedSubscription } from './followed-subscription.ts'
import type { Item } from './item-queue.ts'
import { chooseMode } from './modes.ts'
import { readOccurrence, type ReceivedEvent } from './occurrence.ts'
import type { EventSubscriptionsOptions } from './options.ts'
import { pollEvents } from './poll.ts'
import { SeenIds } from './seen-ids.ts'
import { streamEvents } from './stream.ts'
import { infoOf, type SubscriptionInfo } from './subscription-store.ts'
import { unsubscribe, type Webhook } from './webhook.ts'

/** What `deliver` needs, in addition to the subscription. */
export interface DeliveryParts {
  readonly options: EventSubscriptionsOptions
  /** The modes that the client supports. */
  readonly supported: readonly DeliveryMode[]
  /** The mode that the application requests. */
  readonly mode: DeliveryMode | undefined
  readonly webhook: Webhook | undefined
  /** Notifies the application that the server has begun to deliver events. */
  onActive(): void
  /** Calls a hook of the application with the current state of the subscription. */
  callHook(call: (subscription: SubscriptionInfo) => unknown): void
}

/** Delivers the events of a subscription until its signal aborts or the server ends it. */
export async function* deliver(
  followed: FollowedSubscription,
  parts: DeliveryParts,
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const seenIds = new SeenIds(followed.record.seen)
  /** The kinds of error after which the subscription was restarted. Each kind allows one restart. */
  const restartedAfter = new Set<EventFailure>()
  /** The error after which the subscription is being restarted. */
  let restartReason: EventError | undefined
  for (;;) {
    const startedAt = performance.now()
    try {
      const type = await findType(followed, restartReason)
      const mode = chooseMode(type, parts.supported, parts.mode)
      if (mode !== 'webhook' && followed.record.webhook) await unsubscribe(followed)
      await followed.save(mode === 'webhook' ? { mode } : { mode, webhook: undefined })
      for await (const item of itemsOf(followed, mode, parts.webhook)) {
        yield* processItem(item, followed, seenIds, parts)
      }
      return
    } catch (error) {
      if (followed.signal.aborted) return
      // After the subscription has worked for a while, an error of the same kind may have a new cause, and
      // another restart may help
      if (wasStable(startedAt)) restartedAfter.clear()
      if (!(error instanceof EventError) || !error.kind || restartedAfter.has(error.kind)) {
        if (error instanceof EventError) await followed.remove()
        throw error
      }
      if (!(await prepareRestart(error, followed, parts))) {
        await followed.remove()
        throw error
      }
      restartedAfter.add(error.kind)
      followed.endError = undefined
      restartReason = error
    }
  }
}

/**
 * Prepares to subscribe again after an error, and returns whether a second attempt may help. There are three
 * such cases: the server no longer has the type, but may have replaced it; the schema of the type has changed; or the
 * server does not accept the position. In the last two cases the position is discarded, so events may have
 * been missed.
 */
async function prepareRestart(
  { kind, data }: EventError,
  followed: FollowedSubscription,
  { options, callHook }: DeliveryParts,
): Promise<boolean> {
  const { kind: missingKind, reason } = (data ?? {}) as { kind?: unknown; reason?: unknown }
  const isChanged = kind === 'Unsupported' && reason === 'schema_changed'
  if (!isChanged && kind !== 'InvalidParams') return kind === 'NotFound' && missingKind === 'event'
  if (followed.record.cursor === null) return isChanged
  await followed.save({ cursor: null })
  callHook((subscription) => options.onGap?.(subscription))
  return true
}

/**
 * Finds the event type of a subscription.
 *
 * @throws {EventError} `restartReason`, if it is given and the server has no such type.
 * @throws {SdkError} `UNSUPPORTED`, if `restartReason` is undefined and the server has no such type.
 */
async function findType(
  followed: FollowedSubscription,
  restartReason: EventError | undefined,
): Promise<EventType> {
  const { client, report, signal, record } = followed
  const isBackground = restartReason !== undefined
  const types = await listEventTypes(client, report, { signal, background: isBackground })
  const type = types.find(({ name }) => name === record.name)
  if (type) return type
  const message = `The server has no event type "${record.name}"`
  throw restartReason ?? new SdkError('UNSUPPORTED', message)
}

function itemsOf(
  followed: FollowedSubscription,
  mode: DeliveryMode,
  webhook: Webhook | undefined,
): AsyncGenerator<Item, void, undefined> {
  if (mode === 'webhook' && webhook) return webhook.events()
  return mode === 'push' ? streamEvents(followed) : pollEvents(followed)
}

/** Passes an item to the application. Stores the id of a processed event, and the new position. */
async function* processItem(
  item: Item,
  followed: FollowedSubscription,
  seenIds: SeenIds,
  { options, callHook, onActive }: DeliveryParts,
): AsyncGenerator<ReceivedEvent, void, undefined> {
  if (item === 'active') return onActive()
  if (item === 'gap') return callHook((subscription) => options.onGap?.(subscription))
  if (item.event !== undefined) {
    const { name, seen: storedIds } = followed.record
    const event = readOccurrence(item.event)
    if (event?.name !== name) {
      const message = `The server sent an invalid event of "${name}"`
      followed.report(new SdkError('INVALID_MESSAGE', message, { data: item.event }))
    } else if (!seenIds.has(event.eventId)) {
      if (await isAccepted(event, followed, options)) yield event
      const stored = { seen: seenIds.add(event.eventId, storedIds) }
      // If the item has a position, `moveTo` below stores the ids together with it
      if (!('cursor' in item)) await followed.save(stored)
      else followed.record = { ...followed.record, ...stored }
    }
  }
  if ('cursor' in item) await followed.moveTo(item.cursor)
  if (item.event !== undefined) item.onProcessed?.()
}

/** Whether the application accepts an event. A refusal, or an exception in `accept`, is reported. */
async function isAccepted(
  event: ReceivedEvent,
  followed: FollowedSubscription,
  { accept }: EventSubscriptionsOptions,
): Promise<boolean> {
  try {
    if (!accept || (await accept(event, infoOf(followed.record)))) return true
    const message = `The event "${event.eventId}" of "${event.name}" was refused`
    followed.report(new SdkError('DENIED', message))
  } catch (error) {
    followed.report(error)
  }
  return false
}
