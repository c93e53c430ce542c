/**
 * The panel that shows the server's log messages and all messages on the wire, newest last.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/tabs/
 */
import { el, find, type Attributes } from '../dom.ts'
import { logRow, type LogEntry } from './log-row.ts'
import { setUpRows } from './rows.ts'
import type { WireEntry } from './wire.ts'
import { wireRow } from './wire-row.ts'

/** Adds rows to the panel. */
export interface Activity {
  log: (entry: Omit<LogEntry, 'at'>) => void
  wire: (entry: WireEntry) => void
}

/** Sets up the panel's tabs and its Clear button. */
export function setUpActivity(): Activity {
  const log = pane('log', 'What the server logs appears here.', logRow, { role: 'log' })
  const wire = pane('wire', 'Every message to and from the server appears here.', wireRow)
  const panes = [log, wire]

  function select(chosen: Tab, focus: boolean): void {
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
    log: (entry) => log.add({ ...entry, at: new Date() }),
    wire: wire.add,
  }
}

/** A tab and its panel. */
interface Tab {
  tab: HTMLButtonElement
  panel: HTMLElement
  clear(): void
}

function pane<T>(
  id: string,
  hint: string,
  makeRow: (item: T) => HTMLElement,
  attributes: Attributes = {},
): Tab & { add(item: T): void } {
  const panel = find(id, HTMLElement)
  const tab = find(`${id}-tab`, HTMLButtonElement)
  const list = el('ol', { class: 'entries' })
  const count = el('span', { class: 'count', 'aria-hidden': 'true', hidden: true })
  const empty = el('p', { class: 'empty' }, hint)
  tab.append(count)
  panel.append(empty, el('div', attributes, list))
  const rows = setUpRows(panel, list, makeRow)

  function recount(): void {
    count.textContent = rows.count.toLocaleString('en')
    count.hidden = rows.count === 0
    empty.hidden = rows.count > 0
  }
  return {
    tab,
    panel,
    add(item) {
      rows.add(item)
      recount()
    },
    clear() {
      rows.clear()
      recount()
    },
  }
}
