/**
 * Client internals for the runtimes; not part of the public API.
 *
 * @module
 */
export type { Subscription } from '../client/features/subscription.ts'
export type {
  ConnectionState,
  ReconnectingOptions,
  ReconnectingTarget,
} from '../connect/reconnecting-options.ts'
