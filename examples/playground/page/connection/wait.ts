/**
 * Describes a call that is in progress: how long it has been running, when it times out, and what its HTTP
 * exchange shows about the server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
 */
import type { Exchange } from './traffic.ts'

/** How long a call may take until the page explains what it waits for, in milliseconds. */
export const SILENCE_MS = 5_000

/** How long a call has been running. */
export interface Wait {
  /** The time since the request was sent, and the time until the timeout. */
  readonly elapsed: string
  /** What the page waits for, if the server has been silent for {@link SILENCE_MS}. */
  readonly silence?: string
}

/**
 * Describes the exchange of a call that has no response yet.
 *
 * @param now The present time, in milliseconds, as of `performance.now()`.
 */
export function describeWait(exchange: Exchange, timeoutMs: number, now: number): Wait {
  const { sentAt, messages, lastAt, hasEnded } = exchange
  const elapsedMs = now - sentAt
  const elapsed = wholeSeconds(elapsedMs)
  if (hasEnded || elapsedMs >= timeoutMs) return { elapsed }
  // The timeout begins again with each report of progress, and does not apply to tasks and questions
  if (messages > 0) {
    const last = lastAt === undefined ? '' : ` · last activity ${wholeSeconds(now - lastAt)} ago`
    return { elapsed: elapsed + last }
  }
  const left = Math.ceil((timeoutMs - elapsedMs) / 1000)
  const shown = `${elapsed} · times out in ${left} s`
  if (elapsedMs < SILENCE_MS) return { elapsed: shown }
  const limit = wholeSeconds(timeoutMs)
  const silence = `${stateOf(exchange, now)} It has reported no progress, so the call times out after ${limit}. The timeout is in the settings.`
  return { elapsed: shown, silence }
}

/** What is known about a server that has sent no message. */
function stateOf({ openedAt, isStream, comments, lastAt }: Exchange, now: number): string {
  if (openedAt === undefined) return 'The server has not responded yet.'
  if (!isStream) return 'The server has begun its response, and not completed it yet.'
  if (comments === 0 || lastAt === undefined)
    return 'The server has opened a stream, and sent nothing on it yet.'
  return `The server keeps the stream alive (${wholeSeconds(now - lastAt)} ago), and has not responded yet.`
}

function wholeSeconds(ms: number): string {
  return `${Math.floor(ms / 1000)} s`
}
