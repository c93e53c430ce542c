/**
 * Shows a value as JSON, whose objects and arrays can be folded. Only visible members are in the document, so
 * that large values are shown quickly.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8259
 */
import { copyButton } from './copy.ts'
import { grouped } from './count.ts'
import { breakable, el } from './dom.ts'
import { childrenOf, openDepth } from './json-depth.ts'

/** How many members of an object or array are shown at a time. */
const PAGE_SIZE = 100
/** The maximum number of members and characters of the preview of a folded object. */
const MAX_PREVIEWED = 4
const MAX_PREVIEW = 60
/** The maximum length of a string before the user expands it, in characters. */
const MAX_STRING = 1_000

/**
 * Creates a block with the JSON of a value. The arrow keys move between its parts, and fold them.
 *
 * @param label What it is, for screen readers.
 */
export function jsonBlock(value: unknown, label = 'JSON'): HTMLElement {
  const block = el(
    'div',
    { class: 'json', tabindex: 0, role: 'group', 'aria-label': label },
    copyButton(`Copy ${label}`, () => jsonText(value)),
    el('code', {}, memberLine(undefined, value, 0, openDepth(value), '')),
  )
  block.addEventListener('keydown', moveBetweenParts)
  return block
}

/** The indented JSON of a value. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'undefined'
}

/** Parses JSON. Returns `undefined` if the text is invalid. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Creates the line of a member, and the lines inside of it.
 *
 * @param key The name of the member; `undefined` for an item and the whole value.
 * @param limit The depth from which objects and arrays are folded.
 * @param end The comma after it, if it is not the last one.
 */
function memberLine(
  key: string | undefined,
  value: unknown,
  depth: number,
  limit: number,
  end: string,
): HTMLElement {
  const line = el('span', { class: 'line' })
  const name =
    key === undefined ? [] : [el('span', { class: 'key' }, ...breakable(JSON.stringify(key))), ': ']
  const children = childrenOf(value)
  if (children.length === 0) {
    line.append(...name, scalar(value), end)
    return line
  }
  const isArray = Array.isArray(value)
  const count = countOf(children.length, isArray ? 'item' : 'member')
  const twist = el('button', { type: 'button', class: 'twist', tabindex: -1 })
  twist.ariaLabel = key === undefined ? count : `${key}, ${count}`
  const members = el('span', { class: 'members' })
  const summary = el('span', { class: 'folded' })

  function fold(isOpen: boolean, innerLimit: number): void {
    if (isOpen && !members.hasChildNodes()) showMembers(members, children, depth + 1, innerLimit)
    twist.ariaExpanded = String(isOpen)
    members.hidden = !isOpen
    // Otherwise a search for a text would find it twice
    summary.textContent = isOpen ? '' : (preview(children) ?? count)
    summary.hidden = isOpen
  }
  const toggle = (): void =>
    fold(twist.ariaExpanded !== 'true', depth + openDepth(value, PAGE_SIZE))
  twist.addEventListener('click', toggle)
  summary.addEventListener('click', toggle)
  fold(depth < limit, limit)
  const [start, close] = isArray ? ['[', ']'] : ['{', '}']
  line.append(twist, ...name, start, summary, members, el('span', { class: 'end' }, close + end))
  return line
}

/** Adds the next members, and a button for those that remain. */
function showMembers(
  list: HTMLElement,
  children: readonly [string | undefined, unknown][],
  depth: number,
  limit: number,
  from = 0,
): void {
  const to = Math.min(from + PAGE_SIZE, children.length)
  for (const [index, [key, value]] of children.slice(from, to).entries()) {
    const isLast = from + index === children.length - 1
    list.append(memberLine(key, value, depth, limit, isLast ? '' : ','))
  }
  const left = children.length - to
  if (left === 0) return
  const text = `Show ${Math.min(PAGE_SIZE, left)} more of ${grouped(left)}`
  const more = moreButton(text, () => {
    const previous = list.lastElementChild?.previousElementSibling
    more.remove()
    showMembers(list, children, depth, limit, to)
    const next = previous?.nextElementSibling?.querySelector<HTMLElement>('.twist')
    ;(next ?? list.closest<HTMLElement>('.json'))?.focus()
  })
  list.append(more)
}

function scalar(value: unknown): Node {
  if (typeof value !== 'string') {
    return el('span', { class: 'value' }, JSON.stringify(value) ?? 'undefined')
  }
  if (/^https?:\/\/\S{1,2000}$/.test(value)) {
    const target = { target: '_blank', rel: 'noreferrer', tabindex: -1 }
    return el('a', { class: 'string', href: value, ...target }, ...breakable(JSON.stringify(value)))
  }
  if (value.length <= MAX_STRING) return el('span', { class: 'string' }, JSON.stringify(value))
  const part = el('span', { class: 'string' }, `${JSON.stringify(value.slice(0, MAX_STRING))}…`)
  const more = moreButton(`Show all ${grouped(value.length)} characters`, () => {
    part.textContent = JSON.stringify(value)
    more.remove()
    part.closest<HTMLElement>('.json')?.focus()
  })
  return el('span', {}, part, ' ', more)
}

/** The beginning of an object in one line, such as `id: 1, name: "Oslo", …`; `undefined` if it says little. */
function preview(children: readonly [string | undefined, unknown][]): string | undefined {
  const parts = children
    .slice(0, MAX_PREVIEWED)
    .filter(([key, value]) => key !== undefined && (typeof value !== 'object' || value === null))
    .map(([key, value]) => {
      const shown = typeof value === 'string' ? value.slice(0, MAX_PREVIEW) : value
      return `${key}: ${JSON.stringify(shown)}`
    })
  if (parts.length === 0) return undefined
  const text = parts.join(', ').slice(0, MAX_PREVIEW)
  return text.length < MAX_PREVIEW && parts.length === children.length ? text : `${text}, …`
}

function moreButton(text: string, onclick: () => void): HTMLElement {
  return el('button', { type: 'button', class: 'more', tabindex: -1, onclick }, text)
}

function countOf(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Moves between the parts that can be folded, expanded or followed, and folds the current one. */
function moveBetweenParts(event: KeyboardEvent): void {
  const { key, currentTarget: block } = event
  if (!(block instanceof HTMLElement)) return
  const { activeElement } = document
  const isOpen = activeElement?.ariaExpanded
  if (activeElement instanceof HTMLElement && isOpen !== null && isOpen !== undefined) {
    if (key === (isOpen === 'true' ? 'ArrowLeft' : 'ArrowRight')) {
      event.preventDefault()
      return activeElement.click()
    }
  }
  const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
  if (step === 0) return
  const parts = [...block.querySelectorAll<HTMLElement>('.twist, .more, a')].filter(
    (part) => part.offsetParent !== null,
  )
  const index = parts.findIndex((part) => part === activeElement)
  const next = parts[index + step]
  if (!next || (index === -1 && step === -1)) return
  event.preventDefault()
  next.focus()
}
