/**
 * Removes credentials from what is logged.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-5.3
 */

import { REDACTED, redactText } from './redact-text.ts'

/** Whether the value of a member is a credential, by the name of the member. */
function isSecretName(name: string): boolean {
  const example = `${name}:x`
  return redactText(example) !== example
}

/** Matches the private members of a JSON Web Key. */
const PRIVATE_MEMBER = /^(?:d[pq]?|p|qi?|k|oth)$/

/** Matches the names of members that list the names and values of headers in turn, such as `rawHeaders`. */
const HEADERS = /headers$/i

/** The maximum depth of a value. Deeper members are replaced with `…`. */
const MAX_DEPTH = 8

/**
 * Returns a copy of a value that can be serialized as JSON and contains no credentials. It redacts the values
 * of members that are named like a credential, the private members of keys, and credentials in texts. Errors
 * become objects with their name, message, code, data, cause, stack, and the errors of an `AggregateError`.
 */
export function redactSecrets(value: unknown): unknown {
  return redactedCopy(value, 0, new Set())
}

/**
 * Copies a value without credentials.
 *
 * @param seen The objects that were already copied. If they occur again, they are replaced with `…`, because
 *   the number of copies could grow exponentially.
 * @param memberName The name of the member that contains the value.
 */
function redactedCopy(value: unknown, depth: number, seen: Set<object>, memberName = ''): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'function' || typeof value === 'symbol' ? undefined : value
  }
  if (depth >= MAX_DEPTH || seen.has(value)) return '…'
  seen.add(value)
  if (value instanceof URL) return redactText(value.href)
  if (value instanceof Date) return String(value.toJSON())
  if (value instanceof Headers) return redactedCopy(Object.fromEntries(value), depth, seen)
  if (Array.isArray(value)) {
    const isHeaders = HEADERS.test(memberName)
    return value.map((item, index) => {
      const previous: unknown = isHeaders && index % 2 === 1 && value[index - 1]
      if (typeof previous === 'string' && isSecretName(previous)) return REDACTED
      return redactedCopy(item, depth + 1, seen, memberName)
    })
  }
  const entries = entriesOf(value)
  const isKey = entries.some(([name]) => name === 'kty')
  const isSecret = (name: string): boolean =>
    isSecretName(name) || (isKey && PRIVATE_MEMBER.test(name))
  return Object.fromEntries(
    entries
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [
        name,
        isSecret(name) ? REDACTED : redactedCopy(member, depth + 1, seen, name),
      ]),
  )
}

/** The members of an object; none if a getter throws. */
function entriesOf(value: object): [string, unknown][] {
  try {
    return value instanceof Error ? entriesOfError(value) : Object.entries(value)
  } catch {
    return []
  }
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
