/**
 * Opens a connection over a transport of whole messages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import type { Connection } from '../client/connection.ts'
import { createReceiver } from '../client/server-messages.ts'
import { abortable } from '../patterns/abort.ts'
import type { Transport } from '../protocol/transport.ts'
import { DuplexChannel } from '../transport/duplex-channel.ts'

/** Opens a channel over a transport for a connection, and starts it. */
export async function openDuplex(connection: Connection, transport: Transport): Promise<void> {
  const channel = new DuplexChannel(transport, createReceiver(connection))
  await connection.replaceChannel(channel)
  await abortable(Promise.resolve(transport.start(channel)), connection.options.signal)
}
