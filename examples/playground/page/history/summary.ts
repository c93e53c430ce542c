/**
 * Describes calls in one line.
 */
import { isHiddenName, redact } from '../secrets.ts'
import type { Call } from './calls.ts'

/** The maximum length of the arguments in a line, in characters. */
const MAX_LENGTH = 120

/** What is shown in place of a secret. */
export const HIDDEN = '•••'

/** The arguments of a call in one line, such as `city: "Oslo", nights: 2`. Secrets are hidden. */
export function argumentSummary({ arguments: values }: Pick<Call, 'arguments'>): string {
  const parts = Object.entries(values).map(
    ([name, value]) => `${name}: ${JSON.stringify(hideSecrets(value, name))}`,
  )
  const text = parts.join(', ')
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
}

/** Copies JSON, and hides the values of members with the names of secrets. */
export function hideSecrets(value: unknown, name = ''): unknown {
  return redact(value, name, isHiddenName, () => HIDDEN)
}

/** A call in one line, for labels: `greet at 12:33:01`. */
export function callLabel({ key, startedAt }: Pick<Call, 'key' | 'startedAt'>): string {
  return `${key} at ${startedAt.toTimeString().slice(0, 8)}`
}
