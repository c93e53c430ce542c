/**
 * The URLs that the client of a session was asked to have opened.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation
 */
import type { SessionRecord } from './session.ts'

/** The most URLs of one session whose end can be announced; the oldest give way. */
const MAX_ELICITATIONS = 100

/** Notes that the client of a session was asked to have a URL opened. */
export function noteElicitation(record: SessionRecord, elicitationId: string): void {
  record.elicitations = [...(record.elicitations ?? []), elicitationId].slice(-MAX_ELICITATIONS)
}

/** Whether the client of a session was asked to have that URL opened; only once. */
export function takeElicitation(record: SessionRecord, elicitationId: string): boolean {
  const { elicitations = [] } = record
  record.elicitations = elicitations.filter((other) => other !== elicitationId)
  return record.elicitations.length < elicitations.length
}
