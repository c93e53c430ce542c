/**
 * Connections that carry whole messages both ways, for `serveTransport` and `connect`.
 *
 * @module
 */
export { inMemoryTransports } from './in-memory.ts'
export { stdioTransport, type StdioTransportOptions } from './stdio.ts'
export type { Receiver, Transport } from './transport.ts'
