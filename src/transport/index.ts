/**
 * Connections that carry whole messages both ways, for `serveTransport` and `connect`.
 *
 * @module
 */
export { callHook } from '../patterns/hooks.ts'
export { requireKnown, type OptionNames } from '../patterns/known-options.ts'
export type { ChildExit, ChildProcess } from './stdio/child-process.ts'
export {
  childTransport,
  inheritedVariables,
  type ChildTransport,
  type ChildTransportOptions,
  type ProgramToStart,
  type StdioClientOptions,
} from './stdio/child-transport.ts'
export { inMemoryTransports } from './in-memory.ts'
export {
  carrierTransport,
  messagePortTransport,
  type MessagePortOptions,
} from './ports/message-port.ts'
export type { CarrierEvents, MessageCarrier, PortLike } from './ports/port-carrier.ts'
export { printToStderr, type PrintingConsole } from './stdio/print-to-stderr.ts'
export { serveStdioOn, type ServeStdioOptions, type StdioHost } from './stdio/serve-stdio.ts'
export { stdioTransport, type StdioTransportOptions } from './stdio/stdio.ts'
export {
  createEndpoint,
  listenFault,
  type Endpoint,
  type HttpServer,
  type ListenOptions,
} from './streamable-http/endpoint.ts'
export { createGuard, type Guard } from './http/guard.ts'
export { sessionStream } from './streamable-http/stream-options.ts'
export type { Receiver, Transport } from '../protocol/transport.ts'
