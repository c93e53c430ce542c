/**
 * One message that the server logged.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
 */
import type { LoggingMessageParams } from 'edgewise/browser'
import { el } from '../dom.ts'
import { jsonBlock } from '../json.ts'
import { timeOf } from './time.ts'

/** A message, and when it came. */
export interface LogEntry extends Pick<LoggingMessageParams, 'level' | 'logger' | 'data'> {
  at: Date
}

/** Makes its row. */
export function logRow({ level, logger, data, at }: LogEntry): HTMLElement {
  return el(
    'li',
    { class: 'entry', 'data-level': level },
    el('span', { class: 'level' }, level),
    el('span', { class: 'source' }, logger),
    timeOf(at),
    typeof data === 'string' ? el('p', {}, data) : jsonBlock(data),
  )
}
