/**
 * Reads parts of a request: its body as text, the values of headers, and the accepted media types.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import { readBytes } from '../../patterns/bounded-read.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import { PARSE_ERROR } from '../../protocol/error-codes.ts'
import { singleValue } from '../../protocol/headers.ts'
import { HttpError, invalidRequest } from './http-error.ts'

const DEFAULT_MAX_BYTES = 4 * 1024 * 1024
/**
 * Bodies up to this size are read at once, which is faster. A longer body could take too much memory this way, because
 * runtimes store each chunk as an object, however small the chunk is.
 */
const MAX_SHORT_BYTES = 16_384
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the text of a body.
 *
 * @throws {HttpError} 415 when the content type is not JSON, or the body has a content encoding; 413 when the body
 * exceeds the limit; 400 when it is incomplete or not UTF-8.
 */
export async function readBody(
  request: Request,
  maxBytes: number = DEFAULT_MAX_BYTES,
): Promise<string> {
  const { headers } = request
  if (!/^application\/json\s*(;|$)/i.test(readHeader(headers, 'content-type') ?? '')) {
    throw invalidRequest(415, 'The content type must be "application/json"')
  }
  const length = Number(headers.get('content-length') ?? NaN)
  const isTooLong = length > maxBytes
  let text: string | undefined
  let bytes: ArrayBuffer | Uint8Array | undefined
  try {
    if (!isTooLong && length <= MAX_SHORT_BYTES) {
      // It is faster to read text than bytes on every runtime
      text = await request.text()
    } else if (!isTooLong) {
      // Firefox does not support streaming the body of a `Request`
      bytes = await (request.body ? readBytes(request.body, maxBytes) : request.arrayBuffer())
    }
  } catch {
    throw invalidRequest(400, 'The body cannot be read')
  }
  if (text === undefined) {
    if (!bytes || bytes.byteLength > maxBytes) {
      throw invalidRequest(413, `The body is longer than ${maxBytes} bytes`)
    }
    try {
      return decoder.decode(bytes)
    } catch {
      // Handled below
    }
  } else if (!text.includes('\ufffd') || new TextEncoder().encode(text).length <= length) {
    // `text()` replaces invalid bytes with U+FFFD, which makes the text longer than the body was.
    // The exception is a four-byte character of which only the last byte is missing
    return text
  }
  // Invalid UTF-8 can be compressed data, because no runtime decompresses request bodies
  const encoding = headers.get('content-encoding')
  throw encoding
    ? invalidRequest(415, `The content encoding must not be "${encoding}"`)
    : new HttpError(400, new ProtocolError(PARSE_ERROR, 'Parse error: the body is not UTF-8'))
}

/**
 * Returns the value of a header, or `null` if the header is missing.
 *
 * @throws {HttpError} 400 when the header was sent with conflicting values.
 */
export function readHeader(headers: Headers, name: string, separator?: string): string | null {
  const value = singleValue(headers, name, separator)
  if (value !== undefined) return value
  throw invalidRequest(400, `The header "${name}" has different values: "${headers.get(name)}"`)
}

/**
 * Whether a client accepts an event stream. A request without `Accept` accepts everything.
 *
 * @throws {HttpError} 406 when the client accepts neither JSON nor event streams.
 */
export function acceptsEvents(headers: Headers): boolean {
  const accept = headers.get('accept') ?? '*/*'
  const acceptsStream = /\*\/\*|text\/(event-stream|\*)/i.test(accept)
  if (acceptsStream || /application\/(json|\*)/i.test(accept)) return acceptsStream
  throw invalidRequest(406, 'The client must accept "application/json" and "text/event-stream"')
}
