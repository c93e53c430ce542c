/**
 * Removes credentials from texts.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-5.3
 */

/** What replaces a credential. */
export const REDACTED = '[redacted]'

/** Patterns of credentials, each with the part of the match that is kept. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*/g, ''],
  // Credentials after the name of an authentication scheme, but not the parameters of a challenge
  [/\b(Bearer|DPoP|Basic)\s+(?!(?:realm|error|scope|resource|algs)\w*=)[\w.~+/=-]{6,}/gi, '$1 '],
  // JSON Web Tokens, signing secrets of webhooks, and keys of well-known services
  [
    /\b(?:eyJ[\w-]+\.[\w.-]+|(?:AKIA|AIza|(?:gh[a-z]|github_pat|npm|glpat|xox[a-z]|[rs]k|whsec)[-_])[\w+/=-]{10,})/g,
    '',
  ],
  // User information in URLs
  [/(\b[a-z][\w+.-]*:\/\/)[^\s/?#"'<>]+(?=@)/gi, '$1'],
  // Header lines
  [/\b((?:cookie|authorization):\s*)(?!\w+ \[)[^\r\n"']+/gi, '$1'],
  // Members and parameters. Their values may be quoted, even within a quoted text. The last names
  // are members of JSON Web Keys
  [
    /\b((?:\w*(?:authorization|cookie|pass(?:word|wd|phrase)?|pwd|secret|token|jwt|assertion|(?:api|private|access|secret)[-_]?key|verifier|signature|credential|session-?id)s?\\?["']?\s*[:=]\s*\[?|(?:code|state|sig|ticket|\w*(?:auth|key))=|(?:d[pq]?|p|qi?|k)\\?["']?:\s*(?=\\?["'][\w-]{20})))(?!["'\\]*\w+ \[r)(?:\\".*?(?:\\"|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^&\s"'<>]+)/gi,
    '$1',
  ],
]

/** The maximum length of a text. The rest is omitted. */
const MAX_LENGTH = 8_192

/** Returns a copy of a text without credentials. */
export function redactText(text: string): string {
  const start = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
  return SECRETS.reduce(
    (current, [pattern, keptPart]) => current.replace(pattern, keptPart + REDACTED),
    start,
  )
}
