/**
 * Tools' schemas as the large model APIs take them. Each API refuses a whole request because of one
 * schema that another accepts: OpenAI's demands `properties` and `items`, both it and Anthropic's
 * refuse combinators at the root, and Anthropic's also names of properties outside an alphabet.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#section-10
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { ObjectSchema } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { modelNames } from './names.ts'

/** The longest name of a property. */
const MAX_PROPERTY_LENGTH = 64

/** How many schemas are merged into a root; others are left out, as references can multiply them. */
const MAX_MERGED = 100

/** Keywords that model APIs refuse at the root. */
const REFUSED_AT_ROOT = '$ref allOf anyOf oneOf not if then else enum const'.split(' ')
/** Keywords whose members are schemas under names that authors choose. */
const SCHEMA_MAPS = '$defs definitions properties patternProperties dependentSchemas'.split(' ')
/** Keywords that hold values and no schemas. */
const VALUES = 'const enum default examples required'.split(' ')

/** The definition that holds the original root where references need it. */
const ORIGINAL = 'original_input'

/** What a model is shown, and the way back. */
export interface ModelParameters {
  /** A copy, which may be changed. */
  readonly schema: ObjectSchema
  /** The arguments that a model gave, under the names that the tool knows. */
  readonly restore: (args: JsonObject) => JsonObject
}

/**
 * A schema that every API takes, and that allows at least what the tool's own does. Alternatives at
 * the root become optional properties: the tool checks its arguments, and says to the model what is
 * wrong with them.
 */
export async function modelParameters(input: ObjectSchema): Promise<ModelParameters> {
  const flat = flatten(input, input, { left: MAX_MERGED })
  const { properties, required } = partsOf(flat)
  // Draft 4 has no empty list
  if (required.length === 0) delete flat.required
  const clean = (name: string): string => name.replace(/[^A-Za-z0-9_.-]/g, '_') || '_'
  const names = await modelNames(Object.keys(properties), clean, MAX_PROPERTY_LENGTH)
  const rename = (name: string): string => names.get(name) ?? name
  const renamed = [...names].some(([original, name]) => original !== name)
  const schema: ObjectSchema = {
    ...flat,
    type: 'object',
    properties: mapKeys(properties, rename),
    ...(required.length > 0 && { required: required.map(rename) }),
  }
  const changed = renamed || REFUSED_AT_ROOT.some((keyword) => keyword in input)
  const originals = new Map([...names].map(([original, name]) => [name, original]))
  return {
    schema: complete(changed ? keepReferences(schema, input) : schema) as ObjectSchema,
    restore: (args) => (renamed ? mapKeys(args, (name) => originals.get(name) ?? name) : args),
  }
}

/** A schema without the keywords that no root may have: what they say of properties is in its own. */
function flatten(schema: unknown, root: JsonObject, budget: { left: number }): JsonObject {
  if (!isObject(schema) || budget.left-- <= 0) return {}
  const into = (part: unknown): JsonObject => flatten(part, root, budget)
  const { $ref, allOf, anyOf, oneOf, if: condition, then, else: otherwise } = schema
  const own = Object.entries(schema).filter(([name]) => !REFUSED_AT_ROOT.includes(name))
  return [
    typeof $ref === 'string' ? into(resolve(root, $ref)) : {},
    ...list(allOf).map(into),
    either(list(anyOf).map(into)),
    either(list(oneOf).map(into)),
    condition === undefined ? {} : either([into(then), into(otherwise)]),
    Object.fromEntries(own),
  ].reduce(both)
}

/** What two schemas say together; where they say different things of one keyword, what `b` does. */
function both(a: JsonObject, b: JsonObject): JsonObject {
  const one = partsOf(a)
  const other = partsOf(b)
  const properties = { ...one.properties }
  for (const [name, schema] of Object.entries(other.properties)) {
    const first = properties[name]
    define(properties, name, isObject(first) && isObject(schema) ? { ...first, ...schema } : schema)
  }
  return { ...a, ...b, properties, required: [...new Set([...one.required, ...other.required])] }
}

/** What any of the alternatives may have, and what each of them must. */
function either(alternatives: readonly JsonObject[]): JsonObject {
  const parts = alternatives.map(partsOf)
  const properties: JsonObject = {}
  for (const name of new Set(parts.flatMap((part) => Object.keys(part.properties)))) {
    const known = parts.filter((part) => Object.hasOwn(part.properties, name))
    const texts = new Set(known.map((part) => JSON.stringify(part.properties[name])))
    const anyOf = [...texts].map((text): unknown => JSON.parse(text))
    define(properties, name, anyOf.length > 1 ? { anyOf } : anyOf[0])
  }
  const [first, ...others] = parts.map(({ required }) => required)
  const required = first?.filter((name) => others.every((other) => other.includes(name))) ?? []
  return { properties, required }
}

/** The properties of a schema, and which of them it requires. */
function partsOf({ properties, required }: JsonObject): {
  properties: JsonObject
  required: string[]
} {
  return {
    properties: isObject(properties) ? properties : {},
    required: list(required).filter((name) => typeof name === 'string'),
  }
}

/**
 * Lets references into the root, whose parts may now be elsewhere, lead to a copy of the original
 * among the definitions.
 */
function keepReferences(schema: JsonObject, original: JsonObject): JsonObject {
  const text = JSON.stringify(schema)
  // No text within a value looks like this, as its quotes are escaped
  const reference = /("\$ref":"#)(?="|\/(?!\$defs\/|definitions\/))/g
  if (!reference.test(text)) return schema
  const lead = (value: unknown): JsonObject =>
    JSON.parse(JSON.stringify(value).replace(reference, `$1/$defs/${ORIGINAL}`)) as JsonObject
  const { $defs, definitions: _, ...kept } = original
  return { ...lead(schema), $defs: lead({ ...(isObject($defs) && $defs), [ORIGINAL]: kept }) }
}

/** A copy with `properties` in every object's schema, and `items` in every array's. */
function complete(schema: JsonObject): JsonObject {
  const inner = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(inner) : isObject(value) ? complete(value) : value
  const members = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (VALUES.includes(keyword)) return [keyword, structuredClone(value)]
    if (!SCHEMA_MAPS.includes(keyword) || !isObject(value)) return [keyword, inner(value)]
    return [keyword, Object.fromEntries(Object.entries(value).map(([k, v]) => [k, inner(v)]))]
  })
  const types = [schema.type].flat()
  return {
    ...(types.includes('object') && { properties: {} }),
    ...(types.includes('array') && !('prefixItems' in schema) && { items: {} }),
    ...Object.fromEntries(members),
  }
}

/** The part of a schema to which a reference leads; nothing when it leads out of the schema. */
function resolve(root: JsonObject, reference: string): unknown {
  const [start, ...path] = reference.split('/')
  if (start !== '#') return undefined
  return path.reduce<unknown>((part, token) => {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    return Object.entries(Object(part) as object).find(([key]) => key === name)?.[1] as unknown
  }, root)
}

function mapKeys(
  object: JsonObject,
  change: (name: string) => string,
): { [k: string]: JsonObject } {
  const entries = Object.entries(object).map(([name, value]) => [change(name), value])
  return Object.fromEntries(entries) as { [k: string]: JsonObject }
}

/** Sets a member, also one that is named as the prototype. */
function define(object: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(object, name, {
    ...{ value, enumerable: true, writable: true, configurable: true },
  })
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
