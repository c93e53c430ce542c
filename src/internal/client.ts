/**
 * What only the runtimes need of clients; the package does not export it.
 *
 * @module
 */
export type { Subscription } from '../client/features/subscription.ts'
export type {
  ConnectionState,
  ReconnectingOptions,
  ReconnectingTarget,
} from '../connect/reconnecting-options.ts'
