/**
 * Message port internals for the runtimes; not part of the public API.
 *
 * @module
 */
export type { ServeTransportOptions } from '../server/serve-transport.ts'
export type { MessagePortOptions } from '../transport/ports/message-port.ts'
export type { ChannelCallbacks } from '../transport/ports/port-carrier.ts'
