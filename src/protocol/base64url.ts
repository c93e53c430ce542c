/**
 * Base64url without padding: encodes bytes as text that needs no escaping in JSON, URLs and headers.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4648#section-5
 */

/** How many bytes are converted at once, because a call can have only so many arguments. */
const CHUNK_BYTES = 0x8000

/** Encodes bytes as Base64, with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES))
  }
  return btoa(binary)
}

/** Encodes bytes as Base64url. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/**
 * Decodes text; undefined unless {@link encodeBase64Url} could have produced it. Only one text decodes to
 * given bytes, so that a signature over the bytes also protects each character of the text.
 */
export function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    return encodeBase64Url(bytes) === text ? bytes : undefined
  } catch {
    return undefined
  }
}
