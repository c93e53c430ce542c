/**
 * The HTTP headers that MCP owns, and how a value that a header cannot carry travels in one.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers
 */

/** The revision that a request speaks; since 2025-06-18. */
export const HEADER_PROTOCOL_VERSION = 'mcp-protocol-version'
/** The session that a request belongs to; from 2025-03-26 to 2025-11-25. */
export const HEADER_SESSION_ID = 'mcp-session-id'
/** Where a stream is resumed; from 2025-03-26 to 2025-11-25. */
export const HEADER_LAST_EVENT_ID = 'last-event-id'
/** Repeats the method of the body; 2026-07-28. */
export const HEADER_METHOD = 'mcp-method'
/** Repeats the name or URI of the body; 2026-07-28. */
export const HEADER_NAME = 'mcp-name'
/** What the headers that repeat tool arguments begin with; 2026-07-28. */
export const HEADER_PARAM_PREFIX = 'mcp-param-'

/**
 * The value of a header that must have one value. A header that was sent twice arrives as values
 * joined by a comma and mostly a space; equal ones count as one.
 *
 * @param separator A text that no value contains; ids may contain a comma, but no space.
 * @returns `null` when there is no such header, `undefined` when it has different values.
 */
export function singleValue(
  headers: Headers,
  name: string,
  separator = ', ',
): string | null | undefined {
  const joined = headers.get(name)
  if (!joined?.includes(separator)) return joined
  const [first, ...others] = joined.split(separator).map((value) => value.trim())
  return others.every((value) => value === first) ? first : undefined
}

const OPEN = '=?base64?'
const CLOSE = '?='
const PLAIN = /^(?:[!-~](?:[ -~]*[!-~])?)?$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * The header form of a text: as it is when it is printable ASCII without spaces at its ends,
 * otherwise the Base64 of its UTF-8 between `=?base64?` and `?=`.
 */
export function encodeHeaderValue(text: string): string {
  if (PLAIN.test(text) && !isEncoded(text)) return text
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte))
  return OPEN + btoa(bytes.join('')) + CLOSE
}

/**
 * The text of a header value as `Headers` give it, without the whitespace around it. Nothing when
 * it is marked as Base64 and is none, or is not UTF-8 inside.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (!isEncoded(value)) return value
  const base64 = value.slice(OPEN.length, -CLOSE.length)
  if (!BASE64.test(base64)) return undefined
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function isEncoded(text: string): boolean {
  return text.length >= OPEN.length + CLOSE.length && text.startsWith(OPEN) && text.endsWith(CLOSE)
}
