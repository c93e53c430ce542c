/**
 * The deliveries to one subscription, in the order of its events.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { ProtocolError } from '../../protocol/errors.ts'
import { memberAt } from '../../protocol/validate.ts'
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import type { EventHost, NextEvents, OpenSubscription } from '../host.ts'
import type { EventStorage, Position, WebhookSubscription } from '../storage.ts'
import { MAX_WEBHOOK_BYTES, type ControlBody, type EventOccurrence } from '../wire.ts'
import { Lease } from './lease.ts'
import type { WebhookSettings } from './options.ts'
import {
  accepted,
  controlMessage,
  failed,
  isExpired,
  nextBody,
  termination,
  type Progress,
} from './progress.ts'
import { randomText, sendSigned, type Answer } from './request.ts'
import { isDiscarded, isFinal, planRetry, wasSuspendedTooLong } from './retries.ts'
import { toOpen } from './subscribe.ts'

/** How many events are read at once. */
const PAGE_EVENTS = 50
/** After how many events other subscriptions come first. */
const MAX_EVENTS = 500
/** How long a subscription waits after an error of the author's functions, in milliseconds. */
const AUTHOR_RETRY_MS = 30_000
/** How long an event type may be unknown before its subscriptions end, in milliseconds. */
const MAX_MISSING_MS = 3_600_000

/** What deliveries work with. */
export interface DeliveryEnvironment {
  readonly host: EventHost
  readonly settings: WebhookSettings
  readonly storage: EventStorage
  /** The platform's environment, such as a Worker's bindings. */
  readonly env: unknown
  /** Runs a request when its host has capacity. */
  readonly limit: (url: string, send: () => Promise<Answer>) => Promise<Answer>
  /** Aborts the request under way, when the subscription was deleted. */
  readonly abort: AbortSignal
  /** Whether to stop before the next request. */
  readonly isOver: () => boolean
}

/** A body with its ids. */
interface Message {
  /** The id in the log of deliveries. */
  readonly eventId: string
  readonly messageId: string
  readonly body: Uint8Array<ArrayBuffer>
}

/** Delivers to one subscription that this process has taken. */
export class Delivery {
  readonly #in: DeliveryEnvironment
  readonly #lease: Lease
  #open: OpenSubscription

  constructor(environment: DeliveryEnvironment, record: WebhookSubscription) {
    this.#in = environment
    this.#lease = new Lease(environment.storage, record, environment.abort)
    this.#open = { ...toOpen(record, environment.env), log: environment.storage }
  }

