/**
 * The links to all entries of a server's lists. They can be filtered, and long lists are shown in parts.
 *
 * @see https://www.w3.org/WAI/tutorials/menus/structure/
 */
import type { Tool } from 'edgewise/browser'
import { titleOf, type Catalog, type Named } from './catalog.ts'
import { nameOf, type Connection } from './connection/connection.ts'
import { grouped } from './count.ts'
import { el, find } from './dom.ts'
import { icon } from './icon.ts'
import { runningCalls } from './history/calls.ts'
import { hrefOf, type EntryKind } from './route.ts'
import { offersEvents } from './views/events.ts'
import { shorten } from './shorten.ts'
import type { Workspace } from './workspace.ts'

/** One link. */
interface Entry {
  href: string
  title: string
  note: string
  /** The text that the filter searches, in lower case. */
  text: string
}

/** An entry of a list, from which a link is created. */
interface ListedEntry extends Named {
  description?: string
}

/** The filter is shown if there are more entries than this. */
const MAX_UNFILTERED = 8
/** The maximum length of a description in a link, in characters. */
const MAX_NOTE = 300
/** How many entries of a list are shown at a time. */
const PAGE_SIZE = 100

/** The entries of one list, with its title. */
type Section = [title: string, entries: Entry[]]

/** The links, which show the lists of one workspace. */
export interface Navigation {
  /** Shows the entries of a workspace's lists. */
  show(workspace: Workspace): void
  /** Marks and returns the link to the current view. */
  markCurrent(): Element | null
}

