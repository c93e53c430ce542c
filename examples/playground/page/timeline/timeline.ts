/**
 * The panel that shows the server's log messages and all messages on the wire, newest last.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/tabs/
 */
import {
  isObject,
  type Fetch,
  type LoggingLevel,
  type LoggingMessageParams,
} from 'edgewise/browser'
import { el, type Attributes } from '../dom.ts'
import type { SignInStep } from '../sign-in/steps.ts'
import { logRow, type LogEntry } from './log-row.ts'
import type { ObserveHooks } from './observe.ts'
import { setUpRows } from './rows.ts'
import { watchedFetch, type WireEntry } from './wire.ts'
import { wireRow } from './wire-row.ts'

/** The messages of one workspace. */
export interface Timeline {
  readonly element: HTMLElement
  /** Wraps the `fetch` of a client to record its messages. */
  observe(send: Fetch, hooks?: ObserveHooks): Fetch
  /** Adds a message of the page. */
  notice(level: LoggingLevel, text: string): void
  /** Marks a point in time, such as the beginning of a connection. */
  mark(text: string): void
  /** Adds a step of a sign-in; called again with the same id when it ends. */
  signInStep(step: SignInStep): void
}

/** Creates the panel of a workspace, with its tabs and its Clear button. */
export function createTimeline(): Timeline {
  const log = pane<LogEntry>('log', 'Log', 'What the server logs appears here.', logRow, {
    role: 'log',
  })
  const wire = pane<WireEntry>('wire', 'Wire', 'Every message appears here.', wireRow)
  const panes = [log, wire]
  const clear = el('button', { id: 'clear', class: 'quiet', type: 'button' }, 'Clear')
  const element = el(
    'div',
    { class: 'activity' },
    el(
      'div',
      { class: 'tabs' },
      el('div', { role: 'tablist', 'aria-label': 'Timeline' }, log.tab, wire.tab),
      clear,
    ),
    log.panel,
    wire.panel,
  )

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
  clear.addEventListener('click', () => {
    for (const each of panes) if (!each.panel.hidden) each.clear()
  })

  const addLog = (entry: Omit<LogEntry, 'at'>): void => log.add({ ...entry, at: new Date() })
  return {
    element,
    observe: (send, { onSession, onSignedIn, onAnswer } = {}) =>
      watchedFetch(send, {
        report(entry) {
          wire.add(entry)
          const { direction, body, http, title, failed } = entry
          if (direction === 'sent') return
          if (isObject(body) && body['method'] === 'notifications/message') {
            addLog(body['params'] as LoggingMessageParams)
          }
          const [line = ''] = http
          const [, status, statusText = ''] = /^HTTP (\d+) ?(.*)/.exec(line) ?? []
          if (status === undefined) return
          onAnswer?.({
            url: '',
            status: Number(status),
            statusText,
            contentType: http.find((each) => each.startsWith('content-type'))?.slice(14) ?? '',
            text: typeof body === 'string' ? body : (JSON.stringify(body) ?? ''),
            isMessage: title !== line && !failed,
          })
        },
        onReach() {},
        onSession: (id) => onSession?.(id),
        onSignedIn: () => onSignedIn?.(),
      }),
    notice: (level, data) => addLog({ level, logger: 'playground', data }),
    mark() {},
    signInStep() {},
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
  label: string,
  hint: string,
  makeRow: (item: T) => HTMLElement,
  attributes: Attributes = {},
): Tab & { add(item: T): void } {
  const panel = el('div', {
    id,
    role: 'tabpanel',
    tabindex: 0,
    'aria-labelledby': `${id}-tab`,
    hidden: id !== 'log',
  })
  const tab = el(
    'button',
    { id: `${id}-tab`, role: 'tab', type: 'button', 'aria-controls': id },
    label,
  )
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
