/**
 * A registered event type.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { jsonSchemaOf, type StandardSchema } from '../protocol/standard-schema.ts'
import { isObject } from '../protocol/validate.ts'
import type { JsonObject } from '../protocol/types.ts'
import type { EventEntry, EventReader } from './event-entry.ts'
import { logReader } from './log-source.ts'
import type { EventHistory, EventTypeOptions } from './type-options.ts'
import type { DeliveryMode, EventType } from './wire.ts'

/** All delivery modes. */
export const MODES: readonly DeliveryMode[] = ['poll', 'push', 'webhook']

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<EventTypeOptions> = {
  description: 1,
  input: 1,
  payload: 1,
  delivery: 1,
  matches: 1,
  transform: 1,
  poll: 1,
  pollMs: 1,
  scopes: 1,
  visible: 1,
  authorize: 1,
  history: 1,
  unfiltered: 1,
  meta: 1,
  onSubscribe: 1,
  onUnsubscribe: 1,
}

/** The names of the members of `history`. The values have no meaning. */
const HISTORY_NAMES: OptionNames<EventHistory> = { maxAgeMs: 1, maxEvents: 1 }

/** The input schema of a type without arguments. */
const NO_ARGUMENTS: JsonObject = { type: 'object', additionalProperties: false }

/**
 * Creates the entry of an event type. Converts the schemas of the type to JSON Schema, so that they are
 * converted only once.
 *
 * @param served The modes in which the server can deliver events.
 * @param pollReader Reads the events if the type has the option `poll`.
 * @throws {TypeError} If an option is unknown or invalid, or the arguments would have no effect.
 */
export function eventEntry(
  name: string,
  options: EventTypeOptions,
  served: readonly DeliveryMode[],
  pollReader: EventReader | undefined,
): EventEntry {
  const label = `The event type "${name}"`
  if (typeof name !== 'string' || name === '') throw new TypeError('An event type needs a name')
  requireKnown(label, options, OPTION_NAMES)
  const { description, input, payload, meta, poll, pollMs = 10_000, visible, scopes } = options
  const history = options.history || {}
  requireKnown(`"history" of "${name}"`, history, HISTORY_NAMES)
  const { maxAgeMs = 86_400_000, maxEvents = 10_000 } = history
  const reader = poll ? pollReader : logReader
  if (!reader) throw new TypeError(`${label} has "poll": pass "sources: pollSources" to "events"`)
  const inputSchema = input ? objectSchemaOf(input, `"input" of "${name}"`) : NO_ARGUMENTS
  // A schema without "properties" may still allow arguments
  const mayHaveArguments = input && JSON.stringify(inputSchema.properties) !== '{}'
  if (mayHaveArguments && !options.matches && !poll && !options.unfiltered) {
    throw new TypeError(`${label} has arguments: add "matches" or "poll", or set "unfiltered"`)
  }
  if (![pollMs, maxAgeMs, maxEvents].every((value) => Number.isInteger(value) && value > 0)) {
    throw new TypeError(`${label}: "pollMs", "maxAgeMs" and "maxEvents" are whole numbers above 0`)
  }
  const item: EventType = {
    name,
    ...(description !== undefined && { description }),
    delivery: deliveryOf(label, options, served),
    inputSchema,
    payloadSchema: payload
      ? objectSchemaOf(payload, `"payload" of "${name}"`, 'output')
      : { type: 'object' },
    ...(meta && { _meta: meta }),
  }
  const limits = { pollMs, maxAgeMs, maxEvents }
  return { enabled: true, visible, scopes, item, options, reader, changes: [], ...limits }
}

/**
 * Returns the modes in the option `delivery` that the server can serve. By default, the option lists all modes,
 * except `poll` if the type has no history.
 */
function deliveryOf(
  label: string,
  { delivery, history }: EventTypeOptions,
  served: readonly DeliveryMode[],
): DeliveryMode[] {
  const possible = MODES.filter((mode) => mode !== 'poll' || history !== false)
  const chosen = delivery ?? possible
  const isValid =
    Array.isArray(chosen) &&
    new Set(chosen).size === chosen.length &&
    chosen.every((mode) => possible.includes(mode))
  if (!isValid) {
    throw new TypeError(`${label} has an invalid "delivery": polls, for example, need a history`)
  }
  const modes = chosen.filter((mode) => served.includes(mode))
  if (modes.length > 0) return modes
  throw new TypeError(
    `${label} cannot be delivered: change "delivery", or pass "streams" or "webhooks" to "events"`,
  )
}

function objectSchemaOf(
  schema: StandardSchema,
  label: string,
  side?: 'input' | 'output',
): JsonObject {
  const jsonSchema = jsonSchemaOf(schema, label, side)
  if (isObject(jsonSchema) && (jsonSchema.type ?? 'object') === 'object') return jsonSchema
  throw new TypeError(`${label} must be an object schema`)
}
