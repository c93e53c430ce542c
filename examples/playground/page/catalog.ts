/**
 * The lists of what a server offers, and the links to each thing in them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { Client, Prompt, Resource, ResourceTemplate, Tool } from 'edgewise/browser'
import { el, find } from './dom.ts'
import { hrefOf, type Kind } from './route.ts'

/** Everything that the server lists. */
export interface Catalog {
  tool: Tool[]
  resource: Resource[]
  template: ResourceTemplate[]
  prompt: Prompt[]
}

/**
 * Asks for every list that the server has, or may have when it does not say.
 *
 * @param onError Learns of a list that could not be had, which is then empty.
 */
export async function loadCatalog(
  client: Client,
  onError: (error: unknown) => void,
): Promise<Catalog> {
  const offered = client.serverCapabilities
  const list = async <T>(name: 'tools' | 'resources' | 'prompts', get: () => Promise<T[]>) => {
    if (offered && !offered[name]) return []
    return get().catch((error: unknown) => {
      onError(error)
      return []
    })
  }
  const [tool, resource, template, prompt] = await Promise.all([
    list('tools', () => client.listAllTools()),
    list('resources', () => client.listAllResources()),
    list('resources', () => client.listAllResourceTemplates()),
    list('prompts', () => client.listAllPrompts()),
  ])
  return { tool, resource, template, prompt }
}

interface Entry {
  kind: Kind
  key: string
  title: string
  note: string | undefined
}

/** With more entries than these there is a filter. */
const MANY = 8

/** Fills the navigation; without a catalog, empties it. */
export function showCatalog(catalog: Catalog | undefined): void {
  const lists = find('lists', HTMLElement)
  lists.replaceChildren(...(catalog ? sections(catalog) : []))
  const count = lists.querySelectorAll('li').length
  const filter = find('filter', HTMLInputElement)
  filter.hidden = count <= MANY
  if (filter.hidden) filter.value = ''
  applyFilter()
  markCurrent()
}

/** Hides the links that do not match, and says so when none does. */
function applyFilter(): void {
  const lists = find('lists', HTMLElement)
  const wanted = find('filter', HTMLInputElement).value.trim().toLowerCase()
  for (const item of lists.querySelectorAll('li')) {
    item.hidden = !item.textContent.toLowerCase().includes(wanted)
  }
  for (const part of lists.querySelectorAll('section')) {
    part.hidden = !part.querySelector('li:not([hidden])')
  }
  const isEmpty = wanted !== '' && !lists.querySelector('li:not([hidden])')
  find('matches', HTMLElement).textContent = isEmpty ? 'Nothing matches' : ''
}

function sections(catalog: Catalog): HTMLElement[] {
  const lists: [string, Entry[]][] = [
    ['Tools', catalog.tool.map((tool) => entry('tool', tool.name, tool))],
    ['Resources', catalog.resource.map((resource) => entry('resource', resource.uri, resource))],
    [
      'Templates',
      catalog.template.map((template) => entry('template', template.uriTemplate, template)),
    ],
    ['Prompts', catalog.prompt.map((prompt) => entry('prompt', prompt.name, prompt))],
  ]
  const filled = lists.filter(([, entries]) => entries.length > 0)
  if (filled.length === 0) return [el('p', { class: 'empty' }, 'The server lists nothing.')]
  return filled.map(([title, entries]) => section(title, entries))
}

function entry(
  kind: Kind,
  key: string,
  { name, title, description }: { name: string; title?: string; description?: string },
): Entry {
  return { kind, key, title: title ?? name, note: description }
}

function section(title: string, entries: readonly Entry[]): HTMLElement {
  return el(
    'section',
    {},
    el('h2', {}, title, el('span', { class: 'count' }, entries.length)),
    el(
      'ul',
      {},
      ...entries.map((each) =>
        el(
          'li',
          {},
          el(
            'a',
            { href: hrefOf(each) },
            el('span', { class: 'title' }, each.title),
            each.note !== undefined && el('span', { class: 'note' }, each.note),
          ),
        ),
      ),
    ),
  )
}

/** Marks the link to what the page shows. */
export function markCurrent(): void {
  for (const link of find('lists', HTMLElement).querySelectorAll('a')) {
    if (link.hash === location.hash) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
}

/** Makes the filter hide what does not match, and the arrow keys walk through the links. */
export function setUpCatalog(): void {
  const filter = find('filter', HTMLInputElement)
  const lists = find('lists', HTMLElement)
  filter.addEventListener('input', applyFilter)
  find('catalog', HTMLElement).addEventListener('keydown', ({ key }) => {
    const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    const stops = [filter, ...lists.querySelectorAll<HTMLElement>('li:not([hidden]) > a')]
    const at = stops.findIndex((stop) => stop === document.activeElement)
    stops[at + step]?.focus()
  })
}
