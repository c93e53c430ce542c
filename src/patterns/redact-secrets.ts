/**
 * Removes credentials from what is logged.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-5.3
 */

const REDACTED = '[redacted]'

/** Names of members and parameters whose values are credentials. */
const SECRET_NAME =
  /^(?:.*[-_])?(?:authorization|cookie|set-cookie|password|passphrase|secret|secrets|token|assertion|api-?_?key|private-?_?key|code_verifier|signature|credentials?)$|(?:Token|Secret|Password|ApiKey|PrivateKey|Credential|Assertion|Verifier)s?$/i

/** Credentials inside of texts, each with what replaces it. */
const SECRETS_IN_TEXT: readonly (readonly [RegExp, string])[] = [
  // Authorization headers
  [/\b(Bearer|DPoP|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  // JSON Web Tokens
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, REDACTED],
  // Signing secrets of webhooks
  [/\bwhsec_[\w+/=-]+/g, REDACTED],
  // User information in URLs
  [/(\b[a-z][\w+.-]*:\/\/)[^\s/?#@]+@/gi, `$1${REDACTED}@`],
  // Parameters of URLs and forms
  [
    /\b((?:\w+[-_])?(?:token|secret|password|api[-_]?key|key|code|state|sig|signature|assertion|code_verifier|ticket)=)[^&\s"'<>]+/gi,
    `$1${REDACTED}`,
  ],
]

/** The maximum depth of a value. Deeper members are omitted. */
const MAX_DEPTH = 8
/** The maximum length of a text. The rest is omitted. */
const MAX_LENGTH = 8_192

/** Returns a copy of a text without credentials. */
export function redactText(text: string): string {
  const start = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
  return SECRETS_IN_TEXT.reduce((current, [pattern, by]) => current.replace(pattern, by), start)
}

/**
 * Returns a copy of a value without credentials, which can be serialized as JSON: members with the name of
 * a credential are replaced, and credentials in texts. Errors become objects with their name, message,
 * code, data, cause and stack.
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
    entries.map(([name, member]) => [
      name,
      SECRET_NAME.test(name) && member !== undefined ? REDACTED : redactSecrets(member, depth + 1),
    ]),
  )
}

function entriesOfError(error: Error): [string, unknown][] {
  const { name, message, stack, cause } = error
  return [
    ['name', name],
    ['message', message],
    ...Object.entries(error),
    ...(cause === undefined ? [] : [['cause', cause] as [string, unknown]]),
    ['stack', stack],
  ]
}
