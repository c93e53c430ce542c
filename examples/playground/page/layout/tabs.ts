/**
 * The tabs of the open servers. Arrow keys, Home and End move between them, Delete closes one.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/tabs/
 */
import { announce } from '../announce.ts'
import { nameOf } from '../connection/connection.ts'
import { markOf } from '../connection/status.ts'
import { el, find } from '../dom.ts'
import { runningCalls } from '../history/calls.ts'
import { icon } from '../icon.ts'
import { isDomain } from '../secrets.ts'
import type { Workspace } from '../workspace.ts'

/** The functions of the page that the tabs use. */
export interface TabActions {
  /** Shows a workspace. */
  select(workspace: Workspace): void
  /** Closes a workspace. */
  close(workspace: Workspace): void
  /** Opens a workspace without a server. */
  add(): void
}

/** The row of tabs. */
export interface TabBar {
  /** Shows tabs for workspaces. */
  draw(workspaces: readonly Workspace[], active: Workspace): void
}

/** Sets up the row of tabs and the button that adds one. */
export function setUpTabs({ select, close, add }: TabActions): TabBar {
  const list = find('tabs', HTMLElement)
  const tabs = new Map<Workspace, HTMLButtonElement>()
  find('tab-new', HTMLButtonElement).addEventListener('click', add)
  let selected: Workspace | undefined
  // Screen readers do not reach the cross of a tab, and touch screens have no Delete key. The Tab key skips it
  const closer = el(
    'button',
    {
      type: 'button',
      class: 'hidden',
      tabindex: -1,
      onclick: () => selected && close(selected),
    },
    'Close the current tab',
  )
  list.after(closer)

  const first = (selector: string): HTMLElement | null => list.querySelector<HTMLElement>(selector)
  /**
   * Scrolls the whole selected tab into view, beside a tab with a question that covers an end, and the ends that fade
   * out. `scrollIntoView` would also move the place from which the Tab key starts.
   */
  function reveal(): void {
    const tab = first('[aria-selected=true]')
    if (!tab) return
    const { offsetLeft, offsetWidth } = tab
    const before = first('[data-asks]:has(~ [aria-selected=true])')?.offsetWidth
    const after = first('[aria-selected=true] ~ [data-asks]')?.offsetWidth
    const room = list.clientWidth - offsetWidth
    const fade = Math.min(FADE, room - (before ?? after ?? FADE))
    const least = offsetLeft - room + (after ?? fade)
    list.scrollLeft = Math.min(offsetLeft - (before ?? fade), Math.max(list.scrollLeft, least))
  }
  /** Marks the ends where more tabs are. */
  function markEnds(): void {
    const { scrollLeft, scrollWidth, clientWidth } = list
    list.toggleAttribute('data-before', scrollLeft > 1)
    list.toggleAttribute('data-after', scrollLeft + clientWidth < scrollWidth - 1)
  }
  list.addEventListener('scroll', markEnds, { passive: true })
  // A tab gets wider when its server has told its name
  const resizes = new ResizeObserver(() => {
    reveal()
    markEnds()
  })
  resizes.observe(list)

  /** Tells tabs apart whose servers have the same name: by their ports or hosts, or else by numbers. */
  function nameApart(): void {
    const counts = new Map<string, number>()
    for (const [workspace, tab] of tabs) {
      const label = labelOf(workspace)
      const own = urlOf(workspace)
      const others = [...tabs.keys()].filter((each) => labelOf(each) === label).map(urlOf)
      const differs = (part: 'host' | 'hostname'): boolean =>
        others.some((other) => other?.[part] !== own?.[part])
      const port = own?.port && `:${own.port}`
      const host = differs('hostname') ? own?.host : differs('host') && port
      // Without the name of a server, the label is its host
      const suffix = workspace.connection ? host && ` ${host}` : port
      const name = suffix ? label + suffix : label
      const number = (counts.get(name) ?? 0) + 1
      counts.set(name, number)
      const which = tab.querySelector('.which')
      if (which) which.textContent = name.slice(label.length) + (number > 1 ? ` ${number}` : '')
      // Also the description for screen readers
      const { url } = workspace.settings.get()
      tab.title = tabs.size > 1 ? `${url}\nDelete closes this tab` : url
    }
  }

  /** The tab of a workspace, which is created once, so that it keeps the focus. */
  function tabOf(workspace: Workspace): HTMLButtonElement {
    const known = tabs.get(workspace)
    if (known) return known
    const name = el('span', { class: 'name' })
    const question = el('span', { class: 'asks', hidden: true }, icon('question'))
    const note = el('span', { class: 'hidden' })
    // Not a button, because a tab contains no controls
    const cross = el(
      'span',
      { class: 'close', 'aria-hidden': 'true', title: 'Close' },
      icon('cross'),
    )
    const tab = el(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${workspace.id}`,
        'aria-controls': 'workspace',
        'aria-keyshortcuts': 'Delete',
      },
      el('span', { class: 'dot', 'aria-hidden': 'true' }),
      name,
      el('span', { class: 'which' }),
      note,
      question,
      cross,
    )
    tab.addEventListener('click', () => select(workspace))
    cross.addEventListener('click', (event) => {
      event.stopPropagation()
      close(workspace)
    })
    const update = (): void => {
      const state = markOf(workspace.status.get())
      const isRunning = runningCalls(workspace.history.calls).length > 0
      tab.dataset['state'] = state
      tab.toggleAttribute('data-running', isRunning)
      name.textContent = labelOf(workspace)
      nameApart()
      question.hidden = workspace.waiting.get() === 0
      tab.toggleAttribute('data-asks', !question.hidden)
      note.textContent = [
        state === 'connected' ? '' : `, ${notes[state]}`,
        isRunning ? ', a call is running' : '',
        question.hidden ? '' : `, ${ASKS}`,
      ].join('')
    }
    workspace.status.subscribe(update)
    workspace.settings.subscribe(update)
    workspace.history.calls.subscribe(update)
    workspace.waiting.subscribe((count) => {
      update()
      if (count === 0) return
      announce(`${labelOf(workspace)} ${ASKS}`)
      // It may be as wide as before
      reveal()
    })
    tabs.set(workspace, tab)
    update()
    resizes.observe(tab)
    return tab
  }

  list.addEventListener('keydown', (event) => {
    const all = [...tabs]
    const index = all.findIndex(([, tab]) => tab === document.activeElement)
    const target = targets[event.key]?.(index, all.length)
    const [workspace, tab] = all[target ?? index] ?? []
    if (!workspace || !tab) return
    if (event.key === 'Delete') close(workspace)
    else if (target === undefined) return
    else {
      select(workspace)
      tab.focus()
    }
    event.preventDefault()
  })

  return {
    draw(workspaces, active) {
      const { activeElement } = document
      const hadFocus = list.contains(activeElement) || activeElement === closer
      selected = active
      closer.hidden = workspaces.length === 1
      for (const workspace of tabs.keys()) {
        if (!workspaces.includes(workspace)) tabs.delete(workspace)
      }
      const shown = workspaces.map(tabOf)
      // Tabs that stay in their place keep the focus
      if (shown.some((tab, index) => list.children[index] !== tab) || list.children[shown.length]) {
        list.replaceChildren(...shown)
      }
      for (const [workspace, tab] of tabs) {
        tab.ariaSelected = String(workspace === active)
        tab.tabIndex = workspace === active ? 0 : -1
      }
      nameApart()
      list.dataset['count'] = `${shown.length}`
      const tab = tabOf(active)
      find('workspace', HTMLElement).setAttribute('aria-labelledby', tab.id)
      if (shown.length > 1) reveal()
      if (hadFocus) tab.focus()
    },
  }
}

/** The index of the tab to select after a key, among `count` tabs. */
const targets: { readonly [key: string]: (index: number, count: number) => number } = {
  ArrowLeft: (index, count) => (index + count - 1) % count,
  ArrowRight: (index, count) => (index + 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
}

/** The width of an end of the row that fades out, as in `tabs.css`. */
const FADE = 28
/** What screen readers say after the name of a server. */
const ASKS = 'has a question'
const notes = {
  idle: 'not connected',
  connecting: 'connecting',
  'sign-in': 'waiting for sign-in',
  lost: 'reconnecting',
  partial: 'a list failed',
  failed: 'failed',
}

function labelOf(workspace: Workspace): string {
  const { connection, settings } = workspace
  if (connection) return nameOf(connection.client)
  const url = settings.get().url || 'New server'
  return isDomain(url) ? url : (urlOf(workspace)?.hostname ?? url)
}

function urlOf({ settings }: Workspace): URL | undefined {
  const { url } = settings.get()
  return URL.canParse(url) ? new URL(url) : undefined
}
