/**
 * The fields of an object.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#name-properties
 */
import { isObject, type JsonObject } from 'edgewise/browser'
import { el } from '../dom.ts'
import { fieldset, given, type Field, type FieldFacts, type MakeField } from './label.ts'

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
  const elements = fields.map(({ element }) => element)
  return {
    element:
      facts.depth === 0
        ? el('div', { class: 'root' }, ...elements)
        : fieldset(facts, 'group', ...elements),
    read() {
      const parts = fields
        .map((member): [string, unknown] => [member.name, member.read()])
        .filter(([, part]) => part !== undefined)
      const all = given(parts, facts)
      return all && Object.fromEntries(all)
    },
  }
}
