/**
 * The options of a server's events.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { JsonObject, Result } from '../protocol/types.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { EventErrorCodes } from './errors.ts'
import type { EventReader } from './event-entry.ts'
import type { ServerEventHost } from './server-event-host.ts'
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
  /** Delivers events in streams that clients keep open, created by `streams`. By default there are no streams. */
  streams?: StreamMode
  /** Delivers events by webhook, created by `webhooks`. By default there are no webhooks. */
  webhooks?: WebhookMode
  /**
   * Pass `pollSources` if an event type has the option `poll`, with which the server polls a source of events.
   * By default, event types cannot have that option.
   */
  sources?: EventReader
  /**
   * The codes of errors: `'sketch'` for the codes of the first draft of the extension, which ChatGPT uses,
   * `'sep-3415'`, or your own codes. By default, clients that declare the extension receive the codes of
   * SEP-3415, and all other clients receive the codes of the draft.
   */
  errorCodes?: EventErrorCodes
  /**
   * Whether clients can be notified that event types were added, changed or removed.
   *
   * @default true
   */
  listChanged?: boolean
  /**
   * Whether the server also declares its events as `capabilities.events`, where ChatGPT and the AI SDK
   * look for them.
   *
   * @default true
   */
  topLevelCapability?: boolean
  /**
   * Whether clients in sessions (revisions before 2026-07-28) can list event types and subscribe by webhook.
   * The extension does not define this, but some clients use it.
   *
   * @default false
   */
  legacy?: boolean
  /**
   * Compares the schemas when a type is updated. Pass `breakingChanges` to end the subscriptions whose
   * clients know a schema that is no longer valid. By default an update ends no subscription.
   */
  compare?: (before: EventType, after: EventType) => readonly BreakingChange[]
  /** Restricts the server to what one client supports. ChatGPT supports only webhooks. */
  profile?: 'chatgpt'
}

/** The mode of streams, which `streams` creates. A bundle contains it only if the server uses it. */
export type StreamMode = (
  host: ServerEventHost,
) => (params: JsonObject, ctx: RequestContext) => Promise<Result>
