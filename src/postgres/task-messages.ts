/**
 * Messages from the handlers of tasks, which travel within notifications: those whom they are for wait
 * right now, so that none has to be stored.
 *
 * @see https://www.postgresql.org/docs/current/sql-notify.html
 */
import { boundedCache } from '../patterns/bounded-cache.ts'
import { chunkText } from '../patterns/chunk-text.ts'
import type { JsonRpcNotification } from '../protocol/types.ts'

/** A notification has less than 8,000 bytes, and a UTF-16 unit becomes three at most. */
const MAX_CHUNK_CHARACTERS = 2_500

/** The maximum number of messages of which only a part has arrived. */
const MAX_PARTIAL = 1_000

/** The keys of the notifications that carry a message. */
export function splitMessage(
  origin: string,
  taskId: string,
  message: JsonRpcNotification,
): string[] {
  const chunks = chunkText(JSON.stringify(message), MAX_CHUNK_CHARACTERS)
  const last = chunks.length - 1
  return chunks.map((chunk, n) => `${origin} ${taskId} ${n === last ? '.' : '+'} ${chunk}`)
}

/** Joins the messages that arrive in notifications. */
export class TaskMessages {
  readonly #receive: (taskId: string, message: JsonRpcNotification) => void
  /** What has arrived of messages, by their store and task. */
  #partial = boundedCache<string, string>(MAX_PARTIAL)

  constructor(receive: (taskId: string, message: JsonRpcNotification) => void) {
    this.#receive = receive
  }

  /** Forgets what has arrived in part: the rest may have been lost. */
  clear(): void {
    this.#partial = boundedCache(MAX_PARTIAL)
  }

  /** Receives a notification. */
  receive(key: string): void {
    const [, origin = '', taskId = '', more, chunk = ''] =
      /^(\S+) (\S+) ([+.]) ([^]*)$/.exec(key) ?? []
    const from = `${origin} ${taskId}`
    const text = (this.#partial.get(from) ?? '') + chunk
    if (more === '+') return this.#partial.set(from, text)
    this.#partial.delete(from)
    const message = parse(text)
    if (message) this.#receive(taskId, message)
  }
}

/** The message that was joined; `undefined` if its beginning was lost. */
function parse(text: string): JsonRpcNotification | undefined {
  try {
    return JSON.parse(text) as JsonRpcNotification
  } catch {
    return undefined
  }
}
