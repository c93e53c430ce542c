/**
 * What the controls of a form have in common: the facts they are made from, and their labels.
 *
 * @see https://www.w3.org/WAI/tutorials/forms/labels/
 */
import type { JsonObject } from 'edgewise/browser'
import { el } from '../dom.ts'

/** A control with its label, and the way to its value. */
export interface Field {
  element: HTMLElement
  /** The value, or `undefined` when it was left out. */
  read(): unknown
}

/** What a field is made from. */
export interface FieldOptions {
  /** The property's name, shown when the schema has no title. */
  name: string
  schema: unknown
  required: boolean
  /** The schema that local references start from. */
  root: JsonObject
  depth: number
  /** How many fields it may have inside. */
  room: number
  /** What the field shows at first; the schema's default when `undefined`. */
  value: unknown
  /** Whether the label repeats what is around it, as in a list, and need not be seen. */
  quiet?: boolean
}

/** A {@link FieldOptions} with its schema resolved and its texts at hand. */
export interface FieldFacts extends FieldOptions {
  schema: JsonObject
  id: string
  title: string
  description: string | undefined
}

/** What a label says of its control. */
export type LabelFacts = Pick<FieldFacts, 'id' | 'title' | 'description' | 'required' | 'quiet'>

/** A control that still lacks its label. */
export interface Control {
  control: HTMLElement
  read(): unknown
}

/** Makes a field inside another one. */
export type MakeField = (options: FieldOptions) => Field

/** Puts a label above a control and the description below the label. */
export function labelled(facts: LabelFacts, { control, ...value }: Control): Field {
  control.id = facts.id
  const note = describe(facts, control)
  const label = el(
    'label',
    { for: facts.id, class: facts.quiet ? 'hidden' : 'label' },
    ...caption(facts),
  )
  return { element: el('div', { class: 'field' }, label, note, control), ...value }
}

/** What a label or legend contains: the title, and whether the value may be left out. */
export function caption({ title, required, quiet }: LabelFacts): (Node | string)[] {
  return required || quiet ? [title] : [title, ' ', el('span', { class: 'optional' }, 'optional')]
}

/** Frames several controls, with a legend above them. */
export function fieldset(
  facts: LabelFacts,
  kind: string,
  ...parts: readonly HTMLElement[]
): HTMLElement {
  const element = el('fieldset', { class: `field ${kind}` })
  const legend = el('legend', { class: 'label' }, ...caption(facts))
  element.append(legend, describe(facts, element) ?? '', ...parts)
  return element
}

/** A list to choose from, whose entries have their index for value; `''` for none of them. */
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

/** Several values, or nothing when the list is empty and optional. */
export function given<T>(values: T[], { required }: LabelFacts): T[] | undefined {
  return values.length > 0 || required ? values : undefined
}

/** The description, tied to its control for screen readers. */
export function describe(facts: LabelFacts, control: HTMLElement): HTMLElement | undefined {
  if (!facts.description) return undefined
  control.setAttribute('aria-describedby', `${facts.id}-note`)
  return el('p', { id: `${facts.id}-note`, class: 'note' }, facts.description)
}
