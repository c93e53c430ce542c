/**
 * Matching of a URI against a template, without backtracking.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570#section-1.4
 */

/**
 * Values from a URI, by variable: text, or a list if the variable has a `*`. The object has no
 * prototype.
 */
export type UriVariables = Partial<Record<string, string | string[]>>

/** A part of a template. It is fixed text, or a value that may have a prefix. */
export interface Part {
  /**
   * The fixed text, or the text before the value. A value with a prefix may be empty, or absent
   * together with the prefix. A value without a prefix has at least one character.
   */
  prefix: string
  /** Characters that end the value; `undefined` for fixed text. */
  stops?: string
  /**
   * Stores the value; returns false if it does not match.
   *
   * @throws {URIError} If a percent-escape is malformed.
   */
  read?(raw: string, values: UriVariables): boolean
}

const MAX_URI_CHARACTERS = 8192

/**
 * Percent-encodes everything except printable ASCII.
 *
 * @throws {URIError} If the text is not well-formed Unicode.
 */
export function toAscii(text: string): string {
  return text.replace(/[^!-~]+/g, encodeURIComponent)
}

/** Returns the variables' values if the URI matches. */
export function matchParts(parts: readonly Part[], uri: string): UriVariables | undefined {
  if (uri.length > MAX_URI_CHARACTERS) return undefined
  try {
    return match(parts, toAscii(uri))
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

function match(parts: readonly Part[], text: string): UriVariables | undefined {
  if (text.length > MAX_URI_CHARACTERS) return undefined
  // Fast path: most URIs already differ in the template's fixed prefix.
  const [first] = parts
  if (first && !first.read && !text.startsWith(first.prefix)) return undefined

  // For each part, from last to first, compute the positions from which the remaining parts match
  // the rest of the text. With them, `extractValues` knows where each value can end.
  let ends = new Uint8Array(text.length + 1).fill(1, text.length)
  const steps = parts.toReversed().map((part) => {
    const step = { part, ends }
    ends = startPositions(part, text, ends)
    return step
  })
  return ends[0] ? extractValues(steps.reverse(), text) : undefined
}

/** The positions at which a part can start, given those at which it may end. */
function startPositions(
  { prefix, stops }: Part,
  text: string,
  ends: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  // Positions inside a value from which an end can be reached.
  const inside = ends.slice()
  for (let i = text.length - 1; i >= 0; i--) {
    if (inside[i + 1] && isInValue(stops, text, i)) inside[i] = 1
  }
  return ends.map((end, i) => {
    // A value without a prefix has at least one character
    if (stops !== undefined && prefix === '')
      return Number(isInValue(stops, text, i) && inside[i + 1])
    // A value with a prefix may be absent
    if (stops !== undefined && end) return end
    return text.startsWith(prefix, i) ? (inside[i + prefix.length] ?? 0) : 0
  })
}

/** Reads the values of the variables, from the first part to the last. */
function extractValues(
  steps: readonly { part: Part; ends: Uint8Array }[],
  text: string,
): UriVariables | undefined {
  const values = Object.create(null) as UriVariables
  let at = 0
  for (const { part, ends } of steps) {
    const { prefix, stops, read } = part
    if (!text.startsWith(prefix, at)) continue
    const start = at + prefix.length
    let end = prefix === '' ? start + 1 : start
    while (!ends[end] && isInValue(stops, text, end)) end++
    // If the value cannot end, it is absent, and what looks like its prefix belongs to a later part
    if (!ends[end]) continue
    if (read?.(text.slice(start, end), values) === false) return undefined
    at = end
  }
  return values
}

/** Whether the character at a position can belong to a value. */
function isInValue(stops: string | undefined, text: string, at: number): boolean {
  return stops !== undefined && at < text.length && !stops.includes(text.charAt(at))
}
