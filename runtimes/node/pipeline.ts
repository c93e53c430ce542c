/**
 * HTTP/1.1 pipelining: requests that a client sends before it has read earlier responses.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.3.2
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * How many requests of one connection are answered at a time; further ones are not read meanwhile.
 */
const MAX_AT_ONCE = 8

/** The requests of one connection. */
interface Pipeline {
  /** The responses that are not written yet. */
  readonly running: Set<ServerResponse>
  /** Callbacks that start the responses to further requests that were already read. */
  readonly waiting: (() => void)[]
}

const pipelines = new WeakMap<Socket, Pipeline>()

/**
 * Answers a request once fewer than `MAX_AT_ONCE` others of its connection are being answered, so
 * that a client that reads no responses cannot make the server buffer an unlimited number of them.
 */
export function inTurn(outgoing: ServerResponse, answer: () => void): void {
  const { socket } = outgoing.req
  const { running, waiting } = pipelines.get(socket) ?? begin(socket)
  outgoing.on('close', closed)
  if (running.size < MAX_AT_ONCE) {
    running.add(outgoing)
    return answer()
  }
  waiting.push(() => {
    running.add(outgoing)
    answer()
  })
  socket.pause()
}

/** Starts the next response after one was written. */
function closed(this: ServerResponse): void {
  const { socket } = this.req
  const pipeline = pipelines.get(socket)
  if (!pipeline) return
  const { running, waiting } = pipeline
  running.delete(this)
  if (socket.destroyed) return
  const next = waiting.shift()
  if (!next) return
  next()
  if (waiting.length === 0) socket.resume()
}

function begin(socket: Socket): Pipeline {
  const pipeline: Pipeline = { running: new Set(), waiting: [] }
  pipelines.set(socket, pipeline)
  socket.once('close', () => {
    for (const outgoing of pipeline.running) {
      // Node emits "close" only on the response that is being written, not on those behind it
      if (!outgoing.socket) outgoing.destroy().emit('close')
    }
  })
  return pipeline
}
