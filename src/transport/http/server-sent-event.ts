/**
 * Server-sent events with an id, a type or a retry delay.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { Sink } from '../../session/event-store.ts'
import type { EventStream, EventStreamOptions } from './event-stream.ts'

/** One event. */
export interface ServerSentEvent {
  readonly id?: string | undefined
  readonly event?: string | undefined
  /** How long the client should wait before it reconnects, in milliseconds. */
  readonly retry?: number | undefined
  /** The data, which must be a single line. */
  readonly data: string
}

/** The options of a stream in a session. */
export interface EventSinkOptions extends EventStreamOptions {
  /**
   * Returns whether the reader must not receive the data of an event. If so, the reader receives only the id.
   */
  hides?: ((data: string) => boolean) | undefined
}

/** Serializes an event. */
export function eventText({ id, event, retry, data }: ServerSentEvent): string {
  return `${fieldLine('event', event)}${fieldLine('id', id)}${fieldLine('retry', retry)}data: ${data}\n\n`
}

/** Creates a sink that sends a session's events on an event stream. */
export function eventSink(stream: EventStream, { hides }: EventSinkOptions = {}): Sink {
  return {
    get open() {
      return stream.open
    },
    send(event) {
      const isHidden = hides?.(event.data)
      if (isHidden && event.id === undefined) return undefined
      return stream.write(eventText(isHidden ? { ...event, data: '' } : event))
    },
    close: () => stream.close(),
  }
}

function fieldLine(field: string, value: string | number | undefined): string {
  return value === undefined ? '' : `${field}: ${value}\n`
}
