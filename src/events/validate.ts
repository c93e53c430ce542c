/**
 * Validation of arguments and payloads.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { describeIssues, type StandardSchema } from '../protocol/standard-schema.ts'
import type { JsonObject } from '../protocol/types.ts'
import type { EventEntry } from './event-entry.ts'

/**
 * Validates a value, and returns the value that the schema outputs. Without a schema, every object is valid.
 *
 * @param invalid Creates the error for an invalid value.
 */
export async function validate(
  schema: StandardSchema | undefined,
  value: JsonObject,
  invalid: (fault: string) => Error,
): Promise<unknown> {
  const checked = await schema?.['~standard'].validate(value)
  if (checked?.issues) throw invalid(describeIssues(checked.issues))
  return checked ? checked.value : value
}

/** Validates the arguments of a subscription. A type without `input` accepts none. */
export function validArguments(
  { options: { input } }: EventEntry,
  args: JsonObject,
  invalid: (fault: string) => Error,
): Promise<unknown> {
  if (input || Object.keys(args).length === 0) return validate(input, args, invalid)
  throw invalid('the event type has no arguments')
}