  /** Delivers until nothing is due, an attempt fails or it is the turn of another subscription. */
  async run(): Promise<void> {
    const lease = this.#lease
    if (isExpired(lease.record) && !(await this.#expire())) return
    if (lease.progress.control?.type !== 'terminated' && !(await this.#reopen())) return
    const { control } = lease.progress
    if (control && !(await this.#sendControl(control))) return
    if (control?.type === 'terminated') await this.#in.storage.remove(lease.record)
    else await this.#deliverEvents()
  }

  /**
   * Checks that the subscriber may still receive events.
   *
   * @returns whether there is something to send.
   */
  async #reopen(): Promise<boolean> {
    const lease = this.#lease
    const { missingSince = Date.now(), ...progress } = lease.progress
    try {
      this.#open = await this.#in.host.reopen(this.#open)
      lease.record = { ...lease.record, progress }
      return true
    } catch (error) {
      // The type may only be unknown to this process, while another version is deployed
      const isMissing = memberAt(error, ['data', 'kind']) === 'event'
      const mayReturn = isMissing && Date.now() - missingSince < MAX_MISSING_MS
      if (error instanceof ProtocolError && !mayReturn) return this.#terminate(error)
      return this.#postpone(error, isMissing ? { ...progress, missingSince } : progress)
    }
  }

  async #deliverEvents(): Promise<void> {
    const { host, isOver } = this.#in
    const lease = this.#lease
    for (let count = 0; ;) {
      let page: NextEvents
      try {
        page = await host.next(this.#open, lease.record.position, PAGE_EVENTS)
      } catch (error) {
        return void (await this.#postpone(error, lease.progress))
      }
      if (page.truncated && !(await this.#sendGap(page))) return
      for (const [index, { occurrence, position }] of page.events.entries()) {
        const isLast = index === page.events.length - 1
        if (!(await this.#sendEvent(occurrence, isLast ? page.position : position))) return
      }
      count += page.events.length
      if (page.events.length === 0 && !(await lease.save({ position: page.position }))) return
      if (page.hasMore && count < MAX_EVENTS && !isOver()) continue
      const pollMs = host.pollMs(this.#open.name)
      const nextPollAt = pollMs === null ? null : Date.now() + pollMs
      return void (await lease.save({ dueAt: page.hasMore ? Date.now() : nextPollAt }))
    }
  }

  /** @returns whether to continue with the next body, as for all functions that send. */
  async #sendEvent(occurrence: EventOccurrence, position: Position): Promise<boolean> {
    const { host, settings } = this.#in
    const { record, progress } = this.#lease
    const cursor = progress.cursor ?? (await host.cursorOf(this.#open, record.position))
    const body = encode({ ...occurrence, cursor })
    const { eventId, name } = occurrence
    if (body.length > MAX_WEBHOOK_BYTES) {
      const limit = `more than ${MAX_WEBHOOK_BYTES} bytes`
      host.report(new RangeError(`Cannot deliver "${eventId}" of "${name}": it has ${limit}`))
      return this.#lease.save({ position, progress: nextBody(progress) })
    }
    if (!settings.ownMessageIds) {
      return this.#attempt({ eventId, messageId: eventId, body }, { position }, { cursor })
    }
    const { messageId = `msg_${randomText()}` } = progress
    return this.#attempt({ eventId, messageId, body }, { position }, { cursor, messageId })
  }

  /** Announces that events were skipped, if the receiver can continue from somewhere. */
  async #sendGap({ events, position }: NextEvents): Promise<boolean> {
    const first = events[0]?.position
    // Positions in the log are numbers, and the event itself is still to be sent
    const start = typeof first === 'number' ? first - 1 : (first ?? position)
    const cursor = await this.#in.host.cursorOf(this.#open, start)
    if (cursor === null || this.#in.host.profile === 'chatgpt') return true
    const control: ControlBody = { type: 'gap', cursor }
    const progress = { ...nextBody(this.#lease.progress), ...controlMessage(control) }
    return (
      (await this.#lease.save({ position: start, progress })) && (await this.#sendControl(control))
    )
  }

  #sendControl(control: ControlBody): Promise<boolean> {
    const { messageId = '' } = this.#lease.progress
    return this.#attempt({ eventId: control.type, messageId, body: encode(control) }, {}, {})
  }

  /**
   * Sends the current body once, and stores the result.
   *
   * @param after What changes when the body was accepted or given up.
   * @param repeated What further attempts must send again.
   */
  async #attempt(
    message: Message,
    after: Partial<WebhookSubscription>,
    repeated: Progress,
  ): Promise<boolean> {
    const { settings, abort } = this.#in
    const lease = this.#lease
    const { attempts = 0, notBefore = 0 } = lease.progress
    if (notBefore > Date.now()) {
      return lease.save({ ...after, progress: nextBody(lease.progress) })
    }
    const { answer, startedAt } = await this.#send(message)
    if (abort.aborted) return false
    if (!answer) {
      await lease.release()
      return false
    }
    const { failure } = answer
    const isLast = isFinal(answer, lease.progress, settings)
    await this.#log(message, attempts + 1, startedAt, answer, isLast)
    if (!failure) return lease.save({ ...after, progress: accepted() })
    const progress = failed(lease.progress, failure)
    if (!isLast) {
      const repeat = { ...progress, ...repeated }
      await lease.save(planRetry(lease.record, repeat, answer, settings))
      return false
    }
    const next = nextBody(isDiscarded(answer) ? lease.progress : progress)
    return lease.save({ ...after, progress: next })
  }

  /** Sends a body when its host has capacity, unless it is then too late. */
  async #send({
    messageId,
    body,
  }: Message): Promise<{ answer: Answer | undefined; startedAt: number }> {
    const { settings, limit, abort, isOver } = this.#in
    const lease = this.#lease
    const { id: subscriptionId, url, secrets } = lease.record
    let startedAt = 0
    const answer = await limit(url, async () => {
      startedAt = Date.now()
      const isLate = lease.leftMs < settings.timeoutMs || isExpired(lease.record)
      if (isLate || abort.aborted || isOver()) return {}
      return sendSigned({ url, subscriptionId, messageId, body, secrets }, settings, abort)
    })
    const isSent = answer.status !== undefined || answer.failure !== undefined
    return { answer: isSent ? answer : undefined, startedAt }
  }

  /** Continues later, after an error of the author's functions. */
  async #postpone(error: unknown, progress: Progress): Promise<false> {
    this.#in.host.report(error)
    await this.#lease.save({ dueAt: Date.now() + AUTHOR_RETRY_MS, progress: { ...progress } })
    return false
  }

  /** Ends an expired subscription; returns whether its receiver is to be notified. */
  async #expire(): Promise<boolean> {
    const { record, progress } = this.#lease
    if (!wasSuspendedTooLong(record)) return this.#delete()
    const { lastFailure: reason = 'connection_refused' } = progress
    const message = 'All deliveries have failed for too long'
    const error = this.#in.host.error('CallbackEndpointError', message, { reason })
    return error instanceof ProtocolError ? this.#terminate(error) : this.#delete()
  }

  /** Ends the subscription with an error; returns whether its receiver is to be notified. */
  async #terminate(error: ProtocolError): Promise<boolean> {
    if (this.#in.host.profile === 'chatgpt') return this.#delete()
    if (!(await this.#lease.save(termination(error)))) return false
    this.#in.host.unsubscribed(this.#open)
    return true
  }

  async #delete(): Promise<false> {
    const { host, storage } = this.#in
    if (await storage.remove(this.#lease.record)) host.unsubscribed(this.#open)
    return false
  }

  async #log(
    { eventId }: Message,
    attempt: number,
    at: number,
    { status, failure }: Answer,
    isLast: boolean,
  ): Promise<void> {
    const { host, storage } = this.#in
    const { id: subscriptionId, name, principal } = this.#lease.record
    const durationMs = Date.now() - at
    const outcome = !failure ? 'accepted' : isLast ? 'given_up' : 'failed'
    const about = { eventId, attempt, durationMs, subscriptionId }
    host.observe({ type: 'delivery', ...about, name, principal, outcome, status })
    const result = { ...(status !== undefined && { status }), ...(failure && { error: failure }) }
    await storage.addAttempt({ ...about, at, ...result }, name)
  }
}

function encode(body: EventOccurrence | ControlBody): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(wellFormedJson(body))
}
