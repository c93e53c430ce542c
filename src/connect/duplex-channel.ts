/**
 * A channel over a transport of whole messages: stdio, message ports, memory, HTTP+SSE.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import type { Connection } from '../client/connection.ts'
import { createReceiver } from '../client/server-messages.ts'
import { abortable } from '../patterns/abort.ts'
import type { Channel, ChannelReceiver, OutgoingRequest } from '../protocol/channel.ts'
import type { ProtocolError } from '../protocol/errors.ts'
import type { JsonRpcMessage } from '../protocol/types.ts'
import type { Receiver, Transport } from '../protocol/transport.ts'

/** Sends all messages over one transport. */
class DuplexChannel implements Channel, Receiver {
  readonly #transport: Transport
  readonly #receiver: ChannelReceiver
  /** Whether the client has closed the channel. */
  #isClosedByClient = false

  constructor(transport: Transport, receiver: ChannelReceiver) {
    this.#transport = transport
    this.#receiver = receiver
  }

  request(call: OutgoingRequest): void {
    this.send(call.message).catch((error: Error) => call.reject(error))
  }

  send(message: JsonRpcMessage): Promise<void> {
    return this.#transport.send(message)
  }

  close(): Promise<void> {
    this.#isClosedByClient = true
    return this.#transport.close()
  }

  message(frame: unknown): void {
    this.#receiver.receive(frame)
  }

  malformed(error: ProtocolError): void {
    this.#receiver.refuse(error.about, error)
  }

  closed(reason?: Error): void {
    if (!this.#isClosedByClient) this.#receiver.closed(reason)
  }
}

/** Opens a channel over a transport for a connection, and starts it. */
export async function openDuplex(connection: Connection, transport: Transport): Promise<void> {
  const channel = new DuplexChannel(transport, createReceiver(connection))
  await connection.replaceChannel(channel)
  await abortable(Promise.resolve(transport.start(channel)), connection.options.signal)
}
