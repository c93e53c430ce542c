/**
 * Stores a task in its Durable Object, as a single value if possible, because written rows are the main
 * cost.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
import { chunkText } from '#internal/storage'
import type { TaskRecordStore } from '#internal/tasks'
import type { TaskRecord } from '../../src/tasks/index.ts'

/** The prefix of the key of a task's first chunk. */
const PREFIX = 'mcp_task/'
/**
 * The maximum length of a chunk, in UTF-16 units. A value has at most 2 MB, and a UTF-16 unit takes at most three
 * bytes.
 */
const MAX_CHARACTERS = 600_000

/** A store in the storage of an object. */
export class ObjectTaskStore implements TaskRecordStore {
  readonly #storage: DurableObjectStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  load(taskId: string): TaskRecord | undefined {
    const { kv } = this.#storage
    let text = kv.get<string>(PREFIX + taskId)
    if (text === undefined) return undefined
    // If there are further chunks, the first chunk has the maximum length, or one UTF-16 unit less, because a
    // chunk does not end within a surrogate pair
    if (text.length >= MAX_CHARACTERS - 1) {
      for (let n = 1; ; n++) {
        const chunk = kv.get<string>(chunkKey(taskId, n))
        if (chunk === undefined) break
        text += chunk
      }
    }
    return JSON.parse(text) as TaskRecord
  }

  save(record: TaskRecord): boolean {
    const { taskId, version } = record
    // No other code runs between this check and the write
    if ((this.load(taskId)?.version ?? 0) !== version - 1) return false
    this.#storage.transactionSync(() => this.#write(record))
    return true
  }

  #write(record: TaskRecord): void {
    const { kv } = this.#storage
    const [text = '', ...chunks] = chunkText(JSON.stringify(record), MAX_CHARACTERS)
    kv.put(PREFIX + record.taskId, text)
    for (const [n, chunk] of chunks.entries()) kv.put(chunkKey(record.taskId, n + 1), chunk)
    this.#deleteChunks(record.taskId, chunks.length + 1)
  }

  remove(taskId: string): void {
    this.#storage.kv.delete(PREFIX + taskId)
    this.#deleteChunks(taskId, 1)
  }

  /** Deletes the chunks with the number `from` and above. */
  #deleteChunks(taskId: string, from: number): void {
    let n = from
    while (this.#storage.kv.delete(chunkKey(taskId, n))) n++
  }
}

function chunkKey(taskId: string, n: number): string {
  return `mcp_task_piece/${n}/${taskId}`
}
