/**
 * The upstream connections of a gateway, one for each principal, so that no user receives another user's
 * data.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { Client } from '../client/client.ts'
import type { ConnectOptions } from '../client/options.ts'
import { SdkError, ProtocolError } from '../protocol/errors.ts'
import { INTERNAL_ERROR } from '../protocol/error-codes.ts'
import type { OpenCalls } from './open-calls.ts'

/** Connects to the upstream server. Must pass the gateway's options to `connect`, and may add its own. */
export type Connector = (options: ConnectOptions) => Promise<Client>

/** One upstream connection, and the open calls on it. */
export interface Upstream {
  readonly client: Client
  readonly calls: OpenCalls
}

/** The connection of one principal. */
interface Entry {
  readonly opened: Promise<Upstream>
  /** The number of calls in progress. */
  uses: number
}

/** The connections for principals. */
export class UpstreamConnections {
  readonly #open: (principal: string) => Promise<Upstream>
  readonly #maxConnections: number
  /** Ordered by last use. */
  readonly #entries = new Map<string, Entry>()
  #closed = false

  constructor(open: (principal: string) => Promise<Upstream>, max: number) {
    this.#open = open
    this.#maxConnections = max
  }

  /**
   * Runs work on the connection of a principal, which is opened on first use.
   *
   * @throws {ProtocolError} `INTERNAL_ERROR` if the limit is reached and all connections are in
   *   use.
   */
  async use<T>(principal: string, work: (upstream: Upstream) => Promise<T>): Promise<T> {
    const entry = this.#entries.get(principal) ?? this.#connect(principal)
    this.#entries.delete(principal)
    this.#entries.set(principal, entry)
    entry.uses++
    try {
      return await work(await entry.opened)
    } catch (error) {
      if (error instanceof SdkError && error.code === 'CLOSED') this.#drop(principal, entry)
      throw error
    } finally {
      entry.uses--
    }
  }

  /** The connection of a principal, if it exists. */
  find(principal: string): Promise<Upstream> | undefined {
    return this.#entries.get(principal)?.opened
  }

  #connect(principal: string): Entry {
    if (this.#closed) throw new SdkError('CLOSED', 'The gateway is closed')
    this.#makeRoom()
    const entry = { opened: this.#open(principal), uses: 0 }
    entry.opened.catch(() => this.#drop(principal, entry))
    return entry
  }

  /** Closes the least recently used idle connection when the limit is reached. */
  #makeRoom(): void {
    if (this.#entries.size < this.#maxConnections) return
    for (const [principal, entry] of this.#entries) {
      if (entry.uses === 0) return this.#drop(principal, entry)
    }
    throw new ProtocolError(INTERNAL_ERROR, 'Too many principals have calls in progress')
  }

  #drop(principal: string, entry: Entry): void {
    if (this.#entries.get(principal) === entry) this.#entries.delete(principal)
    closeUpstream(entry).catch(() => {})
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    this.#closed = true
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.allSettled(entries.map(closeUpstream))
  }
}

async function closeUpstream({ opened }: Entry): Promise<void> {
  const { client } = await opened
  await client.close()
}
