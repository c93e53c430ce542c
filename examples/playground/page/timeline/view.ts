/**
 * Shows the entries of a timeline, the newest last, with a toolbar. Exports the session, and shows the file of
 * another one.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import { announce } from '../announce.ts'
import { el } from '../dom.ts'
import { icon } from '../icon.ts'
import { withRevisions } from '../revisions.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from '../store.ts'
import { logAnnouncer } from './announce-logs.ts'
import { createAxis, lengthOf, trackBackground } from './axis.ts'
import type { Entry } from './entry.ts'
import { createFilter, isEmpty, isShown } from './filter.ts'
import { now, type SessionRecord } from './record.ts'
import { createRecording, type Recording } from './recording.ts'
import { redactUrl } from './redact.ts'
import { entryRow, type EntryRow } from './row.ts'
import { setUpRows } from './rows.ts'
import type { KnownSecrets } from './session-file.ts'
import { inSlices } from './slices.ts'
import { createToolbar } from './toolbar.ts'

/** How often the duration of a request in progress is updated, in milliseconds. */
const TICK_MS = 500

/**
 * Fills the element of a timeline. Returns functions that add a record to it, and that scroll to the newest entry.
 *
 * @param secrets What an exported session must not contain.
 */
export function fillTimeline(
  element: HTMLElement,
  settings: Store<Settings>,
  secrets: KnownSecrets,
): { add(record: SessionRecord): void; showNewest(): void } {
  const live = createRecording()
  let shown: Recording = live
  let filter = createFilter([], 'debug', '')
  /** The groups whose entries are shown. */
  const open = new Set<Entry>()
  /** The entries that have a row. */
  let listed = new Set<Entry>()
  let lastListed = 0
  /** Aborts filtering. */
  let filtering: AbortController | undefined

  const list = el('ol', { class: 'entries' })
  const empty = el('p', { class: 'empty' })
  const scroller = el('div', { class: 'scroller', tabindex: -1 }, empty, list)
  const scaleLength = el('span')
  const ticks = el('span', { class: 'ticks' }, el('span', {}, '0'), scaleLength)
  const scale = el(
    'p',
    { class: 'scale', 'aria-hidden': 'true' },
    ticks,
    el('span', {}, 'on the wire'),
  )
  const newest = el(
    'button',
    { type: 'button', class: 'newest small', hidden: true, onclick: () => rows.follow() },
    icon('down'),
    'Newest',
  )
  const banner = el('div', { class: 'banner', role: 'status' })
  const toolbar = createToolbar({
    onFilter(next) {
      filter = next
      void refilter()
    },
    onClear: () => live.clear(),
    onExport: () => void exportSession(),
    onImport: (file) => void importSession(file),
  })
  element.append(toolbar.element, banner, scale, scroller, newest)
  const rows = setUpRows({
    scroller,
    list,
    makeRow: (entry) => entryRow(entry, onFold),
    onDraw: placeBars,
    onFollow: (follows) => (newest.hidden = follows),
  })
  const announceLog = logAnnouncer((text) => {
    if (element.isConnected && shown === live) announce(text)
  })

  function onFold(group: Entry, isOpen: boolean): Promise<void> {
    if (isOpen) open.add(group)
    else open.delete(group)
    return refilter()
  }

  let tick: ReturnType<typeof setTimeout> | undefined
  let shownTrack = ''
  function placeBars(visible: ReadonlyMap<Entry, EntryRow>): void {
    const at = now()
    const entries = [...visible.keys()]
    const running = entries.filter((entry) => entry.end === undefined && !entry.isStream)
    const spans = entries
      .filter(({ kind, isStream, end }) => kind !== 'mark' && (!isStream || end !== undefined))
      .map(({ start, end = at }) => ({ start, end }))
    const axis = createAxis(spans)
    for (const row of visible.values()) row.place(axis, at)
    const track = trackBackground(axis, 'var(--track-color)')
    // A change restyles all rows
    if (track !== shownTrack) element.style.setProperty('--track', track)
    shownTrack = track
    scale.hidden = spans.length === 0
    scaleLength.textContent = lengthOf(axis)
    recount()
    clearTimeout(tick)
    if (running.length === 0 || shown !== live) return
    tick = setTimeout(() => running.forEach(rows.update), TICK_MS)
  }

  function recount(): void {
    const all = countOf(shown.entries)
    // Without a filter, those of closed groups count as well
    toolbar.setCount(isEmpty(filter) ? all : countOf(listed), all)
    empty.hidden = listed.size > 0
    empty.textContent =
      shown.entries.length > 0
        ? 'No entry matches.'
        : 'Requests, responses and log messages appear here.'
  }

  /** Selects the entries to show again. */
  async function refilter(): Promise<void> {
    filtering?.abort()
    filtering = new AbortController()
    const { signal } = filtering
    let selected: readonly Entry[] = shown.entries.slice()
    if (!isEmpty(filter) || selected.some(({ group }) => group)) {
      const matches: Entry[] = []
      const select = (entry: Entry): void =>
        void (isShown(entry, filter, open) && matches.push(entry))
      const isDone = await inSlices(shown.entries, select, signal)
      if (!isDone) return
      selected = matches
    }
    filtering = undefined
    listed = new Set(selected)
    lastListed = selected.at(-1)?.id ?? 0
    rows.show(selected)
  }

  function onChange(changed: ReadonlySet<Entry>): void {
    changed.forEach(announceLog)
    // The present search includes them
    if (filtering) return
    for (const entry of changed) {
      if (listed.has(entry)) rows.update(entry)
      else if (isShown(entry, filter, open)) {
        if (entry.id < lastListed) return void refilter()
        listed.add(entry)
        lastListed = entry.id
        rows.add(entry)
      }
    }
  }

  function show(recording: Recording): void {
    shown.listen(undefined)
    shown = recording
    shown.listen({ onChange, onRemove: () => void refilter() })
    toolbar.setReadOnly(recording !== live)
    void refilter()
  }
  show(live)

  async function exportSession(): Promise<void> {
    const { writeSession } = await import('./session-file.ts')
    const { url, revision, timeoutMs, logLevel, headers, token, roots } = settings.get()
    const text = await writeSession(
      shown.records,
      {
        url: redactUrl(url),
        revision,
        timeoutMs,
        logLevel,
        headers: headers.map(({ name }) => name),
        hasToken: token !== '',
        roots: roots.length,
      },
      secrets,
    )
    save(`session-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.json`, text)
  }

  async function importSession(file: File): Promise<void> {
    const { readSession } = await import('./session-file.ts')
    try {
      const { records, startedAt, settings: used } = await readSession(file)
      const recording = createRecording()
      await inSlices(records, recording.add)
      recording.finish()
      show(recording)
      const server = typeof used['url'] === 'string' ? used['url'] : 'an unknown server'
      // Swedish has the form of the other dates and times
      const text = `Imported: ${file.name}, ${server}, ${startedAt.toLocaleString('sv')}`
      showBanner(text, 'Back to live')
    } catch (error) {
      showBanner(error instanceof Error ? error.message : String(error), 'Dismiss')
      banner.toggleAttribute('data-failed', true)
    }
  }

  function showBanner(text: string, action: string): void {
    const close = el('button', { type: 'button', class: 'small' }, action)
    close.addEventListener('click', () => {
      banner.replaceChildren()
      if (shown !== live) show(live)
      scroller.focus()
    })
    banner.replaceChildren(el('p', {}, ...withRevisions(text)), close)
    banner.removeAttribute('data-failed')
  }

  return {
    add: live.add,
    showNewest() {
      if (shown === live) rows.follow()
    },
  }
}

/** Counts entries. A mark is the heading of those that follow it. */
function countOf(entries: Iterable<Entry>): number {
  let count = 0
  for (const { kind } of entries) if (kind !== 'mark') count++
  return count
}

/** Saves a file. */
function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  el('a', { href: url, download: name }).click()
  // The browser has begun to read it by then
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
