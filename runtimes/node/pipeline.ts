/**
 * Requests that a client sends before it has read the answers to those before (HTTP/1.1 pipelining).
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.3.2
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many requests of one connection are answered at a time; the next ones wait, and are not read. */
const MAX_AT_ONCE = 8

/** What goes on at one connection. */
interface Pipeline {
  /** One for each request whose answer is not written yet. */
  readonly running: Set<AbortController>
  /** Begin the answers to those that were read already. */
  readonly waiting: (() => void)[]
}

const pipelines = new WeakMap<Socket, Pipeline>()

/**
 * Answers a request as soon as few enough others of its connection are being answered, so that a
 * client that reads no answers cannot have the server produce and keep any number of them.
 *
 * @param answer Gets a signal that fires when the client leaves before it has the answer.
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
  // Node tells of its end only the first of the answers
  socket.once('close', () => {
    for (const gone of pipeline.running) gone.abort()
  })
  return pipeline
}
