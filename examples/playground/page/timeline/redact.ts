/**
 * Redacts the headers, URLs and forms of requests, before they are recorded.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9700
 */
import { isSecretName } from '../secrets.ts'
import type { HeaderValues } from './record.ts'

/** The text that replaces a secret. */
export const REDACTED = '[redacted]'

/** The request headers whose values are shown. Any other header may be a credential. */
const PUBLIC_HEADERS = /^(?:mcp-.+|accept|content-type|last-event-id|cache-control|if-.+|prefer)$/
/** Shorter values are not searched for in other text, because they could be a part of any word. */
const MIN_SECRET_LENGTH = 6
/** Names of OAuth that `isSecretName` does not cover, because they are harmless elsewhere. */
const OAUTH_SECRETS =
  /^(?:code|code_verifier|state|assertion|client_assertion|nonce|sig|signature)$/

/** Members of messages that only look like secrets. */
const PUBLIC_MEMBERS = /^(?:progressToken|code|key)$/

/** Whether a member of a message with this name usually contains a secret. */
export function isSecretInMessage(name: string): boolean {
  return isSecretName(name) && !PUBLIC_MEMBERS.test(name)
}

/** Redacts the URL of a request. The secret values are added to a set, because responses may repeat them. */
export function redactRequestUrl(text: string, secrets: Set<string>): string {
  const { password, searchParams } = new URL(text)
  const values = [...searchParams].flatMap(([name, value]) => (isSecretMember(name) ? [value] : []))
  addSecrets([password, ...values], secrets)
  return redactUrl(text)
}

function addSecrets(values: readonly string[], secrets: Set<string>): void {
  for (const each of values) if (each.length >= MIN_SECRET_LENGTH) secrets.add(each)
}

/** Redacts request headers. The secret values are added to a set. */
export function redactRequestHeaders(headers: Headers, secrets: Set<string>): HeaderValues {
  return mapHeaders(headers, (name, value) => {
    if (PUBLIC_HEADERS.test(name)) return value
    // The scheme, such as `Bearer`, is not secret
    const [, scheme = '', credentials = value] =
      name === 'authorization' ? (/^(\w+ )(.+)$/.exec(value) ?? []) : []
    const values = name === 'cookie' ? credentials.split(/; |=/) : [credentials]
    addSecrets(values, secrets)
    return scheme + REDACTED
  })
}

/** Redacts response headers. */
export function redactResponseHeaders(headers: Headers): HeaderValues {
  return mapHeaders(headers, (name, value) => {
    if (isSecretName(name)) return REDACTED
    return name === 'location' ? redactUrl(value) : value
  })
}

function mapHeaders(headers: Headers, map: (name: string, value: string) => string): HeaderValues {
  return Object.fromEntries([...headers].map(([name, value]) => [name, map(name, value)]))
}

/** Redacts a URL: the user and the password, parameters that may be secret, and keys in the path. */
export function redactUrl(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  url.username = url.password = url.hash = ''
  url.pathname = url.pathname
    .split('/')
    .map((segment) => (isKey(segment) ? 'redacted' : segment))
    .join('/')
  for (const [name, value] of [...url.searchParams]) {
    if (isSecretMember(name) || isKey(value)) url.searchParams.set(name, 'redacted')
  }
  return url.href === new URL(text).href ? text : url.href
}

/** Whether text looks like a key or an id that is hard to guess: letters and digits that are mixed. */
function isKey(text: string): boolean {
  return text
    .split(/[^a-z\d]+/i)
    .some((part) => part.length >= 8 && /\d[a-z]/i.test(part) && /[a-z]\d/i.test(part))
}

function isSecretMember(name: string): boolean {
  return isSecretName(name) || OAUTH_SECRETS.test(name)
}

/** Redacts a body that is not JSON: a form, such as that of a token request, or of a response to one. */
export function redactText(text: string): string {
  if (!/^[\w.~%+-]+=[^\s]*$/.test(text)) return text
  const form = new URLSearchParams(text)
  for (const name of new Set(form.keys())) if (isSecretMember(name)) form.set(name, REDACTED)
  return form.toString()
}
