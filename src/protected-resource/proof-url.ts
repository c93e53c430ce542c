/**
 * How proofs name what they are for.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-4.2
 */

/** A URL without query and fragment; nothing when it is none. */
export function proofUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { origin, pathname } = new URL(text)
  return origin + pathname
}
