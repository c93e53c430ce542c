/**
 * A registered event type, and the interface that reads its events.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { Entry } from '../server/registry.ts'
import type { NextEvents, OpenSubscription, Start } from './host.ts'
import type { EventLog, Position } from './storage.ts'
import type { EventTypeOptions } from './type-options.ts'
import type { EventType } from './wire.ts'

/** A registered event type. */
export interface EventEntry extends Entry {
  readonly item: EventType
  readonly options: EventTypeOptions
  /** Reads the events. */
  readonly reader: EventReader
  /** The interval between polls by clients, and between calls of the option `poll`, in milliseconds. */
  readonly pollMs: number
  /** How long an event can be received after it was emitted, in milliseconds. */
  readonly maxAgeMs: number
  /** How many of the latest events can still be received. */
  readonly maxEvents: number
  /** For each incompatible change of a schema, oldest first, the name of the schema, such as `inputSchema`. */
  readonly changes: readonly string[]
}

/**
 * Reads the events of a type: from the log, or with the application's function `poll`. A bundle contains the
 * code for `poll` only if the server uses it.
 */
export interface EventReader {
  /**
   * Finds the position where a subscription begins.
   *
   * @param position The position that the client requested. `null`: the subscription begins with the next
   *   event. `undefined`: the client's position is no longer known.
   * @param maxAgeMs The maximum age of the events that the client wants, in milliseconds.
   */
  start(
    context: ReadContext,
    position: Position | undefined,
    maxAgeMs: number | undefined,
  ): Promise<Start>
  /** Reads events after a position. */
  read(context: ReadContext, position: Position, limit: number): Promise<NextEvents>
}

/** What is needed to read events: the subscription that receives them, and the log and the type to read. */
export interface ReadContext {
  readonly log: EventLog
  readonly entry: EventEntry
  readonly subscription: OpenSubscription
  /** The validated arguments. */
  readonly input: unknown
  /**
   * Whether reading stops at an event for which a function of the application fails, so that the event is
   * read again later. If false, the event is skipped.
   */
  readonly stopsAtFailure: boolean
  /** Passes an error to the server's `onError`. */
  readonly report: (error: unknown) => void
}

/** An event that a subscription receives. */
export type FoundEvent = NextEvents['events'][number]
