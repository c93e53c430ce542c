/**
 * A stream between an object and the Worker that serves the client. It is a WebSocket, because a
 * WebSocket stays open while the object hibernates. The Worker converts it into server-sent events.
 *
 * @see https://developers.cloudflare.com/durable-objects/best-practices/websockets/
 */
import {
  EVENT_STREAM_HEADERS,
  EventStream,
  eventSink,
  type EventSinkOptions,
  type ServerSentEvent,
} from '#internal/http'
import { chunkText } from '#internal/storage'
import { type Sink } from '../../src/presets/server.ts'

/**
 * The maximum length of one piece of an event, in UTF-16 units. A message of a socket has at most 1 MiB, and a
 * UTF-16 unit takes at most three bytes.
 */
const MAX_PIECE_CHARACTERS = 300_000
/** Precedes each piece of an event except the last one. */
const MORE = '+'
/** Precedes the last piece of an event. */
const LAST = '.'

/** Creates the sink with which an object sends events to the Worker. */
export function socketSink(socket: WebSocket): Sink {
  return {
    get open() {
      return socket.readyState === WebSocket.OPEN
    },
    send(event) {
      if (this.open) sendEvent(socket, event)
      return undefined
    },
    close() {
      if (this.open) socket.close(1000, 'The stream ended')
    },
  }
}

/** Sends an event in as many pieces as it needs. */
export function sendEvent(socket: WebSocket, event: ServerSentEvent): void {
  const pieces = chunkText(JSON.stringify(event), MAX_PIECE_CHARACTERS)
  const lastPiece = pieces.pop() ?? ''
  for (const piece of pieces) socket.send(MORE + piece)
  socket.send(LAST + lastPiece)
}

/** Receives the events that {@link sendEvent} sends. */
export function receiveEvents(socket: WebSocket, onEvent: (event: ServerSentEvent) => void): void {
  let received = ''
  socket.addEventListener('message', ({ data }) => {
    const text = String(data)
    received += text.slice(1)
    if (text.startsWith(MORE)) return
    onEvent(JSON.parse(received) as ServerSentEvent)
    received = ''
  })
}

/** Creates the response of the Worker, which sends the events to the client until a socket ends. */
export function eventStreamResponse(
  sockets: readonly WebSocket[],
  options: EventSinkOptions,
): Response {
  const closeSockets = (reason: string): void => {
    for (const socket of sockets) socket.close(1000, reason)
  }
  const events = new EventStream({ ...options, onDisconnect: () => closeSockets('No reader') })
  const endStream = (reason = ''): void => {
    if (!events.open) return
    // A comment in the stream, for debugging
    if (reason !== '') events.comment(` ${reason}`)
    events.close()
    closeSockets('The stream ended')
  }
  const sink = eventSink(events, options)
  for (const socket of sockets) {
    receiveEvents(socket, (event) => void sink.send(event))
    socket.addEventListener('close', ({ reason }) => endStream(reason))
    socket.addEventListener('error', () => endStream())
    socket.accept()
  }
  return new Response(events.body, { headers: EVENT_STREAM_HEADERS })
}
