/**
 * A form for an object. It shows generated fields, or the same value as JSON.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-validation
 */
import { isObject, type JsonObject } from 'edgewise/browser'
import { el, newId } from '../dom.ts'
import { jsonArea } from './controls.ts'
import { field } from './field.ts'
import { labelled, type Field } from './label.ts'
import { resolve } from './resolve.ts'
import { shapeOf } from './shape.ts'

/** The maximum number of fields before the user adds any. */
const MAX_FIELDS = 5_000

/** The content of a form. */
export interface SchemaForm {
  element: HTMLElement
  /** Switches between fields and JSON. Absent if the form has no fields. */
  toggle: HTMLButtonElement | undefined
  /** Returns the current value. */
  read(): JsonObject
}

/** Creates the fields of an object schema. The browser validates them on submit. */
export function schemaForm(schema: JsonObject): SchemaForm {
  const element = el('div', { class: 'fields' })
  const shape = shapeOf(resolve(schema, schema), 0, schema)
  const isEmpty = shape.kind === 'group' && shape.fields.length === 0
  let isJson = false
  let shown = fieldsOf(schema, undefined)
  element.append(shown.element)

  const toggle = el('button', { type: 'button', class: 'quiet' }, 'Edit as JSON')
  toggle.addEventListener('click', () => {
    const form = element.closest('form')
    // Invalid JSON cannot be shown as fields
    if (isJson && form && !form.reportValidity()) return
    const value = shown.read()
    isJson = !isJson
    shown = isJson ? areaOf(value) : fieldsOf(schema, value)
    element.replaceChildren(shown.element)
    toggle.textContent = isJson ? 'Edit as fields' : 'Edit as JSON'
  })

  return {
    element,
    toggle: isEmpty ? undefined : toggle,
    read() {
      const value = shown.read()
      return isObject(value) ? value : {}
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
