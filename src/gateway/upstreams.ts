/**
 * The connections of a gateway to the server behind it, one for each principal, so that no user
 * gets what belongs to another.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { Client } from '../client/client.ts'
import type { ConnectOptions } from '../client/options.ts'
import { INTERNAL_ERROR, McpError, ProtocolError } from '../protocol/errors.ts'
import type { OpenCalls } from './open-calls.ts'

/** Connects to the other server, with the given options in addition to its own. */
export type Connector = (options: ConnectOptions) => Promise<Client>

/** One connection to the server behind, and the calls that are under way on it. */
export interface Upstream {
  readonly client: Client
  readonly calls: OpenCalls
}

interface Entry {
  readonly opened: Promise<Upstream>
  /** How many calls are using it. */
  uses: number
}

/** The connections for principals. */
export class Upstreams {
  readonly #open: (principal: string) => Promise<Upstream>
  readonly #max: number
  /** In the order of last use. */
  readonly #entries = new Map<string, Entry>()
  #closed = false

  constructor(open: (principal: string) => Promise<Upstream>, max: number) {
    this.#open = open
    this.#max = max
  }

  /**
   * Runs work on the connection of a principal, which is opened when it is first needed.
   *
   * @throws {ProtocolError} `INTERNAL_ERROR` when the limit is reached and all are in use.
   */
  async use<T>(principal: string, work: (upstream: Upstream) => Promise<T>): Promise<T> {
    const entry = this.#entries.get(principal) ?? this.#make(principal)
    this.#entries.delete(principal)
    this.#entries.set(principal, entry)
    entry.uses++
    try {
      return await work(await entry.opened)
    } catch (error) {
      if (error instanceof McpError && error.code === 'CLOSED') this.#drop(principal, entry)
      throw error
    } finally {
      entry.uses--
    }
  }

  /** The connection of a principal, if there is one. */
  find(principal: string): Promise<Upstream> | undefined {
    return this.#entries.get(principal)?.opened
  }

  #make(principal: string): Entry {
    if (this.#closed) throw new McpError('CLOSED', 'The gateway is closed')
    this.#makeRoom()
    const entry = { opened: this.#open(principal), uses: 0 }
    entry.opened.catch(() => this.#drop(principal, entry))
    return entry
  }

  /** Closes the least recently used connection when the limit is reached. */
  #makeRoom(): void {
    if (this.#entries.size < this.#max) return
    for (const [principal, entry] of this.#entries) {
      if (entry.uses === 0) return this.#drop(principal, entry)
    }
    throw new ProtocolError(INTERNAL_ERROR, 'Too many principals have calls under way')
  }

  #drop(principal: string, entry: Entry): void {
    if (this.#entries.get(principal) === entry) this.#entries.delete(principal)
    closeUpstream(entry).catch(() => {})
  }

  /** Closes all. */
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
