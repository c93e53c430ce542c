/**
 * Creates the events that the application passes to `emit`.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { digestText } from '../patterns/digest.ts'
import { SdkError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { wellFormedJson } from '../protocol/well-formed-json.ts'
import type { EventEntry } from './event-entry.ts'
import { validate } from './validate.ts'
import type { LoggedEvent } from './storage.ts'
import { MAX_WEBHOOK_BYTES } from './wire.ts'

/** The options of `emit`. */
export interface EmitOptions {
  /**
   * The id of the event in the system that the event comes from. A second event with the same type and id is
   * ignored. An id that has characters other than letters, digits, `_`, `-` and `:`, or more than 128
   * characters, is replaced by its hash. By default the id is random.
   */
  eventId?: string
  /** When the event happened: a date, or RFC 3339 with a time zone. Default: now. */
  timestamp?: Date | string
  /**
   * The id of the only subscription that may receive the event. By default, all subscriptions to the type
   * may receive it.
   */
  to?: string
  /** The `_meta` of the event. */
  meta?: JsonObject
}

/** Matches an id that is safe in headers, URLs and logs. */
const SAFE_ID = /^[\w:-]{1,128}$/
/** Matches a timestamp of RFC 3339. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
/** The maximum size of payload and `_meta` together, in bytes. 4096 bytes are left for the rest of a message. */
const MAX_BYTES = MAX_WEBHOOK_BYTES - 4096
/** A payload with more bytes than this is reported as a warning. */
const LARGE_BYTES = 16_384

/** The event types for which a large payload was reported. Each type is reported only once. */
const reported = new WeakSet<EventEntry>()

/**
 * Creates an event.
 *
 * @throws {SdkError} `INVALID_USE` if the payload does not fit the schema, a member is malformed, or
 *   the type has the option `poll`; `LIMIT_EXCEEDED` if the event is too large.
 */
export async function createEvent(
  entry: EventEntry,
  payload: unknown,
  { eventId, timestamp, to, meta }: EmitOptions,
  report: (error: unknown) => void,
): Promise<LoggedEvent> {
  const { name } = entry.item
  const invalid = (reason: string): SdkError =>
    new SdkError('INVALID_USE', `Cannot emit "${name}": ${reason}`)
  if (entry.options.poll) throw invalid('its events come from "poll"')
  if (!isObject(payload)) throw invalid('the payload must be an object')
  const data = await validate(entry.options.payload, payload, invalid)
  const json = wellFormedJson({ data, meta })
  const { length } = new TextEncoder().encode(json)
  if (length > MAX_BYTES) {
    const message = `Cannot emit "${name}": the payload has ${length} bytes (limit: ${MAX_BYTES})`
    throw new SdkError('LIMIT_EXCEEDED', message)
  }
  if (length > LARGE_BYTES && !reported.has(entry)) {
    reported.add(entry)
    const message = `A payload of "${name}" has ${length} bytes: send an id, and offer a tool for the rest`
    report(new SdkError('LIMIT_EXCEEDED', message))
  }
  const now = Date.now()
  return {
    name,
    eventId: await safeId(eventId ?? `evt_${crypto.randomUUID().replaceAll('-', '')}`, invalid),
    timestamp: timestampOf(timestamp ?? new Date(now), invalid),
    acceptedAt: now,
    // A copy, so that the application cannot change the event later
    ...(JSON.parse(json) as { data: JsonObject; meta?: JsonObject }),
    ...(to !== undefined && { to }),
  }
}

/** An id that can be a header value and part of a signed text: the given id, or its hash. */
export async function safeId(id: string, invalid: (reason: string) => Error): Promise<string> {
  if (typeof id !== 'string') throw invalid('the event id must be a text')
  if (SAFE_ID.test(id)) return id
  // 32 characters of Base64 have 192 bits
  return `evt_${(await digestText(id)).slice(0, 32)}`
}

/** Returns a timestamp as text: RFC 3339, with a time zone. */
export function timestampOf(timestamp: Date | string, invalid: (reason: string) => Error): string {
  // `toJSON` returns null for an invalid date
  const text = timestamp instanceof Date ? timestamp.toJSON() : timestamp
  if (typeof text === 'string' && TIMESTAMP.test(text) && !Number.isNaN(Date.parse(text))) {
    return text
  }
  throw invalid('the timestamp must be a date, or RFC 3339 with a time zone')
}
