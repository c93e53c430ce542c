/**
 * The live sessions of one process. Finds those that a change concerns.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import { topicIndex } from '../../patterns/topic-index.ts'
import { topicsOfChange } from '../../server/features/announce.ts'
import type { ServerChange } from '../../server/notifier.ts'

/** A live session with its topics. */
export interface FoundSession {
  readonly id: string
  /** The topics of the changes that concern the session, except changes of lists. */
  readonly topics: readonly string[]
}

/** The live sessions of one process. */
export class LiveSessions<S extends FoundSession> {
  readonly #all = new Map<string, S>()
  readonly #topics = topicIndex<S>()
  /** The functions that remove each session from the index. */
  readonly #removals = new Map<S, () => void>()
  /** The sessions whose record is being read again: another process may have changed their subscriptions. */
  readonly #stale = new Set<S>()

  get(id: string): S | undefined {
    return this.#all.get(id)
  }

  all(): S[] {
    return [...this.#all.values()]
  }

  /** Returns the sessions that a change may concern. */
  concerned(change: ServerChange): Iterable<S> {
    const topics = topicsOfChange(change)
    return topics ? new Set([...this.#topics.find(topics), ...this.#stale]) : this.#all.values()
  }

  add(live: S): void {
    this.#all.set(live.id, live)
    this.update(live)
  }

  /** Removes a session. Returns whether it was live. */
  delete(live: S): boolean {
    if (this.#all.get(live.id) !== live) return false
    this.#removals.get(live)?.()
    this.#removals.delete(live)
    return this.#all.delete(live.id)
  }

  clear(): void {
    for (const live of this.all()) this.delete(live)
  }

  /** Updates the index after the subscriptions of a session have changed. */
  update(live: S): void {
    if (this.#all.get(live.id) !== live) return
    this.#removals.get(live)?.()
    this.#removals.set(live, this.#topics.add(live, live.topics))
  }

  /** Notes that the record of a session is being read again. */
  markStale(live: S): void {
    this.#stale.add(live)
  }

  /** Notes that the record of a session has been read. */
  markFresh(live: S): void {
    this.#stale.delete(live)
  }
}
