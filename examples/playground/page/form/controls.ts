/**
 * The controls for values without parts.
 *
 * @see https://html.spec.whatwg.org/multipage/forms.html
 */
import { isObject } from 'edgewise/browser'
import { el, type Attributes } from '../dom.ts'
import { caption, describe, type Control, type Field, type FieldFacts } from './label.ts'
import type { Option } from './shape.ts'

const inputTypes = new Map<unknown, string>([
  ['email', 'email'],
  ['uri', 'url'],
  ['date', 'date'],
  ['time', 'time'],
  ['date-time', 'datetime-local'],
])
/** Texts that may be longer than this get several lines. */
const LONG_TEXT = 200

/** A line, or an area, for text and numbers. */
export function input(facts: FieldFacts, kind: 'text' | 'number' | 'integer'): Control {
  const { schema, required, value } = facts
  const long = kind === 'text' && Number(schema['maxLength']) > LONG_TEXT
  const type = kind === 'text' ? (inputTypes.get(schema['format']) ?? 'text') : 'number'
  const control = long
    ? el('textarea', { required, rows: 4, ...lengths(facts) })
    : el('input', { required, type, autocomplete: 'off', ...lengths(facts), ...range(facts, kind) })
  if (typeof value === 'string' || typeof value === 'number') {
    control.value = type === 'datetime-local' ? toLocal(value) : `${value}`
  }
  return {
    control,
    read() {
      if (control.value === '') return undefined
      if (kind !== 'text') return Number(control.value)
      return type === 'datetime-local' ? new Date(control.value).toISOString() : control.value
    },
  }
}

function lengths({ schema: { minLength, maxLength, pattern } }: FieldFacts): Attributes {
  return {
    minlength: bound(minLength),
    maxlength: bound(maxLength),
    // A JSON Schema pattern may match anywhere, an HTML one must match the whole.
    pattern: isPattern(pattern) ? `[\\s\\S]*(?:${pattern})[\\s\\S]*` : undefined,
  }
}

function isPattern(source: unknown): source is string {
  if (typeof source !== 'string') return false
  try {
    new RegExp(source, 'v')
    return true
  } catch {
    return false
  }
}

function range({ schema: { minimum, maximum } }: FieldFacts, kind: string): Attributes {
  if (kind === 'text') return {}
  const isWhole = kind === 'integer'
  return {
    step: isWhole ? 1 : 'any',
    inputmode: isWhole ? 'numeric' : 'decimal',
    min: bound(minimum),
    max: bound(maximum),
  }
}

/** A number as a bound. An integer of zod's has the safe range, which nobody needs to read. */
function bound(value: unknown): number | undefined {
  const isNear = typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
  return isNear ? value : undefined
}

/** ISO 8601 as `datetime-local` wants it: in local time, without zone and seconds. */
function toLocal(iso: string | number): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** A list of which one entry can be chosen. */
export function select(facts: FieldFacts, options: readonly Option[]): Control {
  const { required, value, schema } = facts
  const chosen = options.findIndex((option) => option.value === value)
  // Left out, a value with a default would only become the default again.
  const canBeEmpty = chosen === -1 || schema['default'] === undefined
  const control = el(
    'select',
    { required },
    canBeEmpty && el('option', { value: '' }, required ? 'Choose…' : 'None'),
    ...options.map(({ title }, index) => el('option', { value: index }, title)),
  )
  control.value = chosen === -1 ? '' : String(chosen)
  return {
    control,
    read: () => (control.value === '' ? undefined : options[Number(control.value)]?.value),
  }
}

/** A text area that takes any JSON, at the top of a form any object, and says what is wrong. */
export function jsonArea({
  required,
  value,
  depth,
}: Pick<FieldFacts, 'required' | 'value' | 'depth'>): Control {
  const control = el('textarea', { required, rows: 6, class: 'code', spellcheck: 'false' })
  control.value = value === undefined ? '' : JSON.stringify(value, null, 2)
  control.addEventListener('input', () =>
    control.setCustomValidity(whyRefused(control.value, depth === 0) ?? ''),
  )
  return {
    control,
    read: () => (control.value.trim() === '' ? undefined : JSON.parse(control.value)),
  }
}

function whyRefused(text: string, mustBeObject: boolean): string | undefined {
  if (text.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    return mustBeObject && !isObject(value) ? 'Expected a JSON object' : undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'Expected JSON'
  }
}

/** A box for a boolean. One that nobody touched and that is optional is left out. */
export function checkbox(facts: FieldFacts): Field {
  const control = el('input', { type: 'checkbox', id: facts.id, checked: facts.value === true })
  let touched = facts.required || facts.value !== undefined
  control.addEventListener('change', () => (touched = true))
  const note = describe(facts, control)
  const label = el('label', { for: facts.id }, control, el('span', {}, ...caption(facts)))
  return {
    element: el('div', { class: 'field flag' }, label, note),
    read: () => (touched ? control.checked : undefined),
  }
}

/** A box for each entry of a list of which several can be chosen. */
export function checkboxes(facts: FieldFacts, options: readonly Option[]): Field {
  const chosen: unknown[] = Array.isArray(facts.value) ? facts.value : []
  const boxes = options.map(({ value }) =>
    el('input', { type: 'checkbox', checked: chosen.includes(value) }),
  )
  const element = el('fieldset', { class: 'field choices' })
  element.append(
    el('legend', { class: 'label' }, ...caption(facts)),
    describe(facts, element) ?? '',
    ...boxes.map((box, index) => el('label', {}, box, el('span', {}, options[index]?.title))),
  )
  return {
    element,
    read() {
      const values = options.filter((_, index) => boxes[index]?.checked).map(({ value }) => value)
      return values.length > 0 || facts.required ? values : undefined
    },
  }
}
