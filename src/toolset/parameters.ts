/**
 * Converts the schemas of tools to a form that all large model APIs accept. An API rejects a whole request
 * because of one schema that it does not support. The APIs of OpenAI and Anthropic reject combinators at
 * the root. OpenAI also requires `properties` and `items`. Anthropic also restricts the characters of
 * property names.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#section-10
 */
import type { ObjectSchema, JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { createModelNames } from './names.ts'

/** The maximum length of a property's name. */
const MAX_PROPERTY_LENGTH = 64

/**
 * The maximum number of schemas that are merged into a root, and the maximum number of their members. Further
 * schemas are omitted, because references can multiply schemas without limit, and merging many large schemas
 * would take minutes.
 */
const MAX_MERGED: Budget = { schemas: 100, members: 10_000 }

/** Keywords that model APIs reject at the root. */
const REFUSED_AT_ROOT = '$ref allOf anyOf oneOf not if then else enum const'.split(' ')
/** Keywords whose members are schemas under arbitrary names. */
const SCHEMA_MAPS = '$defs definitions properties patternProperties dependentSchemas'.split(' ')
/** Keywords that hold values, not schemas. */
const VALUE_KEYWORDS = 'const enum default examples required'.split(' ')

/** The name in `$defs` of a copy of the original root. References into the root are redirected to this copy. */
const ORIGINAL_NAME = 'original_input'

/** The numbers of schemas and members that may still be merged. */
interface Budget {
  schemas: number
  /** The number of properties, plus the number of names in `required`. */
  members: number
}

/** The schema for a model, and the mapping back. */
export interface ModelParameters {
  /** A copy that may be changed. */
  readonly schema: ObjectSchema
  /** Renames the arguments of a model to the names in the tool's own schema. */
  readonly restore: (args: JsonObject) => JsonObject
}

/**
 * Creates a schema that every API accepts, and that allows every value that the tool's own schema
 * allows. Alternatives at the root become optional properties, so a model may combine properties of different
 * alternatives. The tool rejects such arguments, and the model can correct them.
 */
export async function createModelParameters(inputSchema: unknown): Promise<ModelParameters> {
  // A server may list any value as a schema, and one invalid schema must not make all tools unusable
  const input = isObject(inputSchema) ? inputSchema : {}
  const flat = flattenSchema(input, input, { ...MAX_MERGED })
  const { properties, required } = partsOf(flat)
  // Draft 4 forbids an empty list
  if (required.length === 0) delete flat.required
  const clean = (name: string): string => name.replace(/[^A-Za-z0-9_.-]/g, '_') || '_'
  const names = await createModelNames(Object.keys(properties), clean, MAX_PROPERTY_LENGTH)
  const rename = (name: string): string => names.get(name) ?? name
  const isRenamed = [...names].some(([original, name]) => original !== name)
  const schema: ObjectSchema = {
    ...flat,
    type: 'object',
    properties: mapKeys(properties, rename),
    ...(required.length > 0 && { required: required.map(rename) }),
  }
  const isChanged = isRenamed || REFUSED_AT_ROOT.some((keyword) => keyword in input)
  const originals = new Map([...names].map(([original, name]) => [name, original]))
  return {
    schema: addMissingKeywords(
      isChanged ? redirectReferences(schema, input) : schema,
    ) as ObjectSchema,
    restore: (args) => (isRenamed ? mapKeys(args, (name) => originals.get(name) ?? name) : args),
  }
}

/** Removes the keywords that are rejected at the root, and merges the properties that they define. */
function flattenSchema(schema: unknown, root: JsonObject, budget: Budget): JsonObject {
  if (!isObject(schema) || budget.schemas <= 0 || budget.members <= 0) return {}
  const { properties, required } = partsOf(schema)
  budget.schemas--
  budget.members -= Object.keys(properties).length + required.length
  const flattenPart = (part: unknown): JsonObject => flattenSchema(part, root, budget)
  const { $ref, allOf, anyOf, oneOf, if: condition, then, else: otherwise } = schema
  const ownKeywords = Object.entries(schema).filter(([name]) => !REFUSED_AT_ROOT.includes(name))
  return [
    typeof $ref === 'string' ? flattenPart(resolveReference(root, $ref)) : {},
    ...asList(allOf).map(flattenPart),
    mergeAlternatives(asList(anyOf).map(flattenPart)),
    mergeAlternatives(asList(oneOf).map(flattenPart)),
    condition === undefined ? {} : mergeAlternatives([flattenPart(then), flattenPart(otherwise)]),
    Object.fromEntries(ownKeywords),
  ].reduce(mergeConjunction)
}

/** Merges two schemas that must both match. If keywords conflict, the second schema takes precedence. */
function mergeConjunction(first: JsonObject, second: JsonObject): JsonObject {
  const firstParts = partsOf(first)
  const secondParts = partsOf(second)
  const properties = { ...firstParts.properties }
  for (const [name, property] of Object.entries(secondParts.properties)) {
    const earlier = properties[name]
    const areSchemas = isObject(earlier) && isObject(property)
    setMember(properties, name, areSchemas ? { ...earlier, ...property } : property)
  }
  const required = [...new Set([...firstParts.required, ...secondParts.required])]
  return { ...first, ...second, properties, required }
}

/** Merges alternative schemas. A property is required if every alternative requires it. */
function mergeAlternatives(alternatives: readonly JsonObject[]): JsonObject {
  const parts = alternatives.map(partsOf)
  const properties: JsonObject = {}
  for (const name of new Set(parts.flatMap((part) => Object.keys(part.properties)))) {
    const partsWithName = parts.filter((part) => Object.hasOwn(part.properties, name))
    const texts = new Set(partsWithName.map((part) => JSON.stringify(part.properties[name])))
    const anyOf = [...texts].map((text): unknown => JSON.parse(text))
    setMember(properties, name, anyOf.length > 1 ? { anyOf } : anyOf[0])
  }
  const [first, ...others] = parts.map((part) => new Set(part.required))
  const required = [...(first ?? [])].filter((name) => others.every((other) => other.has(name)))
  return { properties, required }
}

/** The properties of a schema, and the names of the required properties. */
function partsOf({ properties, required }: JsonObject): {
  properties: JsonObject
  required: string[]
} {
  return {
    properties: isObject(properties) ? properties : {},
    required: asList(required).filter((name) => typeof name === 'string'),
  }
}

/**
 * Adds a copy of the original root to the definitions. References into the root are redirected to
 * that copy, because parts of the root may have moved.
 */
function redirectReferences(schema: JsonObject, original: JsonObject): JsonObject {
  const text = JSON.stringify(schema)
  // Matches a reference to the root or to a place in the root, except to its definitions. The same characters
  // in a string do not match, because JSON escapes the quotes in a string
  const reference = /("\$ref":"#)(?="|\/(?!\$defs\/|definitions\/))/g
  if (!reference.test(text)) return schema
  const redirect = (value: unknown): JsonObject =>
    JSON.parse(JSON.stringify(value).replace(reference, `$1/$defs/${ORIGINAL_NAME}`)) as JsonObject
  const { $defs, definitions: _, ...originalRoot } = original
  const newDefs = { ...(isObject($defs) && $defs), [ORIGINAL_NAME]: originalRoot }
  return { ...redirect(schema), $defs: redirect(newDefs) }
}

/** A copy with `properties` in every object schema, and `items` in every array schema. */
function addMissingKeywords(schema: JsonObject): JsonObject {
  const addToInner = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(addToInner)
    return isObject(value) ? addMissingKeywords(value) : value
  }
  const members = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (VALUE_KEYWORDS.includes(keyword)) return [keyword, structuredClone(value)]
    if (!SCHEMA_MAPS.includes(keyword) || !isObject(value)) return [keyword, addToInner(value)]
    const schemas = Object.entries(value).map(([name, inner]) => [name, addToInner(inner)])
    return [keyword, Object.fromEntries(schemas)]
  })
  const types = [schema.type].flat()
  return {
    ...(types.includes('object') && { properties: {} }),
    ...(types.includes('array') && !('prefixItems' in schema) && { items: {} }),
    ...Object.fromEntries(members),
  }
}

/** Returns the subschema to which a reference points; `undefined` if the reference points outside the schema. */
function resolveReference(root: JsonObject, reference: string): unknown {
  const [start, ...path] = reference.split('/')
  if (start !== '#') return undefined
  return path.reduce<unknown>((part, token) => {
    return ownMember(part, token.replaceAll('~1', '/').replaceAll('~0', '~'))
  }, root)
}

/** Returns a member of an object or array. Members of the prototype are ignored. */
function ownMember(value: unknown, name: string): unknown {
  return Object.entries(Object(value) as object).find(([key]) => key === name)?.[1]
}

function mapKeys(
  object: JsonObject,
  change: (name: string) => string,
): { [name: string]: JsonObject } {
  const entries = Object.entries(object).map(([name, value]) => [change(name), value])
  return Object.fromEntries(entries) as { [name: string]: JsonObject }
}

/** Sets a member, even if its name is `__proto__`. */
function setMember(object: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
