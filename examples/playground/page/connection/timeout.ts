/**
 * Explains why a call timed out, as far as its HTTP exchange shows that. Loaded on demand.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
 */
import type { Explanation } from '../explanation.ts'
import { duration } from '../time.ts'
import type { Exchange } from './traffic.ts'

/**
 * Explains a timeout.
 *
 * @param timeoutMs How long the client has waited.
 * @param now The present time, in milliseconds, as of `performance.now()`.
 */
export function explainTimeout(
  exchange: Exchange | undefined,
  timeoutMs: number,
  now: number,
): Explanation {
  const limit = timeoutMs < 1000 ? duration(timeoutMs) : `${Math.round(timeoutMs / 1000)} s`
  return {
    headline: `The call timed out after ${limit}`,
    why: exchange && describe(exchange, limit, now),
    advice: [
      'Check that the handler answers in every case, also for unknown names and after errors: one branch may end without a response.',
      'If it is only slow, have it report progress, because the time starts again with each report. Or run it again with more time.',
    ],
  }
}

function describe(exchange: Exchange, limit: string, now: number): string {
  const { sentAt, openedAt, isStream, messages, comments, lastAt } = exchange
  if (openedAt === undefined)
    return `The request was sent, but no HTTP response came in ${limit}: not even its headers.`
  const opened = duration(openedAt - sentAt)
  if (!isStream)
    return `The headers of the HTTP response came after ${opened}, but its body is not complete.`
  const what =
    messages === 0
      ? `The server opened the stream after ${opened} and sent no message in ${limit}`
      : `The server opened the stream after ${opened} and sent ${count(messages, 'message')}, but no response`
  if (comments === 0 || lastAt === undefined) {
    return `${what}. The connection was still open, but nothing arrived.`
  }
  const last = duration(now - lastAt)
  return `${what}. The connection is alive: the server sent ${count(comments, 'keep-alive comment')}, the last one ${last} before the timeout.`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
