/**
 * Sends a client what follows on a stream after an event, whichever process writes it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { Sink } from '../../session/event-store.ts'
import type { CallStream } from './call-stream.ts'
import type { StreamNews } from './stream-table.ts'
import { Alarm } from './alarm.ts'

/** How often a follower looks whether the process that writes is alive, in milliseconds. */
const CHECK_MS = 2_000

/** How long a write of this process takes, roughly, in milliseconds. */
const WRITE_MS = 5

/** What a follower needs of the session. */
export interface FollowerHome {
  /** The stream, if this process writes it. */
  local(stream: string): CallStream | undefined
  read(stream: string, after: number): Promise<StreamNews>
  /** The id of this process. */
  readonly process: string
  readonly report: (error: unknown) => void
  /** Takes over a stream whose process is gone. */
  takeOver(stream: string, sink: Sink): Promise<void>
}

/** Follows a stream for one connection. */
export class Follower {
  readonly #home: FollowerHome
  readonly #stream: string
  readonly #sink: Sink
  readonly #alarm = new Alarm()
  #seq: number

  constructor(home: FollowerHome, stream: string, seq: number, sink: Sink) {
    this.#home = home
    this.#stream = stream
    this.#seq = seq
    this.#sink = sink
  }

  /** Whether its client is connected. */
  get connected(): boolean {
    return this.#sink.open
  }

  /** Reads again. */
  wake(): void {
    this.#alarm.ring()
  }

  /** Closes the connection. */
  stop(): void {
    if (this.#sink.open) this.#sink.close()
    this.wake()
  }

  /** Sends until the stream ends, the client leaves, or the stream itself sends to the client. */
  async run(): Promise<void> {
    while (this.#sink.open) {
      const local = this.#home.local(this.#stream)
      // What waits in the stream is delivered by it, to whoever is connected then
      await local?.settled
      try {
        const news = await this.#home.read(this.#stream, this.#seq)
        await this.#send(news)
        if (news.more) continue
        if (local && this.#home.local(this.#stream) === local) {
          if (local.seq <= this.#seq && !local.settled) return local.connect(this.#sink)
          // Its next events are not written yet
          await this.#alarm.wait(WRITE_MS)
        } else if (await this.#isOver(news)) return
      } catch (error) {
        // The database cannot be used at the moment; the client waits
        this.#home.report(error)
        await this.#alarm.wait(CHECK_MS)
      }
    }
  }

  async #send({ events }: StreamNews): Promise<void> {
    for (const { id, seq, message } of events) {
      this.#seq = seq
      await this.#sink.send({ id, data: message })
    }
  }

  /** Waits for more, or closes the connection if nothing will come. */
  async #isOver({ row }: StreamNews): Promise<boolean> {
    const { process } = this.#home
    if (!row || row.reader !== process) {
      this.stop()
      return true
    }
    if (row.owner !== process && !row.alive) await this.#home.takeOver(this.#stream, this.#sink)
    // A stream that ended here a moment ago still has its row
    if (row.owner === process) await this.#alarm.wait(WRITE_MS)
    else if (!this.#home.local(this.#stream)) await this.#alarm.wait(CHECK_MS)
    return false
  }
}
