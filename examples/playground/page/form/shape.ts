/**
 * Decides from a JSON Schema which control lets a person give a value.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-validation
 */
import { isObject, type JsonObject } from 'edgewise/browser'

/** One entry of a choice. */
export interface Option {
  value: unknown
  title: string
}

/** The control for a value. `json` is the fallback: a text area for any JSON. */
export type Shape =
  | { kind: 'text' | 'number' | 'integer' | 'flag' | 'json' }
  | { kind: 'choice' | 'choices'; options: Option[] }
  | { kind: 'group'; fields: { name: string; schema: JsonObject; required: boolean }[] }
  | { kind: 'list'; items: JsonObject }

/** Schemas nested deeper than this, as recursive ones are, get the fallback. */
const MAX_DEPTH = 6

/** The control for a schema that {@link resolve} returned. */
export function shapeOf(schema: JsonObject, depth: number): Shape {
  const options = optionsOf(schema)
  if (options) return { kind: 'choice', options }
  switch (schema['type']) {
    case 'string':
      return { kind: 'text' }
    case 'number':
    case 'integer':
      return { kind: schema['type'] }
    case 'boolean':
      return { kind: 'flag' }
    case 'array':
      return listShape(schema, depth)
    case 'object':
      return groupShape(schema, depth)
    default:
      return { kind: 'json' }
  }
}

/**
 * Follows local references, and takes `null` out of a union with one other member: a field that is
 * left empty says the same.
 */
export function resolve(schema: unknown, root: JsonObject, hops = MAX_DEPTH): JsonObject {
  if (!isObject(schema) || hops === 0) return {}
  const only = onlyMember(schema, root)
  if (only !== undefined) {
    const { $ref: _ref, anyOf: _anyOf, oneOf: _oneOf, allOf: _allOf, ...rest } = schema
    return { ...resolve(only, root, hops - 1), ...rest }
  }
  const { type } = schema
  if (!Array.isArray(type)) return schema
  const types = type.filter((name) => name !== 'null')
  return types.length === 1 ? { ...schema, type: types[0] } : schema
}

/** The one schema that another stands for, if it does. */
function onlyMember(schema: JsonObject, root: JsonObject): unknown {
  const { $ref, anyOf, oneOf, allOf } = schema
  if (typeof $ref === 'string') return lookUp($ref, root)
  const members = [anyOf, oneOf, allOf].find(Array.isArray)
  const real = members?.filter((member) => !isObject(member) || member['type'] !== 'null') ?? []
  return real.length === 1 && !(isObject(real[0]) && 'const' in real[0]) ? real[0] : undefined
}

/** What a JSON Pointer fragment points at. */
function lookUp(reference: string, root: JsonObject): unknown {
  if (!reference.startsWith('#')) return {}
  let found: unknown = root
  for (const part of decodeURIComponent(reference.slice(1)).split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined
  }
  return found ?? {}
}

function optionsOf(schema: JsonObject): Option[] | undefined {
  if ('const' in schema) return [{ value: schema['const'], title: String(schema['const']) }]
  const values = schema['enum']
  if (Array.isArray(values)) {
    const names = Array.isArray(schema['enumNames']) ? schema['enumNames'] : []
    return values.map((value, index) => ({ value, title: String(names[index] ?? value) }))
  }
  const titled = schema['oneOf'] ?? schema['anyOf']
  if (!Array.isArray(titled) || titled.length === 0) return undefined
  const options: Option[] = []
  for (const member of titled) {
    if (!isObject(member) || !('const' in member)) return undefined
    options.push({ value: member['const'], title: String(member['title'] ?? member['const']) })
  }
  return options
}

function listShape(schema: JsonObject, depth: number): Shape {
  const items = schema['items']
  if (!isObject(items) || depth >= MAX_DEPTH) return { kind: 'json' }
  const options = optionsOf(items)
  return options ? { kind: 'choices', options } : { kind: 'list', items }
}

function groupShape(schema: JsonObject, depth: number): Shape {
  const { properties = {}, required } = schema
  if (!isObject(properties) || depth >= MAX_DEPTH) return { kind: 'json' }
  const names = Object.keys(properties)
  if (names.length === 0 && (depth > 0 || schema['additionalProperties'])) return { kind: 'json' }
  return {
    kind: 'group',
    fields: names.map((name) => ({
      name,
      schema: isObject(properties[name]) ? properties[name] : {},
      required: Array.isArray(required) && required.includes(name),
    })),
  }
}
