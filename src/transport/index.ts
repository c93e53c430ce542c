/**
 * Message transports for `serveTransport` and `connect`.
 *
 * @module
 */
export { inMemoryTransports } from './in-memory.ts'
export { channelTransport, messagePortTransport } from './ports/message-port.ts'
export type { MessageChannelLike } from './ports/port-carrier.ts'
export { stdioTransport } from './stdio/stdio.ts'
export type { HttpServer } from './streamable-http/endpoint.ts'
export type { Receiver, Transport } from '../protocol/transport.ts'
