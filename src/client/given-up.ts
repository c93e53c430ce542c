/**
 * Requests that nobody waits for any more while the server may still work on them. Only gateways
 * have to know of these.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
 */
import type { LeanOptions, RequestOptions } from './options.ts'

/** Marks the option of a client that learns of requests which were given up. */
export const givenUp: unique symbol = Symbol('givenUp')

/** Options of a client that may learn of them. */
export interface WatchesGivenUp extends LeanOptions {
  /** Called with the options of a request when it is given up, and without when its answer comes. */
  readonly [givenUp]?: (id: unknown, options?: RequestOptions) => void
}
