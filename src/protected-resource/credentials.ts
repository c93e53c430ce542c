/**
 * The access token of a request. Tokens are accepted only in the `Authorization` header.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-2.1
 */

/** How a token was sent. */
export interface Credentials {
  readonly scheme: 'bearer' | 'dpop'
  readonly token: string
}

/** The scheme, then one token of visible characters except separators and quotes. */
const CREDENTIALS = /^([a-z\d!#$%&'*+.^_`|~-]+) +([^\s,;"\\\u0080-\uffff]+)$/i
/** The supported schemes, at the beginning of the header. */
const KNOWN_SCHEME = /^(bearer|dpop)(?:$|[\s,])/i

/**
 * Reads the credentials of a request.
 *
 * @returns The credentials; `undefined` if there are none of a supported scheme; `malformed` if there are
 *   several, if they do not match the scheme's syntax, or if the URL has a token.
 */
export function readCredentials({ headers, url }: Request): Credentials | 'malformed' | undefined {
  // A token in the URL is rejected, because URLs end up in logs and browser histories
  if (url.includes('access_token') && new URL(url).searchParams.has('access_token')) {
    return 'malformed'
  }
  const header = headers.get('authorization')?.trim()
  if (header === undefined || !KNOWN_SCHEME.test(header)) return undefined
  const [, scheme = '', token] = CREDENTIALS.exec(header) ?? []
  if (token === undefined) return 'malformed'
  return { scheme: scheme.toLowerCase() === 'dpop' ? 'dpop' : 'bearer', token }
}
