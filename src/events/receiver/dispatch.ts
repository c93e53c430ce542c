/**
 * Passes verified bodies of webhooks to the handlers of an application.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { boundedCache } from '../../patterns/bounded-cache.ts'
import type { ErrorObject, JsonObject } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import type { EventOccurrence } from '../wire.ts'
import type {
  EventReceiverOptions,
  SeenEvents,
  WebhookContext,
  ReceiverSubscription,
} from './options.ts'

/** How long the id of an event is remembered, in milliseconds. Servers retry for a shorter time. */
const SEEN_MS = 86_400_000
/** How many ids of events are remembered. */
const MAX_SEEN = 10_000
/** How long a handler may take before a warning, in milliseconds. Servers may stop waiting after that. */
const SLOW_MS = 5_000

/** Matches the types of bodies that are not events. */
const CONTROL_TYPE = /^(?:gap|terminated|verification)$/

/** The HTTP status of the response, or the challenge that the response must echo. */
export type Outcome = number | { readonly challenge: string }

/** Calls the handlers of one receiver. */
export class Dispatcher {
  readonly #options: EventReceiverOptions
  readonly #report: (error: unknown) => void
  readonly #seen: SeenEvents
  /** For each event that is being processed, a promise of the HTTP status of the response. */
  readonly #running = new Map<string, Promise<number>>()

  constructor(options: EventReceiverOptions, report: (error: unknown) => void) {
    this.#options = options
    this.#report = report
    this.#seen = options.seen ?? seenInMemory()
  }

  /** Handles the body of a request. */
  async dispatch(
    body: JsonObject,
    { state: subscriptionState, name }: ReceiverSubscription,
    context: WebhookContext,
  ): Promise<Outcome> {
    const { type, challenge, cursor, error } = body
    if (type === 'verification' && typeof challenge === 'string') return { challenge }
    if (subscriptionState) return subscriptionState === 'expired' ? 410 : 503
    if (type === undefined) return isOccurrence(body, name) ? this.#processOnce(body, context) : 400
    if (type === 'gap' && typeof cursor === 'string') {
      return this.#call(() => this.#options.onGap?.(cursor, context))
    }
    if (type === 'terminated' && isObject(error)) {
      return this.#call(() =>
        this.#options.onTerminated?.(error as JsonObject & ErrorObject, context),
      )
    }
    // A valid body of a known type was handled above
    if (typeof type === 'string' && CONTROL_TYPE.test(type)) return 400
    this.#report(new Error(`A webhook of unknown type ${JSON.stringify(type)} was ignored`))
    return 204
  }

  /** Processes an event once, even if it arrives again while it is being processed. */
  #processOnce(event: EventOccurrence, context: WebhookContext): Promise<number> {
    const { id, url } = context
    // A line break separates the parts, because neither an id in a header nor a URL contains one
    const key = `${id ?? url.pathname + url.search}\n${event.eventId}`
    const process = async (): Promise<number> => {
      if (await this.#seen.has(key)) return 204
      const status = await this.#call(() => this.#options.onEvent(event, context))
      if (status !== 503) await this.#seen.add(key, Date.now() + SEEN_MS)
      return status
    }
    const running = this.#running.get(key)
    if (running) return running
    const status = process().finally(() => this.#running.delete(key))
    this.#running.set(key, status)
    return status
  }

  /** Calls a handler. Returns the HTTP status for its outcome. */
  async #call(handler: () => unknown): Promise<number> {
    const warning = 'A webhook handler takes more than 5 s: use "waitUntil"'
    const timer = setTimeout(this.#report, SLOW_MS, new Error(warning))
    try {
      return (await handler()) === 'discard' ? 410 : 204
    } catch (error) {
      this.#report(error)
      return 503
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Whether a body is an event, and has the expected name, if one is given. */
function isOccurrence(
  body: JsonObject,
  expectedName?: string,
): body is JsonObject & EventOccurrence {
  const { eventId, name, timestamp, data } = body
  const isExpected =
    typeof name === 'string' && (expectedName === undefined || expectedName === name)
  return (
    typeof eventId === 'string' && isExpected && typeof timestamp === 'string' && isObject(data)
  )
}

function seenInMemory(): SeenEvents {
  const keys = boundedCache<string, true>(MAX_SEEN, Date.now)
  return {
    has: (key) => keys.get(key) === true,
    add: (key, until) => keys.set(key, true, until),
  }
}
