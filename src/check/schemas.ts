/**
 * Checks the schemas of a tool: whether they are valid, and whether they describe all required arguments.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 */
import { danglingReferences } from '../json-schema/dangling-references.ts'
import { invalidKeywords } from '../json-schema/invalid-keywords.ts'
import { SCHEMA_MAPS } from '../json-schema/subschemas.ts'
import { isObject } from '../protocol/validate.ts'
import type { JsonObject, Tool } from '../protocol/types.ts'
import { finding, type Finding } from './finding.ts'

/** The maximum number of invalid keywords, and of undefined properties, that are reported for one schema. */
const MAX_REPORTED = 10
/** The maximum length of a value in a message. */
const MAX_VALUE_LENGTH = 60
/** The maximum depth of the properties that are checked. */
const MAX_DEPTH = 20
/** If a schema has one of these keywords, its properties may be described elsewhere than in "properties". */
const COMBINATORS = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas']

const COUNT = 'an integer that is not negative'
const NUMBER = 'a number'
const SCHEMA = 'a schema: an object or a boolean'
const SCHEMAS = 'an array with at least one schema'
const SCHEMA_MAP = 'an object whose members are schemas'
const TEXT = 'a string'
const BOOLEAN = 'a boolean'

/** The valid values of keywords, in words. */
const allowedValues: ReadonlyMap<string, string> = new Map([
  [
    'type',
    '"string", "number", "integer", "boolean", "object", "array", "null", or an array of these',
  ],
  ...describeEach(
    COUNT,
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
    'minContains',
    'maxContains',
  ),
  ...describeEach(COUNT, 'minProperties', 'maxProperties'),
  ...describeEach(NUMBER, 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'),
  ...describeEach('a number above 0', 'multipleOf'),
  ...describeEach('an array of strings', 'required'),
  ...describeEach('an array', 'enum', 'examples'),
  ...describeEach(SCHEMAS, 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
  ...describeEach(SCHEMA_MAP, 'properties', 'patternProperties', '$defs', 'definitions'),
  ...describeEach(SCHEMA_MAP, 'dependentSchemas'),
  ...describeEach(SCHEMA, 'items', 'additionalProperties', 'propertyNames', 'not', 'contains'),
  ...describeEach(SCHEMA, 'if', 'then', 'else', 'unevaluatedProperties', 'unevaluatedItems'),
  ...describeEach(TEXT, 'title', 'description', 'format', 'pattern', '$schema', '$id', '$ref'),
  ...describeEach(BOOLEAN, 'uniqueItems', 'deprecated', 'readOnly', 'writeOnly'),
])

/** Gives several keywords the same description of their valid values. */
function describeEach(
  description: string,
  ...keywords: readonly string[]
): [keyword: string, description: string][] {
  return keywords.map((keyword) => [keyword, description])
}

/** Describes what is valid at a path, which ends with a keyword, the name of a property, or the index of a schema. */
function allowedValue(path: string): string | undefined {
  const names = path.split('/')
  const name = names.pop() ?? ''
  // A map is a keyword such as `properties`, whose members are names and not keywords. A member may itself be called
  // `properties`. Therefore, the last name is that of a property only after an odd number of consecutive maps
  const mapCount = names.length - 1 - names.findLastIndex((parent) => !SCHEMA_MAPS.has(parent))
  const isProperty = mapCount % 2 === 1
  const isListItem = /^\d+$/.test(name)
  return isProperty || isListItem ? SCHEMA : allowedValues.get(name)
}

/** Checks the input schema and the output schema of a tool. */
export function* schemaFindings(tool: Tool): Generator<Finding> {
  yield* invalidFindings('input', tool.inputSchema, tool.name)
  yield* invalidFindings('output', tool.outputSchema, tool.name)
  let reported = 0
  for (const path of undefinedProperties(tool.inputSchema, '', 0)) {
    if (++reported > MAX_REPORTED) return
    const message = `"required" of the input schema names "${path}", which "properties" does not have`
    yield finding('required-property', message, tool.name)
  }
}

function* invalidFindings(kind: string, schema: unknown, tool: string): Generator<Finding> {
  if (!isObject(schema)) return
  for (const { path, reference } of [...danglingReferences(schema)].slice(0, MAX_REPORTED)) {
    const message = `"${path}" of the ${kind} schema is "${reference}", but the schema has no such part`
    yield finding('invalid-schema', message, tool)
  }
  for (const { path, value } of invalidKeywords(schema).slice(0, MAX_REPORTED)) {
    const text = JSON.stringify(value)
    const excerpt = text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text
    const expected = allowedValue(path)
    const advice = expected === undefined ? '' : `, but must be ${expected}`
    yield finding('invalid-schema', `"${path}" of the ${kind} schema is ${excerpt}${advice}`, tool)
  }
}

/** The paths of required properties that the schema does not describe. */
function* undefinedProperties(schema: unknown, path: string, depth: number): Generator<string> {
  if (!isObject(schema) || depth > MAX_DEPTH) return
  const properties = isObject(schema.properties) ? schema.properties : undefined
  const required = Array.isArray(schema.required) ? schema.required : []
  if (usesOnlyProperties(schema) && (properties || depth === 0)) {
    const missing = required.filter((name) => !Object.hasOwn(properties ?? {}, String(name)))
    for (const name of missing) yield path + name
  }
  for (const [name, value] of Object.entries(properties ?? {})) {
    yield* undefinedProperties(value, `${path}${name}.`, depth + 1)
  }
  yield* undefinedProperties(schema.items, `${path}[].`, depth + 1)
}

/** Whether no keyword but "properties" describes properties. */
function usesOnlyProperties(schema: JsonObject): boolean {
  const isOpen = isObject(schema.patternProperties) || isObject(schema.additionalProperties)
  return !isOpen && !COMBINATORS.some((keyword) => keyword in schema)
}
