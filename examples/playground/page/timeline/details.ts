/** What an entry consists of: its messages, its HTTP exchanges and their timing. */
import { copyButton } from '../copy.ts'
import { grouped } from '../count.ts'
import { el } from '../dom.ts'
import { jsonBlock } from '../json.ts'
import { duration } from '../time.ts'
import type { Entry, Part } from './entry.ts'
import { entryJson } from './entry-json.ts'

/** The expanded content of a row. */
export interface Details {
  readonly element: HTMLElement
  /** Adds the parts that are new, and updates the others. */
  update(): void
}

/** Creates the expanded content of an entry. */
export function entryDetails(entry: Entry): Details {
  const facts = el('p', { class: 'note' })
  const list = el('ol', { class: 'parts' })
  const omitted = el('p', { class: 'note' })
  const asJson = (): string => JSON.stringify(entryJson(entry), null, 2)
  const tools = el('div', { class: 'tools' }, copyButton('Copy the entry', asJson, 'Copy'))
  if (entry.parts.some(({ request }) => request)) void addCurl(tools, entry)
  const element = el(
    'div',
    { class: 'details' },
    el('div', { class: 'facts-line' }, facts, tools),
    list,
    omitted,
  )
  const items = new Map<Part, PartItem>()

  function update(): void {
    facts.textContent = factsOf(entry)
    for (const part of entry.parts) {
      const item = items.get(part)
      if (item) item.update()
      else {
        const created = partItem(part, entry.start)
        items.set(part, created)
        list.append(created.element)
      }
    }
    omitted.hidden = entry.omitted === 0
    omitted.textContent = `${grouped(entry.omitted)} more are not shown.`
  }
  update()
  return { element, update }
}

/** Adds a button that copies the request as a command. */
async function addCurl(tools: HTMLElement, entry: Entry): Promise<void> {
  const { entryCurl } = await import('./entry-curl.ts')
  tools.append(copyButton('Copy the request as curl', () => entryCurl(entry), 'curl'))
}

function factsOf({ parent, parts }: Entry): string {
  const about = parent?.about === undefined ? '' : ` ${parent.about}`
  const length = parts.reduce((sum, { body }) => sum + (body?.length ?? 0), 0)
  return [
    ...(parent ? [`Belongs to ${parent.title}${about}`] : []),
    ...(length > 0 ? [`${grouped(length)} characters`] : []),
  ].join(' · ')
}

interface PartItem {
  readonly element: HTMLElement
  update(): void
}

function partItem(part: Part, start: number): PartItem {
  const label = el('span', { class: 'part' })
  const http = el('pre', { class: 'http' })
  const { body, isMain = false } = part
  const isPlain = !part.lines && !body
  const line = isPlain ? el('p', {}, label) : el('summary', {}, label)
  const content = isPlain ? line : el('details', { open: isMain }, line)
  const element = el('li', {}, content)

  function update(): void {
    const { at, end, title, note, failed = false, lines } = part
    const took = end === undefined || end === at ? '' : duration(end - at)
    label.replaceChildren(
      el('span', { class: 'offset' }, `+${duration(at - start)}`),
      el('span', { class: 'what' }, title, ' ', el('span', { class: 'note' }, note)),
      el('span', { class: 'took' }, took),
    )
    label.toggleAttribute('data-failed', failed)
    if (lines) http.textContent = lines.join('\n')
  }

  /** Adds the content when it is first shown, because JSON may be long. */
  function fill(): void {
    if (content.childElementCount > 1) return
    if (part.lines) content.append(http)
    if (body?.text !== undefined) content.append(el('pre', { class: 'http' }, body.text))
    else if (body) content.append(jsonBlock(body.json))
  }
  if (isMain) fill()
  else content.addEventListener('toggle', fill)
  update()
  return { element, update }
}
