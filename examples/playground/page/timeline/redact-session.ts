/**
 * Redacts the records of a session for export: whatever headers, URLs and messages contain a secret in.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9700
 */
import { isObject } from 'edgewise/browser'
import { isSecretInMessage, REDACTED, redactUrl } from './redact.ts'

/** Creates a function that redacts a JSON value for export. */
export function createRedactor(
  secrets: ReadonlySet<string>,
  sessionIds: ReadonlySet<string>,
): (value: unknown) => unknown {
  // The same name for the same session, because a change of the session may be the bug
  const names = new Map([...sessionIds].map((id, index) => [id, `session-${index + 1}`]))
  for (const secret of secrets) names.set(secret, REDACTED)
  // Longer ones first, as one may contain another
  const replacements = [...names].toSorted(([one], [other]) => other.length - one.length)

  function redactText(text: string): string {
    let redacted = text
    for (const [secret, name] of replacements) redacted = redacted.replaceAll(secret, name)
    return redacted.replaceAll(/https?:\/\/[^\s"'<>\\]+/g, redactUrl)
  }
  return (value) => {
    return mapJson(value, (text, name) => {
      return isSecretInMessage(name) && !text.endsWith(REDACTED) ? REDACTED : redactText(text)
    })
  }
}

/** Maps all strings in a JSON value, with the name of the member that they belong to. */
function mapJson(value: unknown, map: (text: string, name: string) => string, name = ''): unknown {
  if (typeof value === 'string') return map(value, name)
  if (Array.isArray(value)) return value.map((each) => mapJson(each, map, name))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, mapJson(member, map, key)]),
  )
}
