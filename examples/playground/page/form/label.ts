/**
 * The shared parts of the controls of a form: their options and their labels.
 *
 * @see https://www.w3.org/WAI/tutorials/forms/labels/
 */
import type { JsonObject } from 'edgewise/browser'
import { el } from '../dom.ts'
import { shorten } from '../shorten.ts'

/** A control with its label, and a function that reads its value. */
export interface Field {
  element: HTMLElement
  /** Returns the value; `undefined` if it is omitted. */
  read(): unknown
  /** The field of a member or an item. */
  part?(key: string): Field | undefined
}

/** The options of a field. */
export interface FieldOptions {
  /** The name of the property, which is shown if the schema has no title. */
  name: string
  schema: unknown
  required: boolean
  /** The root schema, for local references. */
  root: JsonObject
  depth: number
  /** The maximum number of fields inside of this field. */
  room: number
  /** The initial value. If it is `undefined`, the schema's default is used. */
  value: unknown
  /** Whether the label is shown only to screen readers, because it repeats that of a list. */
  quiet?: boolean
}

/** {@link FieldOptions} with the resolved schema and the texts of the field. */
export interface FieldFacts extends FieldOptions {
  schema: JsonObject
  id: string
  title: string
  description: string | undefined
}

/** The properties that a label depends on. */
export type LabelFacts = Pick<FieldFacts, 'id' | 'title' | 'description' | 'required' | 'quiet'>

/** A control without its label. */
export interface Control {
  control: HTMLElement
  /** What follows the control. */
  after?: HTMLElement | undefined
  read(): unknown
}

/** Creates a field inside of another one. */
export type MakeField = (options: FieldOptions) => Field

/** Adds a label and a description to a control. */
export function labelled(facts: LabelFacts, { control, after, ...value }: Control): Field {
  control.id = facts.id
  const note = describe(facts, control)
  const label = el(
    'label',
    { for: facts.id, class: facts.quiet ? 'hidden' : 'label' },
    ...caption(facts),
  )
  return { element: el('div', { class: 'field' }, label, note, control, after), ...value }
}

/** Creates the content of a label or legend: the title, and whether the value is optional. */
export function caption(
  { title, required, quiet }: LabelFacts,
  mark = required ? '' : 'optional',
): (Node | string)[] {
  return mark === '' || quiet ? [title] : [title, ' ', el('span', { class: 'optional' }, mark)]
}

/** Finds the element of the field at a path; that of the nearest enclosing field if there is none. */
export function elementAt(field: Field, path: readonly string[]): HTMLElement {
  let found = field
  for (const key of path) {
    const part = found.part?.(key)
    if (!part) break
    found = part
  }
  return found.element
}

/** Creates a fieldset with a legend. */
export function fieldset(
  facts: FieldFacts,
  kind: 'group' | 'list' | 'choices',
  ...parts: readonly HTMLElement[]
): HTMLElement {
  const element = el('fieldset', { class: `field ${kind}` })
  // A required list is sent even if it is empty
  const mayBeEmpty = facts.required && kind !== 'group' && !facts.schema['minItems']
  const mark = mayBeEmpty ? 'may be empty' : undefined
  const legend = el('legend', { class: 'label' }, ...caption(facts, mark))
  element.append(legend, describe(facts, element) ?? '', ...parts)
  return element
}

/** Creates a list to choose from. The value of each entry is its index, and `''` means none. */
export function choice(
  titles: readonly string[],
  chosen: number,
  required: boolean,
  none: string | undefined,
): HTMLSelectElement {
  const control = el(
    'select',
    { required },
    none !== undefined && el('option', { value: '' }, none),
    ...titles.map((title, index) => el('option', { value: index }, title)),
  )
  control.value = chosen < 0 ? '' : `${chosen}`
  return control
}

/** Returns the values; `undefined` if there are none and the list is optional. */
export function undefinedIfEmpty<T>(values: T[], { required }: LabelFacts): T[] | undefined {
  return values.length > 0 || required ? values : undefined
}

/** Creates the description, which screen readers associate with the control. */
export function describe(facts: LabelFacts, control: HTMLElement): HTMLElement | undefined {
  if (!facts.description) return undefined
  control.setAttribute('aria-describedby', `${facts.id}-note`)
  return el('p', { id: `${facts.id}-note`, class: 'note' }, shorten(facts.description))
}
