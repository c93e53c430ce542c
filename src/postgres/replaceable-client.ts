/**
 * The client of a database, which is replaced when one of its connections no longer answers. If a
 * network silently drops the packets of a connection, the operating system takes a quarter of an
 * hour to notice.
 *
 * @see https://www.rfc-editor.org/rfc/rfc5482
 */
import { callHook, ignore } from '../patterns/hooks.ts'
import { unref } from '../patterns/timers.ts'
import type { PostgresClient } from './client.ts'

/** A client, or a function that creates one. */
export type PostgresClientSource = PostgresClient | (() => PostgresClient)

/** Holds the current client. Only a client that was created here can be replaced. */
export class ReplaceableClient {
  readonly #create: (() => PostgresClient) | undefined
  readonly #timeoutMs: number
  readonly #listeners = new Set<() => void>()
  #current: PostgresClient
  /**
   * Whether the current client has received an answer from the database. If it has not, it is not replaced, because
   * the database itself may be down.
   */
  #hasAnswered = false
  #isEnded = false

  /**
   * @param timeoutMs How long a cancelled query, or the last queries of a replaced client, may take to end, in
   *   milliseconds.
   */
  constructor(source: PostgresClientSource, timeoutMs: number) {
    // A client is a function too, so its method is checked
    this.#create = 'unsafe' in source ? undefined : source
    this.#current = 'unsafe' in source ? source : source()
    this.#timeoutMs = timeoutMs
  }

  get current(): PostgresClient {
    return this.#current
  }

  /** Calls `listener` whenever the client was replaced. */
  onReplaced(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Notes that the database answered. */
  noteAnswer(): void {
    this.#hasAnswered = true
  }

  /** Replaces the client if a cancelled query does not end in time. */
  replaceIfStuck(query: Promise<unknown>): void {
    const client = this.#current
    const timer = setTimeout(() => {
      if (client === this.#current) this.replace()
    }, this.#timeoutMs)
    unref(timer)
    const stop = (): void => clearTimeout(timer)
    query.then(stop, stop)
  }

  /** Replaces the client, if it was created here and has received an answer. */
  replace(): void {
    if (!this.#create || !this.#hasAnswered || this.#isEnded) return
    const replaced = this.#current
    this.#current = this.#create()
    this.#hasAnswered = false
    endClient(replaced, this.#timeoutMs).catch(ignore)
    for (const listener of this.#listeners) callHook(listener, ignore)
  }

  /** Ends the client, if it was created here. */
  async end(): Promise<void> {
    this.#isEnded = true
    if (this.#create) await endClient(this.#current, this.#timeoutMs)
  }
}

/** Ends a client when its queries have been answered, or at the latest after `timeoutMs`. */
async function endClient(client: PostgresClient, timeoutMs: number): Promise<void> {
  await client.end?.({ timeout: timeoutMs / 1_000 })
}
