/**
 * The live sessions of one process, with an index that finds the sessions that a change concerns.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import { topicIndex } from '../../patterns/topic-index.ts'
import { topicsOfChange } from '../../server/features/announce.ts'
import type { ServerChange } from '../../server/notifier.ts'

/** A live session with its topics. */
export interface IndexedSession {
  readonly id: string
  /** The topics that the session is notified about. Changes of lists have no topic: they concern every session. */
  readonly topics: readonly string[]
}

/** The live sessions of one process. */
export class LiveSessions<Session extends IndexedSession> {
  readonly #all = new Map<string, Session>()
  readonly #topics = topicIndex<Session>()
  /** The functions that remove each session from the index. */
  readonly #removals = new Map<Session, () => void>()
  /** The sessions whose record is being read again: another process may have changed their subscriptions. */
  readonly #stale = new Set<Session>()

  get(id: string): Session | undefined {
    return this.#all.get(id)
  }

  all(): Session[] {
    return [...this.#all.values()]
  }

  /** Returns the sessions that a change may concern. */
  findConcerned(change: ServerChange): Iterable<Session> {
    const topics = topicsOfChange(change)
    return topics ? new Set([...this.#topics.find(topics), ...this.#stale]) : this.#all.values()
  }

  add(live: Session): void {
    this.#all.set(live.id, live)
    this.update(live)
  }

  /** Removes a session. Returns whether it was live. */
  delete(live: Session): boolean {
    if (this.#all.get(live.id) !== live) return false
    this.#removals.get(live)?.()
    this.#removals.delete(live)
    return this.#all.delete(live.id)
  }

  clear(): void {
    for (const live of this.all()) this.delete(live)
  }

  /** Updates the index after the subscriptions of a session have changed. */
  update(live: Session): void {
    if (this.#all.get(live.id) !== live) return
    this.#removals.get(live)?.()
    this.#removals.set(live, this.#topics.add(live, live.topics))
  }

  /** Notes that the record of a session is being read again. */
  markStale(live: Session): void {
    this.#stale.add(live)
  }

  /** Notes that the record of a session has been read. */
  markFresh(live: Session): void {
    this.#stale.delete(live)
  }
}
