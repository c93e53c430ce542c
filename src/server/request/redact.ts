/**
 * Redaction of log messages and observed events.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#security
 */

/**
 * Called for each member of an outgoing value, first for the value itself with the name `''`.
 * Returns the member unchanged, a replacement, or `undefined` to omit it, like the replacer of
 * `JSON.stringify`.
 */
export type Redact = (name: string, value: unknown) => unknown

/** Returns a redacted copy of the value, as parsed JSON; `undefined` if `redact` omits the value. */
export function redactedCopy<T>(value: T, redact?: Redact): T | undefined {
  const text: string | undefined = JSON.stringify(value, redact)
  return text === undefined ? undefined : (JSON.parse(text) as T)
}
