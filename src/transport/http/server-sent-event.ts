/**
 * Server-sent events that are more than a message: with an id, a type or a time.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { Sink } from '../../session/event-store.ts'
import type { EventStream, EventStreamOptions } from './event-stream.ts'

/** One event. */
export interface ServerSentEvent {
  readonly id?: string | undefined
  readonly event?: string | undefined
  /** Milliseconds that the client should wait before it reconnects. */
  readonly retry?: number | undefined
  /** A single line. */
  readonly data: string
}

/** How a stream of a session behaves. */
export interface EventSinkOptions extends EventStreamOptions {
  /** Whether the data of an event is hidden from the reader, who gets only its id. */
  hides?: ((data: string) => boolean) | undefined
}

/** The text of an event. */
export function eventText({ id, event, retry, data }: ServerSentEvent): string {
  return `${line('event', event)}${line('id', id)}${line('retry', retry)}data: ${data}\n\n`
}

/** Sends the events of a session on an event stream. */
export function eventSink(stream: EventStream, { hides }: EventSinkOptions = {}): Sink {
  return {
    get open() {
      return stream.open
    },
    send(event) {
      const hidden = hides?.(event.data)
      if (hidden && event.id === undefined) return undefined
      return stream.write(eventText(hidden ? { ...event, data: '' } : event))
    },
    close: () => stream.close(),
  }
}

function line(field: string, value: string | number | undefined): string {
  return value === undefined ? '' : `${field}: ${value}\n`
}
