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
      'Have the tool report progress: the time starts again with each report.',
      'Or run it again with more time, or raise the timeout in the settings of this server.',
    ],
  }
}

function describe(exchange: Exchange, limit: string, now: number): string {
  const { sentAt, openedAt, isStream, messages, comments, lastAt } = exchange
  if (openedAt === undefined)
    return `The server accepted no request, or did not respond in ${limit}.`
  const opened = duration(openedAt - sentAt)
  if (!isStream) return `The server began its response after ${opened}, and did not complete it.`
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
