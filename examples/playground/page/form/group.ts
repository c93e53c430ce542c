/**
 * The fields of an object.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#name-properties
 */
import { isObject, type JsonObject } from 'edgewise/browser'
import { el } from '../dom.ts'
import { caption, describe, type Field, type FieldFacts, type MakeField } from './label.ts'

/** A framed set of fields. An optional object of which nothing was given is left out. */
export function group(
  facts: FieldFacts,
  members: readonly { name: string; schema: JsonObject; required: boolean }[],
  makeField: MakeField,
): Field {
  const value = isObject(facts.value) ? facts.value : {}
  const room = Math.floor(facts.room / members.length)
  const fields = members.map(({ name, schema, required }) => ({
    name,
    ...makeField({
      name,
      schema,
      // Inside an object that may be left out, nothing can be demanded before it is begun.
      required: required && facts.required,
      root: facts.root,
      depth: facts.depth + 1,
      room,
      value: Object.hasOwn(value, name) ? value[name] : undefined,
    }),
  }))
  const isRoot = facts.depth === 0
  const element = isRoot ? el('div', { class: 'root' }) : el('fieldset', { class: 'field group' })
  if (!isRoot) {
    element.append(el('legend', { class: 'label' }, ...caption(facts)))
    element.append(describe(facts, element) ?? '')
  }
  element.append(...fields.map((member) => member.element))
  return {
    element,
    read() {
      const given = fields
        .map((member): [string, unknown] => [member.name, member.read()])
        .filter(([, part]) => part !== undefined)
      return given.length > 0 || facts.required ? Object.fromEntries(given) : undefined
    },
  }
}
