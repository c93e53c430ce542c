/**
 * The token that a request comes with: in its `Authorization` header, and nowhere else.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-2.1
 */

/** How a token was sent. */
export interface Credentials {
  readonly scheme: 'bearer' | 'dpop'
  readonly token: string
}

/** Letters of the scheme, then one token: whatever is visible, but for what separates and quotes. */
const CREDENTIALS = /^([a-z\d!#$%&'*+.^_`|~-]+) +([^\s,;"\\\u0080-\uffff]+)$/i
const KNOWN_SCHEME = /^(bearer|dpop)(?:$|[\s,])/i

/**
 * Reads the credentials of a request.
 *
 * @returns The credentials; nothing when there are none of a known scheme; `malformed` when there
 *   are several, or they are not what the scheme wants.
 */
export function readCredentials({ headers, url }: Request): Credentials | 'malformed' | undefined {
  // Addresses end up in logs and histories
  if (url.includes('access_token') && new URL(url).searchParams.has('access_token')) {
    return 'malformed'
  }
  const header = headers.get('authorization')?.trim()
  if (header === undefined || !KNOWN_SCHEME.test(header)) return undefined
  const [, scheme = '', token] = CREDENTIALS.exec(header) ?? []
  if (token === undefined) return 'malformed'
  return { scheme: scheme.toLowerCase() === 'dpop' ? 'dpop' : 'bearer', token }
}
