/** The entries of the timeline: what belongs together, such as a request and its response, is one entry. */
import type { LoggingLevel } from 'edgewise/browser'
import type { Body, RequestRecord } from './record.ts'

/** The kinds of entries, with the names that the filter shows. */
export const kinds = {
  request: 'Requests',
  question: 'Questions',
  notification: 'Notifications',
  log: 'Log',
  http: 'HTTP',
  'sign-in': 'Sign-in',
  check: 'Checks',
} as const

/** A kind of entry. A `mark` is a change of the connection, which no filter hides. */
export type Kind = keyof typeof kinds | 'mark'

/** Something that belongs to an entry, such as the response of a request. */
export interface Part {
  at: number
  /** When it ended, if it takes time. */
  end?: number
  title: string
  /** A short text that follows the title. */
  note?: string | undefined
  /** Whether the page sent or received it. */
  direction?: Direction
  failed?: boolean
  /** Lines of HTTP, with masked secrets. */
  lines?: readonly string[]
  /** The HTTP request, with masked secrets. */
  request?: Pick<RequestRecord, 'method' | 'url' | 'headers'>
  body?: Body
  /** Whether it is the request or the response itself. These are shown first. */
  isMain?: boolean
}

/** Whether the page sent or received a message. */
export type Direction = 'sent' | 'received'

/** One row of the timeline. Entries change while more belongs to them. */
export interface Entry {
  /** The order of the entries. */
  readonly id: number
  readonly kind: Kind
  readonly direction: Direction | undefined
  /** The method, or another name. */
  title: string
  /** What a message is about: a tool, a prompt, a resource, the text of a log message. */
  about?: string | undefined
  /** How it ended. */
  outcome?: string | undefined
  failed: boolean
  level: LoggingLevel
  /** When it began, in milliseconds since 1970. */
  readonly start: number
  /** When it ended. Equal to the start for what takes no time, and `undefined` while it is in progress. */
  end?: number | undefined
  /** Whether it only listens. It may then be open for hours, so it does not stretch the axis. */
  isStream: boolean
  /** The parts, in order of time. */
  readonly parts: Part[]
  /** The number of parts that are omitted, because there are too many. */
  omitted: number
  /** The request that an entry belongs to. */
  parent?: Entry
  /** The group in whose row an entry is folded: a check, or the messages about the state of a task. */
  readonly group?: Entry
  /** The entries of a group. */
  readonly members?: Entry[]
}

/** The maximum number of parts of an entry. */
export const MAX_PARTS = 200

/** Adds a part to an entry. */
export function addPart(entry: Entry, part: Part): void {
  // The response is the last part, and must not be missing
  if (entry.parts.length < MAX_PARTS || part.isMain) entry.parts.push(part)
  else entry.omitted++
}

/** What a new entry has. The rest has defaults. */
export type NewEntry = Partial<Entry> & Pick<Entry, 'kind' | 'title' | 'start'>

/** Ends an entry. */
export function end(entry: Entry, at: number, outcome: string, failed = false): void {
  entry.end = at
  entry.outcome = outcome
  entry.failed = failed
  entry.level = failed ? 'error' : 'info'
}
