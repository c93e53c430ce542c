/**
 * Chooses the control for a JSON Schema.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-validation
 */
import { isObject, type JsonObject } from 'edgewise/browser'
import { membersOf, resolve } from './resolve.ts'

/** One entry of a list to choose from. */
export interface Option {
  value: unknown
  title: string
}

/**
 * The kind of control for a value. The fallback is `json`, a text area for any JSON. `any` is for a value of an
 * unknown type, which is probably a short text or a number.
 */
export type Shape =
  | { kind: 'text' | 'number' | 'integer' | 'flag' | 'json' | 'any' }
  | { kind: 'choice' | 'choices'; options: Option[] }
  | { kind: 'group'; fields: { name: string; schema: JsonObject; required: boolean }[] }
  | { kind: 'list'; items: JsonObject }
  | { kind: 'union'; variants: Variant[] }

/** One of several alternative schemas of a value. */
export interface Variant {
  title: string
  schema: JsonObject
}

/** The maximum depth. Schemas that are nested deeper, such as recursive ones, have the control `json`. */
const MAX_DEPTH = 6

/** The keywords that describe objects and arrays. */
const STRUCTURAL = [
  'properties',
  'patternProperties',
  'additionalProperties',
  'required',
  'items',
  'prefixItems',
  'anyOf',
  'oneOf',
]

/** Chooses the control for a schema that {@link resolve} returned. */
export function shapeOf(schema: JsonObject, depth: number, root: JsonObject): Shape {
  const options = optionsOf(schema)
  if (options) return { kind: 'choice', options }
  const variants = depth < MAX_DEPTH ? variantsOf(schema, root) : []
  if (variants.length > 1) return { kind: 'union', variants }
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
      // An unknown type, such as `text`, is a mistake of the server. Most values are texts
      if (isUnknownType(schema['type'])) return { kind: 'text' }
      return {
        kind: depth > 0 && schema['type'] === undefined && !isStructured(schema) ? 'any' : 'json',
      }
  }
}

/** Whether a schema without a type describes an object or an array. */
function isStructured(schema: JsonObject): boolean {
  return STRUCTURAL.some((keyword) => keyword in schema)
}

function isUnknownType(type: unknown): boolean {
  return typeof type === 'string' && type !== 'null'
}

function optionsOf(schema: JsonObject): Option[] | undefined {
  if ('const' in schema) return [{ value: schema['const'], title: nameOf(schema['const']) }]
  const values = schema['enum']
  if (Array.isArray(values)) {
    const names = Array.isArray(schema['enumNames']) ? schema['enumNames'] : []
    return values.map((value, index) => ({ value, title: nameOf(names[index] ?? value) }))
  }
  const titled = schema['oneOf'] ?? schema['anyOf']
  if (!Array.isArray(titled) || titled.length === 0) return undefined
  const options: Option[] = []
  for (const member of titled) {
    if (!isObject(member) || !('const' in member)) return undefined
    options.push({ value: member['const'], title: nameOf(member['title'] ?? member['const']) })
  }
  return options
}

/** Formats any value as the label of an option. */
function nameOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
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
  const listed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  // A required member may have no property, for example by mistake
  const names = [...new Set([...Object.keys(properties), ...listed])]
  if (names.length === 0 && (depth > 0 || schema['additionalProperties'])) return { kind: 'json' }
  return {
    kind: 'group',
    fields: names.map((name) => ({
      name,
      schema: memberOf(properties, name),
      required: listed.includes(name),
    })),
  }
}

function memberOf(properties: JsonObject, name: string): JsonObject {
  const schema = Object.hasOwn(properties, name) ? properties[name] : {}
  return isObject(schema) ? schema : {}
}

/** Returns the alternatives of a value. Empty if the schema has no alternatives to choose from. */
function variantsOf(schema: JsonObject, root: JsonObject): Variant[] {
  const { anyOf: _anyOf, oneOf: _oneOf, type, ...rest } = schema
  const members = Array.isArray(type)
    ? type.filter((name) => name !== 'null').map((name) => ({ ...rest, type: name }))
    : membersOf(schema).map((member) => resolve(member, root))
  // Alternatives that only require certain properties are conditions, and the user cannot choose between them
  if (!members.every((member) => 'type' in member || optionsOf(member))) return []
  return members.map((member) => ({ title: titleOf(member), schema: member }))
}

/** Names an alternative by its title, its distinguishing constant, or its properties. */
function titleOf({ title, type, properties, ...others }: JsonObject): string {
  const members = isObject(properties) ? properties : {}
  const constantMember = Object.values(members).find((each) => isObject(each) && 'const' in each)
  const constant = isObject(constantMember) ? constantMember['const'] : others['const']
  return nameOf(title ?? constant ?? (Object.keys(members).join(', ') || (type ?? 'choice')))
}

/** Returns the index of the alternative that a value matches. */
export function indexOfVariant(variants: readonly Variant[], value: unknown): number {
  return variants.findIndex(({ schema }) => matchesSchema(schema, value))
}

function matchesSchema(schema: JsonObject, value: unknown): boolean {
  const { type, properties } = schema
  const options = optionsOf(schema)
  if (options) return options.some((option) => option.value === value)
  if (Array.isArray(value)) return type === 'array'
  if (!isObject(value)) return typeof value === (type === 'integer' ? 'number' : type)
  const members = isObject(properties) ? properties : {}
  return Object.entries(value).every(([name, part]) => {
    const member = Object.hasOwn(members, name) ? members[name] : undefined
    return isObject(member) && (!('const' in member) || member['const'] === part)
  })
}
