/**
 * Two transports that are connected inside one program, for tests and for servers that live where
 * their client does.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import { McpError } from '../protocol/errors.ts'
import { unwritable, type JsonRpcMessage } from '../protocol/jsonrpc.ts'
import { jsonCopy } from './json-copy.ts'
import type { Receiver, Transport } from '../protocol/transport.ts'

/** How many messages may wait for a busy receiver before `send` waits too. */
const ROOM = 16

/**
 * Makes two transports, each the other's peer: what one sends the other receives, in order and
 * never within the call of `send`.
 *
 * Messages are copied as if they were written to JSON and read again, so that neither side sees the
 * other's objects, and values that JSON cannot carry are lost here as they would be on a wire.
 * Closing one side closes both; what that side had sent is still delivered.
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
  /** What the peer sent and the receiver has not taken; a set, as taking from it is cheap. */
  readonly #incoming = new Set<unknown>()
  /** Settles when nothing waits any more; absent while nothing does. */
  #drained: Promise<void> | undefined
  #closed = false

  start(receiver: Receiver): void {
    this.#receiver = receiver
    this.#schedule()
  }

  async send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    const { peer } = this
    if (this.#closed || !peer) {
      throw new McpError('CLOSED', 'Cannot send: the connection is closed')
    }
    try {
      peer.#incoming.add(jsonCopy(frame))
    } catch (cause) {
      throw unwritable(cause)
    }
    peer.#schedule()
    if (peer.#incoming.size > ROOM) await peer.#drained
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
    // Leaves the sender's turn, and lets all that is sent in it arrive together.
    await Promise.resolve()
    try {
      for (const frame of this.#incoming) {
        this.#incoming.delete(frame)
        const taken = receiver.message(frame)
        if (taken) await taken
      }
    } catch (cause) {
      this.#receiver = undefined
      await this.close()
      receiver.closed(new McpError('CLOSED', 'The receiver of the messages failed', { cause }))
    }
    this.#drained = undefined
    if (!this.#closed || !this.#receiver) return
    this.#receiver = undefined
    receiver.closed()
  }
}
