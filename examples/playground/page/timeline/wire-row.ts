/**
 * The row of one message on the wire. It expands to show the HTTP headers and the JSON.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import { el } from '../dom.ts'
import { icon } from '../icon.ts'
import { jsonBlock } from '../json.ts'
import { duration, timeOf } from '../time.ts'
import type { WireEntry } from './wire.ts'

/** Creates the row of a message. */
export function wireRow(entry: WireEntry): HTMLElement {
  const { direction, failed = false, at, body, http, tookMs, length } = entry
  const took = tookMs === undefined ? '' : duration(tookMs)
  const summary = el(
    'summary',
    {},
    icon(direction === 'sent' ? 'up' : 'down'),
    el('span', { class: 'hidden' }, direction === 'sent' ? 'Sent: ' : 'Received: '),
    title(entry),
    el('span', { class: 'times' }, took && el('span', { class: 'took' }, took), timeOf(at)),
  )
  const details = el('details', {}, summary)
  const row = el(
    'li',
    { class: 'entry', 'data-direction': direction, 'data-failed': failed },
    details,
  )
  details.addEventListener('toggle', () => {
    if (!details.open) return
    if (details.childElementCount === 1) {
      const facts = [
        ...(took ? [`${took} after its request`] : []),
        ...(length ? [`${length.toLocaleString('en')} characters`] : []),
      ]
      details.append(el('p', { class: 'note' }, facts.join(', ')))
      details.append(el('pre', { class: 'http' }, http.join('\n')))
      if (body !== undefined) details.append(jsonBlock(body))
    }
    // Otherwise the expanded content of the last row would be out of view
    row.scrollIntoView({ block: 'nearest' })
  })
  return row
}

function title({ title: name, about, outcome }: WireEntry): HTMLElement {
  return el(
    'span',
    { class: 'title' },
    el('span', {}, ...breakable(name)),
    about !== undefined && ' ',
    about !== undefined && el('strong', {}, ...breakable(about)),
    outcome !== undefined && ' ',
    outcome !== undefined && el('span', { class: 'outcome' }, outcome),
  )
}

/** Text that may be wrapped after a slash. */
function breakable(text: string): Node[] {
  const parts = text.split(/(?<=\/)/)
  return parts.flatMap((part, index) =>
    index === 0 ? [new Text(part)] : [el('wbr'), new Text(part)],
  )
}
