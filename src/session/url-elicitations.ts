/**
 * The URL elicitations of a session. The server must announce their completion to the client.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation
 */
import type { SessionRecord } from './session.ts'

/** The maximum number of elicitations per session. At the limit, the oldest are dropped. */
const MAX_ELICITATIONS = 100

/** Records that the client of a session was asked to open a URL. */
export function noteElicitation(record: SessionRecord, elicitationId: string): void {
  record.elicitations = [...(record.elicitations ?? []), elicitationId].slice(-MAX_ELICITATIONS)
}

/** Removes an elicitation. Returns whether the client of the session was asked to open its URL. */
export function takeElicitation(record: SessionRecord, elicitationId: string): boolean {
  const { elicitations = [] } = record
  record.elicitations = elicitations.filter((other) => other !== elicitationId)
  return record.elicitations.length < elicitations.length
}
