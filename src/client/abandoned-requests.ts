/**
 * Abandoned requests: the client no longer waits for them, but the server may still work on them.
 * Gateways track abandoned requests, because the server may still send input requests for them.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
 */
import type { BaseConnectOptions } from './options.ts'
import type { RequestOptions } from './request-options.ts'

/** The key of the option in {@link AbandonedRequestOptions}. */
export const onAbandoned: unique symbol = Symbol('onAbandoned')

/** Options of a client that observes abandoned requests. */
export interface AbandonedRequestOptions extends BaseConnectOptions {
  /**
   * Called with the id and options of a request when it is abandoned. If the response arrives later, called
   * again, with only the id.
   */
  readonly [onAbandoned]?: (id: unknown, options?: RequestOptions) => void
}
