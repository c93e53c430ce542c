/**
 * The controls for values without parts.
 *
 * @see https://html.spec.whatwg.org/multipage/forms.html
 */
import { isObject } from 'edgewise/browser'
import { el, type Attributes } from '../dom.ts'
import {
  caption,
  choice,
  describe,
  fieldset,
  given,
  type Control,
  type Field,
  type FieldFacts,
} from './label.ts'
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
    pattern: isQuick(pattern) ? `[^]*(?:${pattern})[^]*` : undefined,
  }
}

/**
 * Whether the browser can hold a pattern against a text at every key, in time that grows with the
 * text only: one of single characters, of which one at most is repeated, and that from the start.
 * The server checks all others.
 */
function isQuick(source: unknown): source is string {
  if (typeof source !== 'string') return false
  try {
    new RegExp(source, 'u')
    new RegExp(source, 'v')
  } catch {
    return false
  }
  const characters = source
    .replace(/\\[pPu]\{[^}]*\}|\\[^1-9k]|\[(?:[^\]\\]|\\.)*\]/g, '.')
    .replace(/\{\d\d?\}/g, '')
    .replace(/\{\d+,\d*\}/, '+')
  return /^(\^[^\\^$()[\]{}|*+?]*[*+?]?)?[^\\^$()[\]{}|*+?]{0,99}\$?$/.test(characters)
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

/** A number as a bound. An integer of zod's has the safe range, which need not be shown. */
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
  const none = required ? 'Choose…' : 'None'
  const titles = options.map(({ title }) => title)
  const control = choice(titles, chosen, required, canBeEmpty ? none : undefined)
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
    control.setCustomValidity(whyRefused(control.value, depth === 0)),
  )
  return {
    control,
    read: () => (control.value.trim() === '' ? undefined : JSON.parse(control.value)),
  }
}

/** What is wrong with a text; nothing with one that is JSON, or empty. */
function whyRefused(text: string, mustBeObject: boolean): string {
  try {
    const isObjectOrEmpty = !text.trim() || isObject(JSON.parse(text))
    return isObjectOrEmpty || !mustBeObject ? '' : 'Expected a JSON object'
  } catch (error) {
    return String(error)
  }
}

/** A checkbox for a boolean. An untouched optional one is omitted. */
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
  const { value: known } = facts
  const boxes = options.map(({ value }) =>
    el('input', { type: 'checkbox', checked: Array.isArray(known) && known.includes(value) }),
  )
  const labels = boxes.map((box, index) => {
    return el('label', {}, box, el('span', {}, options[index]?.title))
  })
  return {
    element: fieldset(facts, 'choices', ...labels),
    read() {
      const chosen = options.filter((_, index) => boxes[index]?.checked)
      return given(
        chosen.map(({ value }) => value),
        facts,
      )
    },
  }
}
