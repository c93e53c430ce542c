/**
 * The row of one log message.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
 */
import type { LoggingMessageParams } from 'edgewise/browser'
import { el } from '../dom.ts'
import { jsonBlock } from '../json.ts'
import { timeOf } from '../time.ts'

/** A log message, and the time of its arrival. */
export interface LogEntry extends Pick<LoggingMessageParams, 'level' | 'logger' | 'data'> {
  at: Date
}

/** Creates the row of a log message. */
export function logRow({ level, logger, data, at }: LogEntry): HTMLElement {
  return el(
    'li',
    { class: 'entry', 'data-level': level },
    timeOf(at),
    el('span', { class: 'level' }, level),
    el(
      'p',
      { class: 'text' },
      logger !== undefined && el('span', { class: 'source' }, logger, ' '),
      typeof data === 'string' && data,
    ),
    typeof data !== 'string' && jsonBlock(data),
  )
}
