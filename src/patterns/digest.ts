/**
 * Digests: SHA-256, in Base64url.
 *
 * @see https://www.w3.org/TR/webcrypto-2/#sha
 */
import { encodeBase64Url } from '../protocol/base64url.ts'
import { isObject } from '../protocol/validate.ts'

/** The digest of a text, encoded as UTF-8. */
export async function digestText(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text)
  return encodeBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}

/**
 * The digest of a JSON value. Member names are sorted first, so that equal values have equal digests.
 */
export function digest(value: unknown): Promise<string> {
  const canonical = JSON.stringify(value, (_, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
  return digestText(canonical)
}