/** Sets up the links, their filter, and the arrow keys that move between them. */
export function setUpNavigation(): Navigation {
  const catalog = find('catalog', HTMLElement)
  const pages = find('pages', HTMLElement)
  const lists = find('lists', HTMLElement)
  const filter = find('filter', HTMLInputElement)
  const matches = find('matches', HTMLElement)
  let sections: Section[] = []
  let shown: Workspace | undefined
  let stop = (): void => {}
  /** The fragments of the tools with an invalid schema. */
  let invalid: ReadonlySet<string> = new Set()

  /** Shows the entries that contain every word of the filter, or a message if there are none. */
  function applyFilter(): void {
    const words = filter.value.toLowerCase().split(/\s+/)
    const parts: HTMLElement[] = []
    for (const [title, entries] of sections) {
      const found = entries.filter(({ text }) => words.every((word) => text.includes(word)))
      if (found.length > 0) parts.push(section(title, found, markLinks))
    }
    lists.replaceChildren(...parts)
    matches.textContent = parts.length === 0 && filter.value !== '' ? 'Nothing matches.' : ''
    markLinks()
  }

  function markLinks(): void {
    markCurrent()
    markInvalid()
    markRunning()
  }

  /** Marks the links to tools with an invalid schema. */
  function markInvalid(): void {
    for (const each of invalid.size === 0 ? [] : lists.querySelectorAll('a')) {
      if (!invalid.has(each.hash) || each.querySelector('.flag')) continue
      const mark = el('span', { class: 'flag', title: 'The schema is not valid' }, icon('alert'))
      mark.append(el('span', { class: 'hidden' }, 'Its schema is not valid'))
      each.append(mark)
    }
  }

  /** Marks the links to entries whose calls are running. */
  function markRunning(): void {
    const calls = shown ? runningCalls(shown.history.calls) : []
    const running = new Set(calls.map(({ kind, key }) => hrefOf({ kind, key })))
    for (const each of lists.querySelectorAll('a')) {
      const mark = each.querySelector('.busy')
      if (running.has(each.hash) === (mark !== null)) continue
      if (mark) mark.remove()
      else each.append(el('span', { class: 'busy' }, el('span', { class: 'hidden' }, 'Running')))
    }
  }

  /** Finds the tools with an invalid schema. The code for that is loaded on demand. */
  async function findInvalid(workspace: Workspace, tools: readonly Tool[]): Promise<void> {
    if (tools.length === 0) return
    const { findInvalidTools } = await import('./schema-problems.ts')
    const names = await findInvalidTools(tools)
    if (shown !== workspace || workspace.connection?.catalog.tool !== tools) return
    invalid = new Set([...names].map((key) => hrefOf({ kind: 'tool', key })))
    markInvalid()
  }

  function markCurrent(): Element | null {
    const hash = location.hash.replace(/^(#\/)?$/, '#/server')
    for (const each of catalog.querySelectorAll('a')) {
      each.ariaCurrent = each.hash === hash ? 'page' : null
    }
    return lists.querySelector('[aria-current]')
  }

  filter.addEventListener('input', () => {
    if (shown) shown.filter = filter.value
    applyFilter()
  })
  catalog.addEventListener('keydown', (event) => {
    const { key } = event
    const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    const stops = [filter, ...lists.querySelectorAll<HTMLElement>('a, button:not([hidden])')]
    const index = stops.findIndex((stop) => stop === document.activeElement)
    const next = stops[index + step]
    if (!next) return
    // The key would also scroll
    event.preventDefault()
    next.focus()
  })

  return {
    show(workspace) {
      if (workspace !== shown) {
        stop()
        stop = workspace.history.calls.subscribe(markRunning)
      }
      shown = workspace
      const { connection } = workspace
      sections = connection ? sectionsOf(connection.catalog) : []
      const count = sections.reduce((sum, [, entries]) => sum + entries.length, 0)
      filter.hidden = count <= MAX_UNFILTERED
      filter.value = filter.hidden ? '' : workspace.filter
      pages.replaceChildren(...(connection ? pageLinks(connection) : []))
      invalid = new Set()
      applyFilter()
      if (connection) void findInvalid(workspace, connection.catalog.tool)
      if (connection?.catalog.failures.length === 0 && count === 0) {
        matches.textContent = 'The server lists nothing.'
      }
    },
    markCurrent,
  }
}

/** The links to the views of the server itself, and the lists that could not be fetched. */
function pageLinks({ client, catalog: { failures } }: Connection): HTMLElement[] {
  return [
    el(
      'a',
      { href: '#/server' },
      el('span', { class: 'title' }, nameOf(client)),
      el('span', { class: 'note' }, 'Overview'),
    ),
    el(
      'div',
      { class: 'more' },
      el('a', { href: '#/history' }, 'History'),
      el('a', { href: '#/check' }, 'Check'),
      offersEvents(client) && el('a', { href: '#/events' }, 'Events'),
    ),
    ...failures.map(({ method, error }) => {
      const reason = error instanceof Error ? error.message : String(error)
      return el('p', { class: 'failed' }, icon('alert'), `${method} failed: ${reason}`)
    }),
  ]
}

function sectionsOf({ tool, resource, template, prompt }: Catalog): Section[] {
  return [
    ['Tools', tool.map((each) => entry('tool', each.name, each))],
    ['Resources', resource.map((each) => entry('resource', each.uri, each))],
    ['Templates', template.map((each) => entry('template', each.uriTemplate, each))],
    ['Prompts', prompt.map((each) => entry('prompt', each.name, each))],
  ]
}

function entry(kind: EntryKind, key: string, listed: ListedEntry): Entry {
  const title = titleOf(listed)
  const { description = '' } = listed
  const text = `${title} ${key} ${description}`.toLowerCase()
  return { href: hrefOf({ kind, key }), title, note: shorten(String(description), MAX_NOTE), text }
}

function section(title: string, entries: readonly Entry[], onMore: () => void): HTMLElement {
  const list = el('ul')
  const more = el('button', { type: 'button', class: 'quiet small' })
  /** Shows the next part of the list, and returns its first link. */
  function show(): HTMLElement | undefined {
    const links = entries.slice(list.childElementCount).slice(0, PAGE_SIZE).map(link)
    list.append(...links.map((each) => el('li', {}, each)))
    const left = entries.length - list.childElementCount
    more.hidden = left === 0
    more.textContent = `Show ${Math.min(PAGE_SIZE, left)} more of ${grouped(left)}`
    return links[0]
  }
  show()
  more.addEventListener('click', () => {
    show()?.focus()
    onMore()
  })
  const count = el('span', { class: 'count' }, grouped(entries.length))
  return el('section', {}, el('h2', {}, title, count), list, more)
}

function link({ href, title, note }: Entry): HTMLElement {
  return el(
    'a',
    { href },
    el('span', { class: 'title' }, title),
    note !== '' && el('span', { class: 'note' }, note),
  )
}
