/**
 * A registered event type, and what reads its events.
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
  readonly source: EventSources
  readonly pollMs: number
  /** Which events can be received later. */
  readonly maxAgeMs: number
  readonly maxEvents: number
  /** The schema that each incompatible change has changed, the oldest first. */
  readonly changes: readonly string[]
}

/**
 * Reads the events of types: from the log, or from sources of the author. Only the bundles of servers
 * that use sources contain the latter.
 */
export interface EventSources {
  /**
   * Where a subscription begins.
   *
   * @param position The requested position; null for the present one, undefined if it is lost.
   * @param maxAgeMs The maximum age of the events that the client wants, in milliseconds.
   */
  start(
    reader: Reader,
    position: Position | undefined,
    maxAgeMs: number | undefined,
  ): Promise<Start>
  /** Reads events after a position. */
  read(reader: Reader, position: Position, limit: number): Promise<NextEvents>
}

/** What readers need. */
export interface Reader {
  readonly log: EventLog
  readonly entry: EventEntry
  readonly subscription: OpenSubscription
  /** The validated arguments. */
  readonly input: unknown
  /** Whether an event for which the author's functions fail is read again later, not skipped. */
  readonly stopsAtFailure: boolean
  /** Reports an error to the author. */
  readonly report: (error: unknown) => void
}

/** An event that a subscription receives. */
export type FoundEvent = NextEvents['events'][number]
