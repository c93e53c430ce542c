/**
 * Scrubbing what leaves a server beside its answers: log messages and observed events.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#security
 */

/**
 * Looks at each member of what is about to leave, the outermost value first, under the name `''`:
 * gives it back, or what to say instead, or nothing to leave it out. The replacer of
 * `JSON.stringify`, in other words.
 */
export type Redact = (name: string, value: unknown) => unknown

/** The value as it may leave; a copy, as JSON has it. Nothing when all of it is left out. */
export function scrub<T>(value: T, redact?: Redact): T | undefined {
  const text: string | undefined = JSON.stringify(value, redact)
  return text === undefined ? undefined : (JSON.parse(text) as T)
}
