/**
 * Tools' schemas in the form that the large model APIs accept. Each API rejects a whole request
 * because of one schema that another accepts: OpenAI's requires `properties` and `items`, both it
 * and Anthropic's reject combinators at the root, and Anthropic's also property names outside an
 * alphabet.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#section-10
 */
import type { ObjectSchema, JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { modelNames } from './names.ts'

/** The longest name of a property. */
const MAX_PROPERTY_LENGTH = 64

/**
 * The maximum number of schemas merged into a root; further ones are omitted, as references can
 * multiply them.
 */
const MAX_MERGED = 100

/** Keywords that model APIs reject at the root. */
const REFUSED_AT_ROOT = '$ref allOf anyOf oneOf not if then else enum const'.split(' ')
/** Keywords whose members are schemas under arbitrary names. */
const SCHEMA_MAPS = '$defs definitions properties patternProperties dependentSchemas'.split(' ')
/** Keywords that hold values, not schemas. */
const VALUES = 'const enum default examples required'.split(' ')

/** The definition of the original root, for references to it. */
const ORIGINAL = 'original_input'

/** The schema for a model, and the mapping back. */
export interface ModelParameters {
  /** A copy that may be changed. */
  readonly schema: ObjectSchema
  /** Converts the arguments of a model back to the names that the tool knows. */
  readonly restore: (args: JsonObject) => JsonObject
}

/**
 * A schema that every API accepts, and that allows at least what the tool's own does. Alternatives
 * at the root become optional properties: the tool validates its arguments, and reports to the
 * model what is wrong.
 */
export async function modelParameters(input: ObjectSchema): Promise<ModelParameters> {
  const flat = flatten(input, input, { left: MAX_MERGED })
  const { properties, required } = partsOf(flat)
  // Draft 4 forbids an empty list
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

/**
 * A schema without the keywords that are rejected at the root; what they say about properties is
 * merged.
 */
function flatten(schema: unknown, root: JsonObject, budget: { left: number }): JsonObject {
  if (!isObject(schema) || budget.left-- <= 0) return {}
  const into = (part: unknown): JsonObject => flatten(part, root, budget)
  const { $ref, allOf, anyOf, oneOf, if: condition, then, else: otherwise } = schema
  const ownKeywords = Object.entries(schema).filter(([name]) => !REFUSED_AT_ROOT.includes(name))
  return [
    typeof $ref === 'string' ? into(resolve(root, $ref)) : {},
    ...list(allOf).map(into),
    either(list(anyOf).map(into)),
    either(list(oneOf).map(into)),
    condition === undefined ? {} : either([into(then), into(otherwise)]),
    Object.fromEntries(ownKeywords),
  ].reduce(both)
}

/** The conjunction of two schemas; for conflicting keywords, `b` takes precedence. */
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

/** The union of the alternatives' properties, with those required that all of them require. */
function either(alternatives: readonly JsonObject[]): JsonObject {
  const parts = alternatives.map(partsOf)
  const properties: JsonObject = {}
  for (const name of new Set(parts.flatMap((part) => Object.keys(part.properties)))) {
    const partsWithName = parts.filter((part) => Object.hasOwn(part.properties, name))
    const texts = new Set(partsWithName.map((part) => JSON.stringify(part.properties[name])))
    const anyOf = [...texts].map((text): unknown => JSON.parse(text))
    define(properties, name, anyOf.length > 1 ? { anyOf } : anyOf[0])
  }
  const [first, ...others] = parts.map(({ required }) => required)
  const required = first?.filter((name) => others.every((other) => other.includes(name))) ?? []
  return { properties, required }
}

/** The properties of a schema, and the required ones. */
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
 * Redirects references into the root, whose parts may have moved, to a copy of the original among
 * the definitions.
 */
function keepReferences(schema: JsonObject, original: JsonObject): JsonObject {
  const text = JSON.stringify(schema)
  // No text within a value matches this, as its quotes are escaped
  const reference = /("\$ref":"#)(?="|\/(?!\$defs\/|definitions\/))/g
  if (!reference.test(text)) return schema
  const lead = (value: unknown): JsonObject =>
    JSON.parse(JSON.stringify(value).replace(reference, `$1/$defs/${ORIGINAL}`)) as JsonObject
  const { $defs, definitions: _, ...kept } = original
  return { ...lead(schema), $defs: lead({ ...(isObject($defs) && $defs), [ORIGINAL]: kept }) }
}

/** A copy with `properties` in every object schema, and `items` in every array schema. */
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

/** The subschema that a reference points to; `undefined` if it points outside the schema. */
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

/** Sets a member, even one named `__proto__`. */
function define(object: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(object, name, {
    ...{ value, enumerable: true, writable: true, configurable: true },
  })
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
