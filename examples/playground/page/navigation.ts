/**
 * The links to all entries of a server's lists. They can be filtered, and long lists are shown in parts.
 *
 * @see https://www.w3.org/WAI/tutorials/menus/structure/
 */
import { titleOf, type Catalog, type Named } from './catalog.ts'
import { el, find } from './dom.ts'
import { hrefOf, type Kind } from './route.ts'

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
/** How many entries of a list are shown at a time. */
const PAGE_SIZE = 100

const lists = find('lists', HTMLElement)
const filter = find('filter', HTMLInputElement)
const matches = find('matches', HTMLElement)
let sections: [title: string, entries: Entry[]][] = []

/** Shows the entries of a catalog. Without a catalog, shows none. */
export function showCatalog(catalog: Catalog | undefined): void {
  sections = catalog ? sectionsOf(catalog) : []
  const count = sections.reduce((sum, [, entries]) => sum + entries.length, 0)
  filter.hidden = count <= MAX_UNFILTERED
  if (filter.hidden) filter.value = ''
  applyFilter()
  if (catalog && count === 0) matches.textContent = 'The server lists nothing.'
}

function sectionsOf({ tool, resource, template, prompt }: Catalog): typeof sections {
  return [
    ['Tools', tool.map((each) => entry('tool', each.name, each))],
    ['Resources', resource.map((each) => entry('resource', each.uri, each))],
    ['Templates', template.map((each) => entry('template', each.uriTemplate, each))],
    ['Prompts', prompt.map((each) => entry('prompt', each.name, each))],
  ]
}

function entry(kind: Kind, key: string, listed: ListedEntry): Entry {
  const title = titleOf(listed)
  const { description = '' } = listed
  const text = `${title} ${key} ${description}`.toLowerCase()
  return { href: hrefOf({ kind, key }), title, note: description, text }
}

/** Shows the entries that contain every word of the filter, or a message if there are none. */
function applyFilter(): void {
  const words = filter.value.toLowerCase().split(/\s+/)
  const parts: HTMLElement[] = []
  for (const [title, entries] of sections) {
    const found = entries.filter(({ text }) => words.every((word) => text.includes(word)))
    if (found.length > 0) parts.push(section(title, found))
  }
  lists.replaceChildren(...parts)
  matches.textContent = parts.length === 0 && filter.value !== '' ? 'Nothing matches' : ''
  markCurrent()
}

function section(title: string, entries: readonly Entry[]): HTMLElement {
  const list = el('ul')
  const more = el('button', { type: 'button', class: 'quiet small' })
  /** Shows the next part of the list, and returns its first link. */
  function show(): HTMLElement | undefined {
    const links = entries.slice(list.childElementCount).slice(0, PAGE_SIZE).map(link)
    list.append(...links.map((each) => el('li', {}, each)))
    const left = entries.length - list.childElementCount
    more.hidden = left === 0
    more.textContent = `Show ${Math.min(PAGE_SIZE, left)} more of ${left.toLocaleString('en')}`
    return links[0]
  }
  show()
  more.addEventListener('click', () => {
    show()?.focus()
    markCurrent()
  })
  const count = el('span', { class: 'count' }, entries.length.toLocaleString('en'))
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

/** Marks and returns the link to the current view. */
export function markCurrent(): Element | null {
  for (const each of lists.querySelectorAll('a')) {
    each.ariaCurrent = each.hash === location.hash ? 'page' : null
  }
  return lists.querySelector('[aria-current]')
}

/** Sets up the filter, and the arrow keys that move between the links. */
export function setUpNavigation(): void {
  filter.addEventListener('input', applyFilter)
  find('catalog', HTMLElement).addEventListener('keydown', ({ key }) => {
    const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    const stops = [filter, ...lists.querySelectorAll<HTMLElement>('a, button:not([hidden])')]
    const index = stops.findIndex((stop) => stop === document.activeElement)
    stops[index + step]?.focus()
  })
}
