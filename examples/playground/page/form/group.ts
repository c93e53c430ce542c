/**
 * The fields of an object.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#name-properties
 */
import { isObject, type JsonObject } from 'edgewise/browser'
import { el } from '../dom.ts'
import { fieldset, undefinedIfEmpty, type Field, type FieldFacts, type MakeField } from './label.ts'

/** Creates a fieldset for an object. If the object is optional and all its fields are empty, it is omitted. */
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
      // The fields of an optional object are not required, because the object may be omitted
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
      const all = undefinedIfEmpty(parts, facts)
      return all && Object.fromEntries(all)
    },
    part: (key) => fields.find(({ name }) => name === key),
  }
}
