/**
 * Connections that carry whole messages both ways, for `serveTransport` and `connect`.
 *
 * @module
 */
export type { ChildTransport, ProgramToStart, StdioClientOptions } from './stdio/child-transport.ts'
export { inMemoryTransports } from './in-memory.ts'
export {
  carrierTransport,
  messagePortTransport,
  type MessagePortOptions,
} from './ports/message-port.ts'
export type { CarrierEvents, MessageCarrier, PortLike } from './ports/port-carrier.ts'
export type { ServeStdioOptions } from './stdio/serve-stdio.ts'
export { stdioTransport, type StdioTransportOptions } from './stdio/stdio.ts'
export type { HttpServer, ServeOptions } from './streamable-http/endpoint.ts'
export type { Receiver, Transport } from '../protocol/transport.ts'
