/**
 * Recognizes secrets, so that they are never stored, shared or exported.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-5.3
 */

const SECRET_NAME =
  /^(?:auth|code|jwt|key|pass|sig)$|(?:api[-_]?key|assertion|authorization|cookie|credentials?|passphrase|passw(?:or)?d|private[-_]?key|pwd|secret|signature|token)$/i

/** Whether a header, query parameter or member with this name usually contains a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** Whether forms and lists hide the values of this name. A `key` or a `code` is often no secret. */
export function isHiddenName(name: string): boolean {
  return isSecretName(name) && !/^(?:auth|code|key|sig)$/i.test(name)
}

/** The name of the variable that stands for a secret: `X_API_KEY` for `x-api-key`. */
export function variableOf(name: string): string {
  return name
    .toUpperCase()
    .replaceAll(/[^A-Z\d]/g, '_')
    .replace(/^(?=\d)/, '_')
}

/** Whether an address is the domain of a server, instead of its URL. */
export function isDomain(address: string): boolean {
  return !address.includes('/')
}

/** Removes the user, the password, the fragment and the secret query parameters of an address. */
export function withoutSecrets(address: string): string {
  if (isDomain(address) || !URL.canParse(address)) return address
  const url = new URL(address)
  url.username = url.password = url.hash = ''
  for (const name of new Set(url.searchParams.keys())) {
    if (isSecretName(name)) url.searchParams.delete(name)
  }
  return url.href
}

/** Copies JSON. The values of members with secret names are replaced. */
export function redact(
  value: unknown,
  name = '',
  isSecret = isSecretName,
  replace: (name: string) => string = () => '…',
): unknown {
  const copy = (each: unknown, key: string): unknown => redact(each, key, isSecret, replace)
  if (Array.isArray(value)) return value.map((each) => copy(each, name))
  if (typeof value === 'string') return isSecret(name) ? replace(name) : value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copy(each, key)]))
}
