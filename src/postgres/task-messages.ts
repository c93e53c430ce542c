/**
 * Messages from the handlers of tasks. Only clients that wait at the moment receive them, so they are sent
 * in notifications and not stored.
 *
 * @see https://www.postgresql.org/docs/current/sql-notify.html
 */
import { boundedCache } from '../patterns/bounded-cache.ts'
import { chunkText } from '../patterns/chunk-text.ts'
import type { JsonRpcNotification } from '../protocol/types.ts'

/**
 * The maximum length of a part of a message, in UTF-16 units. A notification may have at most 7,999 bytes, and a
 * UTF-16 unit takes three bytes at most.
 */
const MAX_CHUNK_CHARACTERS = 2_500

/** The maximum number of messages of which only a part has arrived. */
const MAX_PARTIAL = 1_000

/** Distinguish the last part of a message from every earlier part. */
const LAST_PART = '.'
const EARLIER_PART = '+'

/** Returns the keys of the notifications that contain the parts of a message. */
export function splitMessage(
  origin: string,
  taskId: string,
  message: JsonRpcNotification,
): string[] {
  const chunks = chunkText(JSON.stringify(message), MAX_CHUNK_CHARACTERS)
  return chunks.map((chunk, n) => {
    const marker = n === chunks.length - 1 ? LAST_PART : EARLIER_PART
    return `${origin} ${taskId} ${marker} ${chunk}`
  })
}

/** Joins the messages that arrive in notifications. */
export class TaskMessages {
  readonly #receive: (taskId: string, message: JsonRpcNotification) => void
  /** The parts of messages that have arrived, by their store and task. */
  #partial = boundedCache<string, string>(MAX_PARTIAL)

  constructor(receive: (taskId: string, message: JsonRpcNotification) => void) {
    this.#receive = receive
  }

  /** Removes incomplete messages, because their other parts may have been lost. */
  clear(): void {
    this.#partial = boundedCache(MAX_PARTIAL)
  }

  /** Receives a notification. */
  receive(key: string): void {
    const [, origin = '', taskId = '', marker, chunk = ''] =
      /^(\S+) (\S+) ([+.]) ([^]*)$/.exec(key) ?? []
    const sender = `${origin} ${taskId}`
    const text = (this.#partial.get(sender) ?? '') + chunk
    if (marker === EARLIER_PART) return this.#partial.set(sender, text)
    this.#partial.delete(sender)
    const message = parse(text)
    if (message) this.#receive(taskId, message)
  }
}

/** Parses a joined message. Returns `undefined` if its beginning was lost. */
function parse(text: string): JsonRpcNotification | undefined {
  try {
    return JSON.parse(text) as JsonRpcNotification
  } catch {
    return undefined
  }
}
