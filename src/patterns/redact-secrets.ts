/**
 * Removes credentials from what is logged.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-5.3
 */

import { REDACTED, redactText } from './redact-text.ts'

/** Whether the value of a member is a credential, by the name of the member. */
function isSecretName(name: string): boolean {
  const pair = `${name}:x`
  return redactText(pair) !== pair
}

/** The maximum depth of a value. Deeper members are omitted. */
const MAX_DEPTH = 8
/**
 * Returns a copy of a value without credentials, which can be serialized as JSON: members with the name of
 * a credential are replaced, and credentials in texts. Errors become objects with their name, message,
 * code, data, cause, stack, and the errors of an `AggregateError`.
 */
export function redactSecrets(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'function' || typeof value === 'symbol' ? undefined : value
  }
  if (depth >= MAX_DEPTH) return '…'
  if (value instanceof URL) return redactText(value.href)
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Headers) return redactSecrets(Object.fromEntries(value), depth)
  if (Array.isArray(value)) return value.map((item) => redactSecrets(item, depth + 1))
  const entries = value instanceof Error ? entriesOfError(value) : Object.entries(value)
  return Object.fromEntries(
    entries
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [
        name,
        isSecretName(name) ? REDACTED : redactSecrets(member, depth + 1),
      ]),
  )
}

function entriesOfError(error: Error): [string, unknown][] {
  const { name, message, stack, cause, errors } = error as AggregateError
  return [
    ['name', name],
    ['message', message],
    ...Object.entries(error),
    ['cause', cause],
    ['errors', errors],
    ['stack', stack],
  ]
}
