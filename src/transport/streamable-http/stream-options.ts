/**
 * How streams travel, and where changes are heard of.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import type { Requester } from '../../server/request/exchange.ts'
import type { ServerDefinition } from '../../server/definition.ts'
import type { ChangeSource } from '../../server/notifier.ts'
import { isHidden } from '../../server/features/subscriptions.ts'
import type { EventStreamOptions } from '../http/event-stream.ts'
import type { Sink } from '../../session/event-store.ts'

/**
 * Opens the connection of a stream that answers a GET.
 *
 * @returns where its events go, and the response that carries them.
 */
export type StreamCarrier = (
  stream: { session: string; stream: string },
  options: EventStreamOptions,
) => { sink: Sink; response: Response }

/**
 * Answers a GET for what belongs to no request, or for more of it after an event that the session
 * does not know, where others than the session tell of changes.
 */
export type ChangeListener = (stream: {
  session: string
  /** Whether the stream begins with an event that only carries an id. */
  primed: boolean
}) => Response

/** How streams travel, and where changes are heard of. */
export interface StreamOptions {
  /** Milliseconds between comments on quiet streams; 15,000 by default, 0 for none. */
  keepAliveMs?: number
  /** How the streams that answer a GET travel; in the bodies of their responses by default. */
  carry?: StreamCarrier
  /** Who answers a GET for what belongs to no request; the session by default. */
  listen?: ChangeListener
  /** Where changes are heard of; the server's own `notify` by default. */
  changes?: ChangeSource
  /**
   * Whether a request of 2026-07-28 comes without the headers that repeat its body, as over
   * HTTP+SSE; then these are not checked. None by default.
   */
  isBare?: (request: Request) => boolean
}

/**
 * The options of the stream that answers a GET, for every transport of it: a caller gets only what
 * it may see now, even if it could see more when it subscribed, or when the message was stored.
 */
export function sessionStream(
  server: ServerDefinition,
  { keepAliveMs }: StreamOptions,
  requester: Requester,
): EventStreamOptions {
  return { keepAliveMs, caller: requester, hides: (data) => isHidden(server, data, requester) }
}
