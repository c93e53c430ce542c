/**
 * Events as applications receive them, the same in every delivery mode.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { META_SUBSCRIPTION_ID } from '../../protocol/meta.ts'
import type { JsonObject } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'

/** An event of a subscription. Everything in it comes from the server and is untrusted. */
export interface ReceivedEvent {
  /** Identifies the event among the events of its type. */
  readonly eventId: string
  /** The name of the event type. */
  readonly name: string
  /** When the event happened: RFC 3339, with a time zone. */
  readonly timestamp: string
  /** The payload. Treat it as untrusted, like the result of a tool. */
  readonly data: JsonObject
  readonly _meta?: JsonObject
  /** Members that later revisions add. */
  readonly [member: string]: unknown
}

/** Reads an event. Omits the members that concern its delivery. Returns undefined if the event is malformed. */
export function readOccurrence(value: unknown): ReceivedEvent | undefined {
  if (!isObject(value)) return undefined
  const { cursor: _, _meta, eventId, name, timestamp, data, ...others } = value
  const isEvent = typeof eventId === 'string' && eventId !== '' && isObject(data)
  if (!isEvent || typeof name !== 'string' || typeof timestamp !== 'string') return undefined
  const { [META_SUBSCRIPTION_ID]: __, ...meta } = isObject(_meta) ? _meta : {}
  const event = { ...others, eventId, name, timestamp, data }
  return Object.keys(meta).length > 0 ? { ...event, _meta: meta } : event
}
