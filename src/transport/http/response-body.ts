/**
 * Responses by their type, and streams of events.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
 */
import { readPieces } from '../../patterns/bounded-read.ts'
import type { SseParser } from './sse.ts'

/** Whether a response has a media type; parameters and case do not count. */
export function hasType(response: Response, type: string): boolean {
  return response.headers.get('content-type')?.toLowerCase().startsWith(type) ?? false
}

/** Whether a response is a successful stream of events. */
export function isEventStream(response: Response): boolean {
  return response.ok && hasType(response, 'text/event-stream')
}

/** Reads a stream of events until it ends, or `enough` says so. */
export function readEvents(
  response: Response,
  parser: SseParser,
  signal: AbortSignal,
  enough: () => boolean,
): Promise<void> {
  return readPieces(response, signal, (piece) => {
    parser.push(piece)
    return enough()
  })
}
