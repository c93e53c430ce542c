/**
 * Which stream of a session carried the messages that belong to no request, and when. A client that resumes a
 * stream receives only the messages of that stream.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */

/**
 * The period in which one stream carries the messages, until the next turn begins: the number of the stream, and the
 * last change and the last of the session's own messages before the turn.
 */
export type Turn = readonly [stream: number, change: number, message: number]

/** A turn that begins. Without a number, a new stream begins. Without a message, the turn begins with the next one. */
export type NewTurn = readonly [stream: number | null, change: number, message: number | null]

/** The maximum number of turns that are stored for a session. */
export const MAX_TURNS = 50

/** Returns the number of the stream that carried a change, unless the turn was deleted. */
export function streamOfChange(turns: readonly Turn[], id: number): number | undefined {
  return turns.findLast(([, change]) => change < id)?.[0]
}

/** Returns the number of the stream that carried a message of the session, unless the turn was deleted. */
export function streamOfMessage(turns: readonly Turn[], seq: number): number | undefined {
  return turns.findLast(([, , message]) => message < seq)?.[0]
}
