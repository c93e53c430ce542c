/**
 * HTTP/1.1 pipelining: requests that a client sends before it has read earlier responses.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.3.2
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * How many requests of one connection are handled while an earlier response is not written yet. If there are
 * more, no further requests are read from the connection.
 */
const MAX_AHEAD = 7

/** The pipelined requests of one connection. */
interface Pipeline {
  /** The responses of requests that are being handled while an earlier response is not written yet. */
  readonly running: Set<ServerResponse>
  /** Callbacks that start handling the further requests that were already read. */
  readonly waiting: (() => void)[]
}

const pipelines = new WeakMap<Socket, Pipeline>()

/**
 * Calls `start`, which starts handling a request. A pipelined request waits while too many others of its
 * connection are being handled. A client that reads no responses can therefore not make the server buffer
 * an unlimited number of responses.
 */
export function limitPipelining(outgoing: ServerResponse, start: () => void): void {
  // Node gives the socket only to the response that it writes next, so no earlier response is pending
  if (outgoing.socket) return start()
  const { socket } = outgoing.req
  const { running, waiting } = pipelines.get(socket) ?? createPipeline(socket)
  const startNow = (): void => {
    running.add(outgoing)
    start()
  }
  outgoing.once('close', () => {
    running.delete(outgoing)
    if (socket.destroyed) return
    const next = waiting.shift()
    if (!next) return
    next()
    if (waiting.length === 0) socket.resume()
  })
  if (running.size < MAX_AHEAD) return startNow()
  waiting.push(startNow)
  socket.pause()
}

function createPipeline(socket: Socket): Pipeline {
  const pipeline: Pipeline = { running: new Set(), waiting: [] }
  pipelines.set(socket, pipeline)
  socket.once('close', () => {
    for (const outgoing of pipeline.running) {
      // Node emits "close" only on the response that has the socket, so the others are closed here
      if (!outgoing.socket) outgoing.destroy().emit('close')
    }
  })
  return pipeline
}
