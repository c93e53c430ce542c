/**
 * The HTTP headers of MCP, and the encoding of values that headers cannot carry as they are.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers
 */

/** The revision of a request; since 2025-06-18. */
export const HEADER_PROTOCOL_VERSION = 'mcp-protocol-version'
/** The session that a request belongs to; from 2025-03-26 to 2025-11-25. */
export const HEADER_SESSION_ID = 'mcp-session-id'
/** The event id after which a stream resumes; from 2025-03-26 to 2025-11-25. */
export const HEADER_LAST_EVENT_ID = 'last-event-id'
/** The method of the body; 2026-07-28. */
export const HEADER_METHOD = 'mcp-method'
/** The name or URI in the params of the body; 2026-07-28. */
export const HEADER_NAME = 'mcp-name'
/** The prefix of the headers that repeat tool arguments; 2026-07-28. */
export const HEADER_PARAM_PREFIX = 'mcp-param-'

/**
 * The value of a header that must have one value. A header sent twice arrives as values joined by a
 * comma and usually a space; equal values count as one.
 *
 * @param separator A text that no value contains; ids may contain a comma, but no space.
 * @returns `null` if the header is absent, `undefined` if it has different values.
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

/** The marks before and after a value that is encoded as Base64. */
const OPEN = '=?base64?'
const CLOSE = '?='
/** Printable ASCII without leading or trailing spaces. */
const PLAIN = /^(?:[!-~](?:[ -~]*[!-~])?)?$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * Encodes text for a header: unchanged if it is printable ASCII without leading or trailing spaces,
 * otherwise the Base64 of its UTF-8 between `=?base64?` and `?=`.
 */
export function encodeHeaderValue(text: string): string {
  if (PLAIN.test(text) && !isEncoded(text)) return text
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte))
  return OPEN + btoa(bytes.join('')) + CLOSE
}

/**
 * Decodes a header value, from which `Headers` has removed surrounding whitespace. Undefined if the value is
 * marked as Base64, but is not the Base64 of UTF-8.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (!isEncoded(value)) return value
  const base64 = value.slice(OPEN.length, -CLOSE.length)
  if (!BASE64.test(base64)) return undefined
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Whether a text is marked as Base64. */
function isEncoded(text: string): boolean {
  return text.length >= OPEN.length + CLOSE.length && text.startsWith(OPEN) && text.endsWith(CLOSE)
}
