/**
 * Limits the number of sessions, in total and per caller. Callers are distinguished by their accounts:
 * see `account.ts`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices
 */
import type { SessionRecord } from './session.ts'

/** The properties of a session that the limits depend on. */
export interface CountedSession {
  /** The account of the caller that opened the session, if known. */
  readonly account: string | undefined
  /** The number of sessions that the session counts as. */
  readonly weight: number
}

/** Counts sessions, and decides which session to evict for a new session. */
export class SessionQuota {
  readonly #max: number
  readonly #maxPerCaller: number
  #total = 0
  /** The total weight of the sessions of each account. */
  readonly #weights = new Map<string | undefined, number>()

  constructor(max: number, maxPerCaller: number) {
    this.#max = max
    this.#maxPerCaller = maxPerCaller
  }

  /**
   * Returns the number of sessions that a session counts as. The number is higher for long client
   * info and capabilities, so that all sessions together do not use too much memory.
   */
  weigh({ clientInfo, clientCapabilities }: SessionRecord): number {
    const { length } = JSON.stringify([clientInfo, clientCapabilities])
    return Math.min(Math.ceil(length / 10_000), this.#maxPerCaller, this.#max)
  }

  /** Counts a session that was opened. */
  add({ account, weight }: CountedSession): void {
    this.#changeWeight(account, weight)
  }

  /** Counts a session that ended. */
  remove({ account, weight }: CountedSession): void {
    this.#changeWeight(account, -weight)
  }

  /** Whether there is room for one more session. */
  hasRoomFor({ account, weight }: CountedSession): boolean {
    return !this.#exceedsOwnLimit(account, weight) && this.#total + weight <= this.#max
  }

  /**
   * Finds the session to evict for a new session: the least recently used session of the same account. If
   * there is none, and the account is below its own limit, finds a session of the account with the most
   * sessions.
   *
   * @param sessions The sessions, the least recently used first.
   * @param isInUse Whether a session is in use, so that it must not be evicted.
   */
  findEvictable<Counted extends CountedSession>(
    sessions: Iterable<Counted>,
    { account, weight }: CountedSession,
    isInUse: (session: Counted) => boolean,
  ): Counted | undefined {
    const exceedsOwnLimit = this.#exceedsOwnLimit(account, weight)
    let evictable: Counted | undefined
    let highestRank = 0
    for (const session of sessions) {
      // The rank if another account owns the session. An account at its own limit must not evict such a session
      const foreignRank = exceedsOwnLimit ? 0 : (this.#weights.get(session.account) ?? 0)
      const rank = session.account === account ? Infinity : foreignRank
      if (rank > highestRank && !isInUse(session)) {
        evictable = session
        highestRank = rank
      }
    }
    return evictable
  }

  /**
   * Whether a session of that weight would exceed the account's own limit. Sessions without an account
   * have no such limit.
   */
  #exceedsOwnLimit(account: string | undefined, weight: number): boolean {
    return account !== undefined && (this.#weights.get(account) ?? 0) + weight > this.#maxPerCaller
  }

  #changeWeight(account: string | undefined, difference: number): void {
    this.#total += difference
    const weight = (this.#weights.get(account) ?? 0) + difference
    if (weight > 0) this.#weights.set(account, weight)
    else this.#weights.delete(account)
  }
}
