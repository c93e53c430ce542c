/**
 * What only the runtimes need to carry messages over ports; the package does not export it.
 *
 * @module
 */
export type { ServeTransportOptions } from '../server/serve-transport.ts'
export type { MessagePortOptions } from '../transport/ports/message-port.ts'
export type { ChannelEvents } from '../transport/ports/port-carrier.ts'
