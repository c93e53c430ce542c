/**
 * A pair of connected in-process transports, for tests and for servers that run in the same program
 * as their client.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import { SdkError } from '../protocol/errors.ts'
import { serializationError } from '../protocol/jsonrpc.ts'
import type { JsonRpcMessage } from '../protocol/types.ts'
import { jsonCopy } from './json-copy.ts'
import type { Receiver, Transport } from '../protocol/transport.ts'

/** How many messages may be queued for a busy receiver before `send` waits. */
const MAX_QUEUED = 16

/**
 * Creates two connected transports. Each transport receives the messages that the other transport sends, in
 * order and never synchronously within `send`.
 *
 * Messages are copied as if they were serialized to JSON and parsed again: the sides share no objects, and values
 * that JSON does not support are lost, as over a network. If one side is closed, the other side is closed too. The
 * other side still receives the messages that were sent before.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
export function inMemoryTransports(): [Transport, Transport] {
  const first = new InMemoryTransport()
  const second = new InMemoryTransport()
  first.peer = second
  second.peer = first
  return [first, second]
}

class InMemoryTransport implements Transport {
  peer: InMemoryTransport | undefined
  #receiver: Receiver | undefined
  /**
   * The messages from the peer that were not delivered yet. This is a set, not an array, because it is cheap to
   * remove the first item of a set.
   */
  readonly #incoming = new Set<unknown>()
  /** Settles when all queued messages have been delivered. Absent while the queue is empty. */
  #drained: Promise<void> | undefined
  #closed = false

  start(receiver: Receiver): void {
    this.#receiver = receiver
    this.#schedule()
  }

  async send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    const { peer } = this
    if (this.#closed || !peer) {
      throw new SdkError('CLOSED', 'Cannot send: the connection is closed')
    }
    try {
      peer.#incoming.add(jsonCopy(frame))
    } catch (cause) {
      throw serializationError(cause)
    }
    peer.#schedule()
    if (peer.#incoming.size > MAX_QUEUED) await peer.#drained
  }

  async close(): Promise<void> {
    this.#incoming.clear()
    this.#end()
    const { peer } = this
    if (peer) peer.#end()
  }

  #end(): void {
    if (this.#closed) return
    this.#closed = true
    this.#schedule()
  }

  #schedule(): void {
    if (this.#receiver) this.#drained ??= this.#drain(this.#receiver)
  }

  async #drain(receiver: Receiver): Promise<void> {
    // Delays delivery, so that all messages that are sent in the same tick arrive together
    await Promise.resolve()
    try {
      for (const frame of this.#incoming) {
        this.#incoming.delete(frame)
        const handled = receiver.message(frame)
        if (handled) await handled
      }
    } catch (cause) {
      this.#receiver = undefined
      await this.close()
      receiver.closed(new SdkError('CLOSED', 'The receiver of the messages failed', { cause }))
    }
    this.#drained = undefined
    if (!this.#closed || !this.#receiver) return
    this.#receiver = undefined
    receiver.closed()
  }
}
