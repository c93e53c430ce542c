/**
 * The panel that shows what the server logs and what goes over the wire, newest last.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/tabs/
 */
import type { LoggingMessageParams } from 'edgewise/browser'
import { el, find, type Attributes } from './dom.ts'
import { icon } from './icon.ts'
import { jsonBlock } from './json.ts'
import type { WireEntry } from './wire.ts'

/** Older rows go when there are more than these. */
const MAX_ROWS = 500

const TIME = {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 1,
} as const

/** Adds rows to the panel. */
export interface Activity {
  log: (entry: Pick<LoggingMessageParams, 'level' | 'logger' | 'data'>) => void
  wire: (entry: WireEntry) => void
}

/** Sets up the panel's tabs and its Clear button. */
export function setUpActivity(): Activity {
  const log = pane('log', 'What the server logs appears here.', { role: 'log' })
  const wire = pane('wire', 'Every message to and from the server appears here.', {})
  const panes = [log, wire]

  function select(chosen: Pane, focus: boolean): void {
    for (const each of panes) {
      const isChosen = each === chosen
      each.panel.hidden = !isChosen
      each.tab.setAttribute('aria-selected', String(isChosen))
      each.tab.tabIndex = isChosen ? 0 : -1
    }
    if (focus) chosen.tab.focus()
  }
  for (const [index, each] of panes.entries()) {
    each.tab.addEventListener('click', () => select(each, false))
    each.tab.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
        select(panes[(index + 1) % panes.length] ?? each, true)
      }
    })
  }
  select(log, false)
  find('clear', HTMLButtonElement).addEventListener('click', () => {
    for (const each of panes) if (!each.panel.hidden) each.clear()
  })

  return {
    log: (entry) => log.add(logRow(entry)),
    wire: (entry) => wire.add(wireRow(entry)),
  }
}

interface Pane {
  tab: HTMLButtonElement
  panel: HTMLElement
  add(row: HTMLElement): void
  clear(): void
}

function pane(id: string, hint: string, attributes: Attributes): Pane {
  const panel = find(id, HTMLElement)
  const tab = find(`${id}-tab`, HTMLButtonElement)
  const list = el('ol', { class: 'entries' })
  const count = el('span', { class: 'count', 'aria-hidden': 'true', hidden: true })
  const empty = el('p', { class: 'empty' }, hint)
  tab.append(count)
  panel.append(empty, el('div', attributes, list))

  function recount(): void {
    count.textContent = String(list.childElementCount)
    count.hidden = list.childElementCount === 0
    empty.hidden = list.childElementCount > 0
  }
  return {
    tab,
    panel,
    add(row) {
      // The view follows new rows only while the reader is at the end.
      const atEnd = panel.scrollTop + panel.clientHeight >= panel.scrollHeight - 40
      list.append(row)
      if (list.childElementCount > MAX_ROWS) list.firstElementChild?.remove()
      recount()
      if (atEnd) panel.scrollTop = panel.scrollHeight
    },
    clear() {
      list.replaceChildren()
      recount()
    },
  }
}

function logRow({ level, logger, data }: Parameters<Activity['log']>[0]): HTMLElement {
  return el(
    'li',
    { class: 'entry', 'data-level': level },
    el('span', { class: 'level' }, level),
    el('span', { class: 'source' }, logger),
    time(),
    typeof data === 'string' ? el('p', {}, data) : jsonBlock(data),
  )
}

function wireRow(entry: WireEntry): HTMLElement {
  const { direction, title, about, outcome, failed = false, body, http } = entry
  const summary = el(
    'summary',
    {},
    icon(direction === 'sent' ? 'up' : 'down'),
    el('span', { class: 'hidden' }, direction === 'sent' ? 'Sent: ' : 'Received: '),
    el(
      'span',
      { class: 'title' },
      el('span', {}, ...breakable(title)),
      about !== undefined && ' ',
      about !== undefined && el('strong', {}, ...breakable(about)),
      outcome !== undefined && ' ',
      outcome !== undefined && el('span', { class: 'outcome' }, outcome),
    ),
    time(),
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
      details.append(el('pre', { class: 'http' }, http.join('\n')))
      if (body !== undefined) details.append(jsonBlock(body))
    }
    // The last row would unfold below the end, and the panel would no longer follow.
    row.scrollIntoView({ block: 'nearest' })
  })
  return row
}

/** Text that, where it is too long, goes on in a new line after a slash. */
function breakable(text: string): Node[] {
  const parts = text.split(/(?<=\/)/)
  return parts.flatMap((part, index) =>
    index === 0 ? [new Text(part)] : [el('wbr'), new Text(part)],
  )
}

function time(): HTMLElement {
  const now = new Date()
  const text = now.toLocaleTimeString('en-GB', TIME)
  return el('time', { datetime: now.toISOString() }, text)
}
