/**
 * A channel over a transport of whole messages: stdio, message ports, memory, HTTP+SSE.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import type { Channel, ChannelReceiver, OutgoingRequest } from '../protocol/channel.ts'
import type { ProtocolError } from '../protocol/errors.ts'
import type { Receiver, Transport } from '../protocol/transport.ts'
import type { JsonRpcMessage } from '../protocol/types.ts'

/** Sends all messages over one transport. */
export class DuplexChannel implements Channel, Receiver {
  readonly isPipe: boolean | undefined
  readonly #transport: Transport
  readonly #receiver: ChannelReceiver
  /** Whether `close` was called on this channel. The receiver then needs no notice of the end. */
  #isClosedLocally = false

  constructor(transport: Transport, receiver: ChannelReceiver) {
    this.isPipe = transport.isPipe
    this.#transport = transport
    this.#receiver = receiver
  }

  request({ message }: OutgoingRequest): Promise<void> {
    return this.send(message)
  }

  send(message: JsonRpcMessage): Promise<void> {
    return this.#transport.send(message)
  }

  close(): Promise<void> {
    this.#isClosedLocally = true
    return this.#transport.close()
  }

  message(frame: unknown): void {
    this.#receiver.receive(frame)
  }

  malformed(error: ProtocolError): void {
    this.#receiver.refuse(error.partialMessage, error)
  }

  closed(reason?: Error): void {
    if (!this.#isClosedLocally) this.#receiver.closed(reason)
  }
}
