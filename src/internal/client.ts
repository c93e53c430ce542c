/**
 * Client internals for the runtimes; not exported by the package.
 *
 * @module
 */
export type { Subscription } from '../client/features/subscription.ts'
export type {
  ConnectionState,
  ReconnectingOptions,
  ReconnectingTarget,
} from '../connect/reconnecting-options.ts'
