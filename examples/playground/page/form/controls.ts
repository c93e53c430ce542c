/**
 * The controls for texts, numbers, booleans and choices.
 *
 * @see https://html.spec.whatwg.org/multipage/forms.html
 */
import { isObject } from 'edgewise/browser'
import { el, type Attributes } from '../dom.ts'
import { isHiddenName } from '../secrets.ts'
import {
  caption,
  choice,
  describe,
  fieldset,
  undefinedIfEmpty,
  type Control,
  type Field,
  type FieldFacts,
} from './label.ts'
import type { Option } from './shape.ts'

const inputTypes = new Map<unknown, string>([
  ['email', 'email'],
  ['password', 'password'],
  ['uri', 'url'],
  ['date', 'date'],
  ['time', 'time'],
  ['date-time', 'datetime-local'],
])
/** If a text may be longer than this, its input has several lines. */
const LONG_TEXT = 200

/** Creates an input or a text area, for text and numbers. */
export function input(facts: FieldFacts, kind: 'text' | 'number' | 'integer'): Control {
  const { name, schema, required, value } = facts
  const isSecret = isHiddenName(name) || schema['writeOnly'] === true
  const textType = inputTypes.get(schema['format']) ?? (isSecret ? 'password' : 'text')
  const type = kind === 'text' ? textType : 'number'
  const isLong = type === 'text' && Number(schema['maxLength']) > LONG_TEXT
  const control = isLong
    ? el('textarea', { required, rows: 4, ...lengths(facts) })
    : el('input', { required, type, autocomplete: 'off', ...lengths(facts), ...range(facts, kind) })
  if (typeof value === 'string' || typeof value === 'number') {
    control.value = type === 'datetime-local' ? toLocal(value) : `${value}`
  }
  const initialText = control.value
  return {
    control,
    after: control.type === 'password' ? revealButton(control) : undefined,
    read() {
      if (control.value === '') return undefined
      // A time may have seconds or another time zone, which the control does not show
      if (control.value === initialText) return value
      if (kind !== 'text') return Number(control.value)
      return type === 'datetime-local' ? new Date(control.value).toISOString() : control.value
    },
  }
}

/** Creates the button that shows and hides a secret. */
export function revealButton(control: HTMLElement): HTMLElement {
  const button = el('button', { type: 'button', class: 'quiet small reveal' }, 'Show')
  button.addEventListener('click', () => {
    const isHidden = control.getAttribute('type') === 'password'
    control.setAttribute('type', isHidden ? 'text' : 'password')
    button.textContent = isHidden ? 'Hide' : 'Show'
  })
  return button
}

function lengths({ schema: { minLength, maxLength, pattern } }: FieldFacts): Attributes {
  return {
    minlength: bound(minLength),
    maxlength: bound(maxLength),
    // A pattern of JSON Schema may match anywhere. A pattern of HTML must match the whole text
    pattern: isLinearPattern(pattern) ? `[^]*(?:${pattern})[^]*` : undefined,
    'data-pattern': isLinearPattern(pattern) ? pattern : undefined,
  }
}

/**
 * Whether the browser can match a pattern in time linear in the length of the text, so that it may do so at
 * every keystroke. Such a pattern consists of single characters, and at most the first one is repeated. Only
 * the server checks other patterns.
 */
function isLinearPattern(source: unknown): source is string {
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

/** Returns a bound to show. The bounds of the safe integers, which zod adds, are not shown. */
function bound(value: unknown): number | undefined {
  const isNear = typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
  return isNear ? value : undefined
}

/** Converts ISO 8601 to the format of `datetime-local`: local time, without time zone and seconds. */
function toLocal(iso: string | number): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Creates a list from which the user can choose one entry. */
export function select(facts: FieldFacts, options: readonly Option[]): Control {
  const { required, value, schema } = facts
  const chosen = options.findIndex((option) => option.value === value)
  // An omitted value with a default would become the default again
  const canBeEmpty = chosen === -1 || schema['default'] === undefined
  const none = required ? 'Choose…' : 'None'
  const titles = options.map(({ title }) => title)
  const control = choice(titles, chosen, required, canBeEmpty ? none : undefined)
  return {
    control,
    read: () => (control.value === '' ? undefined : options[Number(control.value)]?.value),
  }
}

/** Creates a text area for any JSON value, or for an object if it is the whole form. It shows what is invalid. */
export function jsonArea({
  required,
  value,
  depth,
}: Pick<FieldFacts, 'required' | 'value' | 'depth'>): Control {
  const control = el('textarea', { required, rows: 6, class: 'code', spellcheck: 'false' })
  control.value = value === undefined ? '' : JSON.stringify(value, null, 2)
  control.addEventListener('input', () =>
    control.setCustomValidity(validityMessage(control.value, depth === 0)),
  )
  return {
    control,
    read: () => (control.value.trim() === '' ? undefined : JSON.parse(control.value)),
  }
}

/** Adds how the control for any value is used to its description. */
export function anyNote(description = ''): string {
  return `${description} The type is not defined: enter text, or JSON such as 12, true or "12".`.trim()
}

/** Creates an input for a value of any type: JSON if the text is that, and otherwise the text. */
export function anyInput({ required, value }: Pick<FieldFacts, 'required' | 'value'>): Control {
  const control = el('input', { required, autocomplete: 'off', spellcheck: 'false' })
  control.value = value === undefined ? '' : textOfAny(value)
  const read = (): unknown => (control.value.trim() === '' ? undefined : parseAny(control.value))
  return { control, read }
}

function parseAny(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The text that {@link parseAny} parses as a value. */
function textOfAny(value: unknown): string {
  // An input has only one line
  const isPlain = typeof value === 'string' && parseAny(value) === value && !value.includes('\n')
  return isPlain ? value : JSON.stringify(value)
}

/** Returns why a text is invalid. Returns an empty text if it is JSON or empty. */
function validityMessage(text: string, mustBeObject: boolean): string {
  try {
    const isObjectOrEmpty = !text.trim() || isObject(JSON.parse(text))
    return isObjectOrEmpty || !mustBeObject ? '' : 'Expected a JSON object'
  } catch (error) {
    return error instanceof Error ? `This is not valid JSON: ${error.message}` : String(error)
  }
}

/** Creates a checkbox for a boolean. If it is optional and the user did not change it, its value is omitted. */
export function checkbox(facts: FieldFacts): Field {
  const control = el('input', { type: 'checkbox', id: facts.id, checked: facts.value === true })
  let isTouched = facts.required || facts.value !== undefined
  control.addEventListener('change', () => (isTouched = true))
  const note = describe(facts, control)
  const label = el('label', { for: facts.id }, control, el('span', {}, ...caption(facts)))
  return {
    element: el('div', { class: 'field flag' }, label, note),
    read: () => (isTouched ? control.checked : undefined),
  }
}

/** Creates a checkbox for each entry of a list from which the user can choose several. */
export function checkboxes(facts: FieldFacts, options: readonly Option[]): Field {
  const { value: selected } = facts
  const boxes = options.map(({ value }) =>
    el('input', { type: 'checkbox', checked: Array.isArray(selected) && selected.includes(value) }),
  )
  const labels = boxes.map((box, index) => {
    return el('label', {}, box, el('span', {}, options[index]?.title))
  })
  return {
    element: fieldset(facts, 'choices', ...labels),
    read() {
      const chosen = options.filter((_, index) => boxes[index]?.checked)
      return undefinedIfEmpty(
        chosen.map(({ value }) => value),
        facts,
      )
    },
  }
}
