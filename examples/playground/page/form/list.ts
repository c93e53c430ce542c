/**
 * The field of an array. The user can add and remove items.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#name-items
 */
import type { JsonObject } from 'edgewise/browser'
import { el } from '../dom.ts'
import { icon } from '../icon.ts'
import { fieldset, undefinedIfEmpty, type Field, type FieldFacts, type MakeField } from './label.ts'
import { resolve } from './resolve.ts'

/** The maximum number of items before the user adds any. */
const MAX_EMPTY = 20

/** Creates a fieldset with the items and a button that adds one. */
export function list(facts: FieldFacts, items: JsonObject, makeField: MakeField): Field {
  const minItems = facts.required ? Math.min(Number(facts.schema['minItems']) || 0, MAX_EMPTY) : 0
  const room = Math.floor(facts.room / Math.max(minItems, 1))
  const fields = new Map<HTMLElement, Field>()
  /** The value of an empty item, which cannot be omitted. */
  const blank = resolve(items, facts.root)['type'] === 'string' ? '' : null
  const rows = el('ol', { class: 'rows' })
  const add = el(
    'button',
    { type: 'button', class: 'quiet small', onclick: () => focusIn(append(undefined)) },
    icon('plus'),
    `Add to ${facts.title}`,
  )

  function append(value: unknown): HTMLElement {
    const name = `${facts.title} ${fields.size + 1}`
    const item = makeField({
      name,
      schema: items,
      required: true,
      root: facts.root,
      depth: facts.depth + 1,
      room,
      value,
      quiet: true,
    })
    const remove = el(
      'button',
      { type: 'button', class: 'quiet icon', 'aria-label': `Remove ${name}`, title: 'Remove' },
      icon('cross'),
    )
    const row = el('li', {}, item.element, remove)
    remove.addEventListener('click', () => {
      const next = row.nextElementSibling ?? row.previousElementSibling
      fields.delete(row)
      row.remove()
      if (next) focusIn(next)
      else add.focus()
    })
    fields.set(row, item)
    rows.append(row)
    return row
  }

  for (const value of Array.isArray(facts.value) ? facts.value : []) append(value)
  while (fields.size < minItems) append(undefined)
  return {
    element: fieldset(facts, 'list', rows, add),
    read: () =>
      undefinedIfEmpty(
        [...fields.values()].map((item) => item.read() ?? blank),
        facts,
      ),
    part: (key) => [...fields.values()][Number(key)],
  }
}

function focusIn(element: Element): void {
  element.querySelector<HTMLElement>('input, select, textarea, button')?.focus()
}
