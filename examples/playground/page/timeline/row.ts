/** The row of an entry. It expands to show the messages, the HTTP exchange and the timing. */
import { breakable, el } from '../dom.ts'
import { icon, type IconName } from '../icon.ts'
import { withRevisions } from '../revisions.ts'
import { duration, timeOf } from '../time.ts'
import type { Axis } from './axis.ts'
import { entryDetails, type Details } from './details.ts'
import type { Entry } from './entry.ts'
import { now } from './record.ts'
import type { Row } from './rows.ts'

/** The row of an entry, with a bar on the axis. */
export interface EntryRow extends Row {
  /** Places the bar. */
  place(axis: Axis, at: number): void
}

/** Called when the row of a group is opened or closed. Resolves when its entries are shown or hidden. */
export type OnFold = (group: Entry, isOpen: boolean) => Promise<void>

/** Creates the row of an entry. */
export function entryRow(entry: Entry, onFold: OnFold): EntryRow {
  return entry.kind === 'mark' ? markRow(entry) : expandableRow(entry, onFold)
}

function markRow({ title, start, failed }: Entry): EntryRow {
  const element = el(
    'li',
    { class: 'mark', 'data-failed': failed },
    el('span', {}, ...withRevisions(title)),
    timeOf(new Date(start)),
  )
  return { element, target: undefined, update() {}, place() {} }
}

function expandableRow(entry: Entry, onFold: OnFold): EntryRow {
  const bar = el('span', { class: 'bar' })
  const track = el('span', { class: 'track', 'aria-hidden': 'true' }, bar)
  const summary = el('summary')
  const fold = el('details', {}, summary)
  const element = el('li', { class: 'entry', 'data-kind': entry.kind }, fold)
  let details: Details | undefined

  function update(): void {
    const { direction, failed, level, start, end, group, members } = entry
    Object.assign(element.dataset, { level, ...(direction && { direction }) })
    element.toggleAttribute('data-failed', failed)
    element.toggleAttribute('data-running', end === undefined)
    element.toggleAttribute('data-group', members !== undefined)
    element.toggleAttribute('data-member', group !== undefined)
    const took = durationOf(entry)
    summary.replaceChildren(
      icon(iconOf(entry)),
      el('span', { class: 'hidden' }, `${nameOf(entry)}: `),
      title(entry),
      el('span', { class: 'took' }, took),
      timeOf(new Date(start)),
      track,
    )
    details?.update()
  }

  /** Scrolls so that the entries below the row of an open group are in view. */
  function showMembers(): void {
    const { top, height } = element.getBoundingClientRect()
    const view = element.closest('.scroller')?.getBoundingClientRect()
    const isLow = view && top + height > view.top + view.height / 2
    if (fold.open && isLow) element.scrollIntoView()
  }

  fold.addEventListener('toggle', ({ target }) => {
    if (target !== fold) return
    // The entries of a group have rows of their own
    if (entry.members) return void onFold(entry, fold.open).then(showMembers)
    if (!details) {
      details = entryDetails(entry)
      fold.append(details.element)
    }
    // Otherwise the expanded content of the last row would be out of view, or a row that was closed from its end
    element.scrollIntoView({ block: 'nearest' })
  })
  update()

  return {
    element,
    target: summary,
    update,
    place(axis, at) {
      const { start, end = at, isStream } = entry
      const left = axis.position(start)
      const right = isStream && entry.end === undefined ? 1 : axis.position(end)
      // A moment at the end of the axis has a width, too
      bar.style.left = `min(${left * 100}%, 100% - 3px)`
      bar.style.width = `${(right - left) * 100}%`
    },
  }
}

function title({ kind, title: name, about, outcome, level }: Entry): HTMLElement {
  const isLog = kind === 'log'
  const parts = [
    isLog && el('span', { class: 'level' }, level),
    isLog && about !== undefined && el('span', { class: 'source' }, about),
    el('span', { class: 'name' }, ...breakable(name)),
    !isLog && about !== undefined && el('strong', {}, ...breakable(about)),
  ]
  // The spaces are for screen readers, and for text that is copied
  const subject = parts.flatMap((part) => (part ? [part, ' '] : []))
  return el(
    'span',
    { class: 'title' },
    el('span', { class: 'subject' }, ...subject),
    // Most requests have a result, so only other outcomes are worth reading
    outcome !== undefined && outcome !== 'result' && el('span', { class: 'outcome' }, outcome),
  )
}

/** The duration of an entry, so far if it is in progress; empty for what takes no time. */
export function durationOf({ start, end, isStream }: Entry): string {
  if (end === start) return ''
  if (end !== undefined) return duration(end - start)
  return isStream ? 'open' : `${duration(now() - start)} …`
}

const icons: { readonly [Kind in Entry['kind']]?: IconName } = {
  question: 'question',
  log: 'log',
  http: 'globe',
  'sign-in': 'key',
  check: 'check',
}

function iconOf({ kind, direction, failed, level, end }: Entry): IconName {
  const isWarning = kind === 'request' && level === 'warning'
  if (isWarning || (kind === 'check' && failed)) return 'alert'
  if (kind === 'check' && end === undefined) return 'search'
  return icons[kind] ?? (direction === 'sent' ? 'up' : 'down')
}

/** The kind of an entry, for screen readers. */
function nameOf({ kind, direction, members }: Entry): string {
  if (members) return 'Group'
  if (kind === 'request') return direction === 'sent' ? 'Request' : 'Request of the server'
  if (kind === 'notification') {
    return direction === 'sent' ? 'Sent notification' : 'Received notification'
  }
  if (kind === 'question') return 'Question'
  if (kind === 'log') return 'Log message'
  return kind === 'http' ? 'HTTP' : 'Sign-in'
}
