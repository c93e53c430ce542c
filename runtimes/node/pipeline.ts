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
  /** One for each request whose response is not written yet. */
  readonly running: Set<AbortController>
  /** Callbacks that start the responses to further requests that were already read. */
  readonly waiting: (() => void)[]
}

const pipelines = new WeakMap<Socket, Pipeline>()

/**
 * Answers a request once fewer than `MAX_AT_ONCE` others of its connection are being answered, so
 * that a client that reads no responses cannot make the server buffer an unlimited number of them.
 *
 * @param answer Receives a signal that aborts if the client disconnects before it has the response.
 */
export function inTurn(
  socket: Socket,
  outgoing: ServerResponse,
  answer: (gone: AbortSignal) => void,
): void {
  const { running, waiting } = pipelines.get(socket) ?? begin(socket)
  const gone = new AbortController()
  const run = (): void => {
    running.add(gone)
    answer(gone.signal)
  }
  outgoing.once('close', () => {
    running.delete(gone)
    if (!outgoing.writableFinished) gone.abort()
    if (socket.destroyed) return
    const next = waiting.shift()
    if (!next) return
    next()
    if (waiting.length === 0) socket.resume()
  })
  if (running.size < MAX_AT_ONCE) return run()
  waiting.push(run)
  socket.pause()
}

function begin(socket: Socket): Pipeline {
  const pipeline: Pipeline = { running: new Set(), waiting: [] }
  pipelines.set(socket, pipeline)
  // Node emits "close" only on the first of several responses
  socket.once('close', () => {
    for (const gone of pipeline.running) gone.abort()
  })
  return pipeline
}
