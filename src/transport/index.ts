/**
 * Connections that carry whole messages both ways, for `serveTransport` and `connect`.
 *
 * @module
 */
export {
  childTransport,
  inheritedVariables,
  type ChildExit,
  type ChildProcess,
  type ChildTransport,
  type ChildTransportOptions,
} from './child-process.ts'
export { inMemoryTransports } from './in-memory.ts'
export { stdioTransport, type StdioTransportOptions } from './stdio.ts'
export type { Receiver, Transport } from './transport.ts'
