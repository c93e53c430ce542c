/** The head of the timeline: search, filters, and the actions. */
import { grouped } from '../count.ts'
import { el, newId } from '../dom.ts'
import { icon } from '../icon.ts'
import { kinds, type Kind } from './entry.ts'
import { createFilter, type Filter } from './filter.ts'
import { isLevel } from './levels.ts'

/** The delay after typing until the search begins, in milliseconds. */
const SEARCH_DELAY_MS = 150

/** The actions of the toolbar. */
export interface ToolbarActions {
  onFilter(filter: Filter): void
  onClear(): void
  onExport(): void
  onImport(file: File): void
}

/** The toolbar. */
export interface Toolbar {
  readonly element: HTMLElement
  /** Shows the number of entries, and of those that the filter selects. */
  setCount(shown: number, all: number): void
  /** Whether the entries can be cleared. */
  setReadOnly(isReadOnly: boolean): void
}

/** Creates the toolbar. The event `close` is dispatched when the user closes the panel. */
export function createToolbar({ onFilter, onClear, onExport, onImport }: ToolbarActions): Toolbar {
  const count = el('span', { class: 'count' })
  const order = el('span', {}, ', newest last')
  const line = el('span', { class: 'order' }, count, order)
  const search = el('input', {
    type: 'search',
    'aria-label': 'Search the timeline',
    placeholder: 'Search',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  const filtersId = newId('filters')
  const toggle = el(
    'button',
    {
      type: 'button',
      class: 'small',
      'aria-expanded': 'false',
      'aria-controls': filtersId,
      onclick: () => showFilters(filters.hidden === true),
    },
    icon('filter'),
    'Filter',
  )
  const errors = filterChip('Errors only')
  const chips = Object.entries(kinds).map(([kind, name]) => filterChip(name, kind))
  const level = el(
    'select',
    { 'aria-label': 'Level' },
    el('option', { value: 'debug' }, 'All levels'),
    el('option', { value: 'info' }, 'Info and above'),
    el('option', { value: 'warning' }, 'Warnings and errors'),
  )
  const filters = el(
    'div',
    {
      id: filtersId,
      class: 'filters',
      role: 'group',
      'aria-label': 'Kinds and level',
      hidden: true,
    },
    errors,
    ...chips,
    level,
  )
  const clear = action('Clear', onClear)
  const file = el('input', { type: 'file', accept: '.json,application/json', hidden: true })
  file.addEventListener('change', () => {
    const [chosen] = file.files ?? []
    if (chosen) onImport(chosen)
    // The same file can be chosen again
    file.value = ''
  })
  const close = el(
    'button',
    {
      type: 'button',
      class: 'quiet icon close',
      'aria-label': 'Close the timeline',
      title: 'Close',
    },
    icon('cross'),
  )
  close.addEventListener('click', () => {
    element.dispatchEvent(new Event('close', { bubbles: true }))
  })
  const element = el(
    'header',
    {},
    el('h2', {}, 'Timeline ', line),
    el(
      'div',
      { class: 'actions' },
      clear,
      action('Export', onExport),
      action('Import', () => file.click()),
      file,
    ),
    close,
    el('div', { class: 'find' }, search, toggle),
    filters,
  )

  function showFilters(isShown: boolean): void {
    filters.hidden = !isShown
    toggle.ariaExpanded = String(isShown)
  }

  function apply(): void {
    const chosen = chips.filter(isPressed).map(kindOf)
    const value = isPressed(errors) ? 'error' : level.value
    toggle.toggleAttribute('data-active', chosen.length > 0 || value !== 'debug')
    onFilter(createFilter(chosen, isLevel(value) ? value : 'debug', search.value))
  }

  let searchTimer: ReturnType<typeof setTimeout> | undefined
  search.addEventListener('input', () => {
    clearTimeout(searchTimer)
    searchTimer = setTimeout(apply, SEARCH_DELAY_MS)
  })
  level.addEventListener('change', apply)
  for (const chip of [errors, ...chips]) {
    chip.addEventListener('click', () => {
      chip.ariaPressed = String(!isPressed(chip))
      apply()
    })
  }

  return {
    element,
    setCount(shown, all) {
      const total = grouped(all)
      count.textContent = shown === all ? total : `${grouped(shown)} of ${total}`
      order.hidden = shown !== all
      line.hidden = all === 0
    },
    setReadOnly(isReadOnly) {
      clear.hidden = isReadOnly
    },
  }
}

function action(name: string, act: () => void): HTMLButtonElement {
  return el('button', { type: 'button', class: 'quiet small', onclick: act }, name)
}

function filterChip(name: string, kind?: string): HTMLButtonElement {
  return el(
    'button',
    { type: 'button', class: 'filter-chip', 'aria-pressed': 'false', 'data-kind': kind },
    name,
  )
}

function isPressed({ ariaPressed }: HTMLElement): boolean {
  return ariaPressed === 'true'
}

function kindOf({ dataset }: HTMLElement): Kind {
  return dataset['kind'] as Kind
}
