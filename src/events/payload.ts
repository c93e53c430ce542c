/**
 * The payload of an event as one subscription receives it.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { JsonObject } from '../protocol/types.ts'
import { callApplication } from './call-application.ts'
import type { EventEntry, ReadContext } from './event-entry.ts'
import { validate } from './validate.ts'

/**
 * Returns the payload that a subscription receives. Returns undefined if the subscription does not receive the
 * event, and null if the event must be read again later.
 *
 * @param hasEarlier Whether earlier events were found, which can be delivered before the error is thrown.
 * @throws {unknown} The error of the type's `matches` or `transform`, if `stopsAtFailure` is set and
 *   there are no earlier events.
 */
export async function payloadFor(
  { entry, subscription: { subscriber }, input, report, stopsAtFailure }: ReadContext,
  data: JsonObject,
  hasEarlier: boolean,
): Promise<JsonObject | null | undefined> {
  const { matches, transform } = entry.options
  // Each function gets its own copy, which it may modify
  const copy = (): JsonObject => structuredClone(data)
  try {
    if (matches && !(await callApplication(() => matches(input, copy(), subscriber), 'matches')))
      return
    if (!transform) return data
    const transformed = await callApplication(() => transform(copy(), subscriber), 'transform')
    return await validPayload(entry, transformed, 'transform')
  } catch (error) {
    if (!stopsAtFailure) {
      report(error)
      return undefined
    }
    if (hasEarlier) return null
    throw error
  }
}

/** @throws {TypeError} If a payload that `transform` or `poll` returned does not fit the schema. */
export function validPayload(
  { item, options }: EventEntry,
  data: JsonObject,
  source: string,
): Promise<JsonObject> {
  const invalid = (fault: string): Error =>
    new TypeError(`"${source}" of "${item.name}" returned an invalid payload: ${fault}`)
  return validate(options.payload, data, invalid) as Promise<JsonObject>
}
