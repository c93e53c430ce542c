/**
 * A form for an object. It shows generated fields, or the same value as JSON.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-validation
 */
import { isObject, type JsonObject } from 'edgewise/browser'
import { differences, formatPath } from '../diff.ts'
import { el, newId } from '../dom.ts'
import { jsonArea } from './controls.ts'
import { clearFieldErrors, focusFirstError, showFieldError, showValidity } from './field-errors.ts'
import { field } from './field.ts'
import type { Issue } from './issues.ts'
import { elementAt, labelled, type Field } from './label.ts'
import { resolve } from './resolve.ts'
import { shapeOf } from './shape.ts'

/** The maximum number of fields before the user adds any. */
const MAX_FIELDS = 5_000
/** The maximum number of values that a message names. */
const MAX_NAMED = 8

/** The content of a form. */
export interface SchemaForm {
  element: HTMLElement
  /** Switches between fields and JSON. Absent if the form has no fields. */
  toggle: HTMLButtonElement | undefined
  /** The names of the fields. */
  names: readonly string[]
  /** Returns the current value. */
  read(): JsonObject
  /** Replaces the value. Shows it as JSON if the fields cannot show all of it. */
  fill(value: JsonObject): void
  /** Shows issues at their fields, in place of earlier ones, and moves the focus to the first one. */
  showIssues(issues: readonly Issue[]): void
}

/** Creates the fields of an object schema. The browser validates them on submit. */
export function schemaForm(schema: JsonObject): SchemaForm {
  const element = el('div', { class: 'fields' })
  const shape = shapeOf(resolve(schema, schema), 0, schema)
  const names = shape.kind === 'group' ? shape.fields.map(({ name }) => name) : []
  const isEmpty = shape.kind === 'group' && names.length === 0
  let isJson = false
  let shown = fieldsOf(schema, undefined)
  element.append(shown.element)
  showValidity(element)

  const toggle = el('button', { type: 'button', class: 'quiet' }, 'Edit as JSON')
  toggle.addEventListener('click', () => {
    if (!isJson) return show(areaOf(shown.read()), true)
    // Invalid JSON cannot be shown as fields
    const area = element.querySelector('textarea')
    if (area && !area.reportValidity()) return
    const value = shown.read()
    const fields = fieldsOf(schema, value)
    const lost = lostValues(value, fields.read())
    if (lost.length === 0) return show(fields, false)
    showLoss(lost, () => show(fields, false))
  })

  function show(next: Field, asJson: boolean): void {
    shown = next
    isJson = asJson
    element.replaceChildren(shown.element)
    toggle.textContent = isJson ? 'Edit as fields' : 'Edit as JSON'
  }

  /** Explains why the fields are not shown. The user can discard the values that they cannot show. */
  function showLoss(lost: readonly string[], discard: () => void): void {
    const more = lost.length - MAX_NAMED
    const list = lost.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
    showFieldError(shown.element, `The fields cannot show these values: ${list}`)
    const button = el('button', { type: 'button', class: 'small' }, 'Discard them')
    button.addEventListener('click', () => {
      discard()
      toggle.focus()
    })
    shown.element.querySelector('.error')?.append(' ', button)
    element.querySelector('textarea')?.focus()
  }

  return {
    element,
    toggle: isEmpty ? undefined : toggle,
    names,
    read() {
      const value = shown.read()
      return isObject(value) ? value : {}
    },
    fill(value) {
      const fields = fieldsOf(schema, value)
      const isShown = lostValues(value, fields.read()).length === 0
      if (isShown) show(fields, false)
      else show(areaOf(value), true)
    },
    showIssues(issues) {
      clearFieldErrors(element)
      const messages = new Map<HTMLElement, string[]>()
      for (const { path, message } of issues) {
        const place = isJson ? shown.element : elementAt(shown, path)
        // The root of the fields has no label of its own
        if (!place.classList.contains('field')) continue
        const text = isJson ? `${formatPath(path)}: ${message}` : message
        messages.set(place, [...(messages.get(place) ?? []), text])
      }
      for (const [place, texts] of messages) showFieldError(place, texts.join('. '))
      focusFirstError(element)
    },
  }
}

function fieldsOf(schema: JsonObject, value: unknown): Field {
  return field({
    name: 'Arguments',
    schema,
    root: schema,
    required: true,
    depth: 0,
    room: MAX_FIELDS,
    value,
  })
}

function areaOf(value: unknown): Field {
  const title = 'Arguments as JSON'
  const facts = { id: newId('field'), title, description: undefined, required: true }
  return labelled(facts, jsonArea({ required: true, value, depth: 0 }))
}

/** The paths of values that fields omit or change. Defaults that they add are no loss. */
function lostValues(value: unknown, read: unknown): string[] {
  return differences(value, read)
    .filter(({ kind, before }) => kind !== 'added' && !isBlank(before))
    .map(({ path }) => formatPath(path))
}

/** Whether a value is the same as an omitted one, such as an optional list without items. */
function isBlank(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
