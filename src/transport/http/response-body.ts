/**
 * Checks the media types of responses, and reads event streams.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
 */
import { readPieces } from '../../patterns/bounded-read.ts'
import { httpError } from './client-fetch.ts'
import type { SseParser } from './sse.ts'

/** Whether a response has a media type; ignores parameters and case. */
export function hasType({ headers }: Pick<Response, 'headers'>, type: string): boolean {
  return headers.get('content-type')?.toLowerCase().startsWith(type) ?? false
}

/** Whether a response is a successful event stream. */
export function isEventStream(response: Response): boolean {
  return response.ok && hasType(response, 'text/event-stream')
}

/**
 * Returns a response if it is an event stream.
 *
 * @throws {SdkError} `HTTP` if it is not.
 */
export async function requireEventStream(response: Response): Promise<Response> {
  if (isEventStream(response)) return response
  throw await httpError(response, 'The server opened no stream')
}

/**
 * Reads an event stream. It may resume an earlier stream that was read with the same parser.
 *
 * @param isEnough Ends the reading early when it returns `true`. By default the stream is read to its end.
 */
export function readEvents(
  response: Response,
  parser: SseParser,
  signal: AbortSignal,
  isEnough?: () => boolean,
): Promise<void> {
  // Discards the incomplete event of an earlier stream, but not the id of the last complete event
  parser.begin()
  return readPieces(response, signal, (piece) => {
    parser.push(piece)
    return isEnough?.()
  })
}
