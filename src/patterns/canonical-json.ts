/**
 * Canonical JSON: equal values have equal texts.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
import { isObject } from '../protocol/validate.ts'

/** Serializes a value that was parsed from JSON, with the members of objects sorted by name. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`)
  return `{${members.join()}}`
}
