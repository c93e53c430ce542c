/**
 * Reading a response: as text with a bound, or as a stream of events.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
 */
import { TextBuffer } from '../../patterns/bounded-read.ts'
import { tooLong, type SseParser } from './sse.ts'

/** How long a stream may go on after its response, in ms, before the connection is given up. */
const GRACE_MS = 100

/** Whether a response has a media type; parameters and case do not count. */
export function hasType(response: Response, type: string): boolean {
  return response.headers.get('content-type')?.toLowerCase().startsWith(type) ?? false
}

/** Whether a response is a successful stream of events. */
export function isEventStream(response: Response): boolean {
  return response.ok && hasType(response, 'text/event-stream')
}

/**
 * Reads a body as text.
 *
 * @param begun Whether its beginning is enough: what is there at first.
 * @throws {McpError} `LIMIT_EXCEEDED` when it is longer than `maxLength` UTF-16 units.
 */
export async function readText(
  response: Response,
  maxLength: number,
  signal: AbortSignal,
  begun = false,
): Promise<string> {
  const text = new TextBuffer()
  await read(response, signal, (piece) => {
    text.append(piece)
    if (text.length > maxLength) throw tooLong(maxLength)
    return begun
  })
  return text.take()
}

/** Reads a stream of events until it ends, or `enough` says so. */
export function readEvents(
  response: Response,
  parser: SseParser,
  signal: AbortSignal,
  enough: () => boolean,
): Promise<void> {
  return read(response, signal, (piece) => {
    parser.push(piece)
    return enough()
  })
}

/** Gives a body's text piece by piece, until it ends, the signal fires or `take` has enough. */
async function read(
  response: Response,
  signal: AbortSignal,
  take: (piece: string) => boolean,
): Promise<void> {
  const reader = response.body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  const stop = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', stop)
  try {
    while (!signal.aborted) {
      const { value, done } = await reader.read()
      if (done) return
      if (take(decoder.decode(value, { stream: true }))) return drain(reader, stop)
    }
  } catch (error) {
    stop()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Waits a moment for a stream to end before it is stopped, so that its connection can be used again. */
function drain(reader: ReadableStreamDefaultReader<Uint8Array>, stop: () => void): void {
  const timer = setTimeout(stop, GRACE_MS)
  const next = async (): Promise<void> => {
    while (!(await reader.read()).done);
  }
  next()
    .catch(() => {})
    .finally(() => clearTimeout(timer))
}
