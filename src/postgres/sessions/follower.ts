/**
 * Sends a client the events that follow on a stream, regardless of which process writes the stream.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { Sink } from '../../session/event-store.ts'
import type { CallStream } from './call-stream.ts'
import type { StreamBatch } from './stream-table.ts'
import { WakeSignal } from '../../patterns/wake-signal.ts'

/** How often a follower checks whether the process that writes its stream is alive, in milliseconds. */
const CHECK_MS = 2_000

/** About how long a write of this process takes, in milliseconds. */
const WRITE_MS = 5

/** The operations of a session that a follower uses. */
export interface FollowerSession {
  /** Returns a stream, if this process writes it. */
  findLocal(stream: string): CallStream | undefined
  /** Reads the events of a stream after a sequence number. */
  read(stream: string, after: number): Promise<StreamBatch>
  /** The id of this process. */
  readonly processId: string
  readonly report: (error: unknown) => void
  /** Takes over a stream whose process has ended. */
  takeOver(stream: string, sink: Sink): Promise<void>
}

/** Follows a stream for one connection. */
export class Follower {
  readonly #session: FollowerSession
  readonly #stream: string
  readonly #sink: Sink
  readonly #wakeSignal = new WakeSignal()
  /** The number of the last event that was sent to the client. */
  #seq: number

  constructor(session: FollowerSession, stream: string, seq: number, sink: Sink) {
    this.#session = session
    this.#stream = stream
    this.#seq = seq
    this.#sink = sink
  }

  /** Whether the client is connected. */
  get connected(): boolean {
    return this.#sink.open
  }

  /** Causes the follower to read new events. */
  wake(): void {
    this.#wakeSignal.send()
  }

  /** Closes the connection. */
  stop(): void {
    if (this.#sink.open) this.#sink.close()
    this.wake()
  }

  /**
   * Sends events until the stream ends or the client disconnects. If this process writes the stream, the
   * client is connected to the stream itself once it has received all previous events.
   */
  async run(): Promise<void> {
    while (this.#sink.open) {
      const localStream = this.#session.findLocal(this.#stream)
      // A message that waits for a write is sent, once written, to whichever client is connected then. This client
      // also receives the message by `read`, so it is connected only while no message waits
      await localStream?.pendingDelivery
      try {
        const batch = await this.#session.read(this.#stream, this.#seq)
        await this.#send(batch)
        if (batch.more) continue
        if (localStream && this.#session.findLocal(this.#stream) === localStream) {
          if (localStream.seq <= this.#seq && !localStream.pendingDelivery)
            return localStream.connect(this.#sink)
          // The next events of the stream are not written yet
          await this.#wakeSignal.wait(WRITE_MS)
        } else if (await this.#waitOrStop(batch)) return
      } catch (error) {
        // While the database cannot be used, the client waits
        this.#session.report(error)
        await this.#wakeSignal.wait(CHECK_MS)
      }
    }
  }

  async #send({ events }: StreamBatch): Promise<void> {
    for (const { id, seq, message } of events) {
      this.#seq = seq
      await this.#sink.send({ id, data: message })
    }
  }

  /** Waits for more events. If none will follow, closes the connection and returns `true`. */
  async #waitOrStop({ row }: StreamBatch): Promise<boolean> {
    const { processId } = this.#session
    if (!row || row.reader !== processId) {
      this.stop()
      return true
    }
    if (row.owner !== processId && !row.alive)
      await this.#session.takeOver(this.#stream, this.#sink)
    // If this process has just ended the stream, its row is still to be deleted, so the wait is short
    if (row.owner === processId) await this.#wakeSignal.wait(WRITE_MS)
    else if (!this.#session.findLocal(this.#stream)) await this.#wakeSignal.wait(CHECK_MS)
    return false
  }
}
