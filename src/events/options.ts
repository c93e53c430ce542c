/**
 * The options of a server's events.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { EventErrorCodes } from './errors.ts'
import type { EventSources } from './event-entry.ts'
import type { WebhookMode } from './host.ts'
import type { BreakingChange } from './schema-changes.ts'
import type { EventStorage } from './storage.ts'
import type { EventType } from './wire.ts'

/** How a server delivers events. */
export interface EventsOptions {
  /**
   * Where events and webhook subscriptions are stored. By default they are in memory, and lost when
   * the process exits.
   */
  storage?: EventStorage
  /** Delivers events by webhook, created by `webhooks`. By default clients poll or open streams. */
  webhooks?: WebhookMode
  /** Lets event types have the option `poll`: pass `pollSources`. By default they cannot have it. */
  sources?: EventSources
  /**
   * The codes of errors: the codes of the design sketch, which ChatGPT knows, the codes of
   * SEP-3415, or your own. By default, clients that declare the extension receive the codes of
   * SEP-3415, and all other clients the codes of the sketch.
   */
  errorCodes?: EventErrorCodes
  /**
   * Whether clients can be notified that event types were added, changed or removed.
   *
   * @default true
   */
  listChanged?: boolean
  /**
   * Whether the capability is also declared as `capabilities.events`, where ChatGPT and the AI SDK
   * look for it.
   *
   * @default true
   */
  topLevelCapability?: boolean
  /**
   * Whether sessions (revisions before 2026-07-28) can list event types and subscribe by webhook.
   * The extension does not define that, but some clients use it.
   *
   * @default false
   */
  legacy?: boolean
  /**
   * The maximum number of streams that are open at once.
   *
   * @default 10000
   */
  maxStreams?: number
  /**
   * The maximum number of streams that one principal, or one address without a principal, has open at once.
   *
   * @default 100
   */
  maxStreamsPerPrincipal?: number
  /**
   * The interval between heartbeats of a stream, in milliseconds. Clients expect at least one in 30
   * seconds.
   *
   * @default 25000
   */
  heartbeatMs?: number
  /**
   * Compares the schemas when a type is updated: pass `breakingChanges`, so that the subscriptions
   * end whose clients know a schema that is no longer valid. By default an update ends none.
   */
  compare?: (before: EventType, after: EventType) => readonly BreakingChange[]
  /** Restricts the server to what one client supports: ChatGPT has only webhooks. */
  profile?: 'chatgpt'
}
