/**
 * Reads the events of a stream while its bytes are passed on unchanged.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
import { slicer } from './slices.ts'

/** One event. */
export interface StreamEvent {
  readonly data: string
  readonly event?: string
  readonly eventId?: string
}

/** Receives what happens to a stream. */
export interface StreamListener {
  onEvent(event: StreamEvent): void
  /** Called with each comment. Servers send them to keep the stream alive. */
  onComment?(): void
  /** Called once when the stream ends, with the error if it failed. */
  onEnd(error?: unknown): void
  /** Called if the page no longer wants the stream. */
  onCancel(): void
}

/** The maximum size of a piece, in bytes. What arrives while the page is busy is passed on in pieces of this size. */
const PIECE_LENGTH = 4_096

/** Passes a stream on, with its backpressure, and reports its events. A long stream does not block the page. */
export function tapEvents(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  { onEvent, onComment, onEnd, onCancel }: StreamListener,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader()
  const parse = eventParser(onEvent, onComment)
  const endSlice = slicer()
  let rest = new Uint8Array()
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          if (rest.length === 0) {
            const { done, value } = await reader.read()
            if (done) {
              onEnd()
              return controller.close()
            }
            rest = value
          }
          await endSlice()
          const piece = rest.subarray(0, PIECE_LENGTH)
          rest = rest.subarray(PIECE_LENGTH)
          parse(piece)
          controller.enqueue(piece)
        } catch (error) {
          onEnd(error)
          controller.error(error)
        }
      },
      async cancel(reason) {
        onCancel()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Creates a function that finds the events in the pieces of a stream. */
function eventParser(
  onEvent: StreamListener['onEvent'],
  onComment: StreamListener['onComment'],
): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder()
  let line = ''
  let data: string[] = []
  let event: string | undefined
  let eventId: string | undefined

  function readLine(): void {
    const [, name, value = ''] = /^([^:]*):? ?(.*)$/.exec(line.trimEnd()) ?? []
    if (line.startsWith(':')) onComment?.()
    else if (name === 'data') data.push(value)
    else if (name === 'event') event = value
    else if (name === 'id') eventId = value
    // An empty line ends an event
    else if (line.trim() === '') {
      if (data.length > 0) {
        const text = data.join('\n')
        onEvent({ data: text, ...(event && { event }), ...(eventId && { eventId }) })
      }
      data = []
      event = eventId = undefined
    }
  }

  return (bytes) => {
    // Each piece of a long line is searched only once
    const [end = '', ...others] = decoder.decode(bytes, { stream: true }).split('\n')
    line += end
    for (const next of others) {
      readLine()
      line = next
    }
  }
}
