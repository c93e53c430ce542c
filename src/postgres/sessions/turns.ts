/**
 * Which stream of a session carried the messages that belong to no request, and when. The streams take turns: a turn
 * is the period in which one of them carries these messages. A client that resumes a stream receives only the messages
 * of that stream.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */

/**
 * A turn of a stream: the number of the stream, the id of the last change before the turn, and the number of the
 * session's last own message before the turn.
 */
export type StreamTurn = readonly [stream: number, change: number, message: number]

/**
 * A turn that is about to begin. If `stream` is null, a new stream is used. If `message` is null, the turn begins after
 * the session's last own message so far.
 */
export type NewStreamTurn = readonly [stream: number | null, change: number, message: number | null]

/** The maximum number of turns that are stored for a session. */
export const MAX_TURNS = 50

/** Returns the number of the stream that carried a change, unless the turn was deleted. */
export function streamOfChange(turns: readonly StreamTurn[], id: number): number | undefined {
  return turns.findLast(([, change]) => change < id)?.[0]
}

/** Returns the number of the stream that carried a message of the session, unless the turn was deleted. */
export function streamOfMessage(turns: readonly StreamTurn[], seq: number): number | undefined {
  return turns.findLast(([, , message]) => message < seq)?.[0]
}
