/**
 * The keywords of JSON Schema that affect validation, and their valid values.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-validation
 */
import { format as formats } from '@cfworker/json-schema'
import { isObject } from '../protocol/validate.ts'

/** The supported dialects. */
export type Draft = '2020-12' | '2019-09' | '7'

/** The supported dialects, by their URIs. */
export const drafts: ReadonlyMap<string, Draft> = new Map<string, Draft>([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
  ['http://json-schema.org/draft-07/schema', '7'],
])

/** The dialect of a `$schema`; undefined if it is not supported. */
export function findDraft(dialect: unknown): Draft | undefined {
  if (dialect === undefined) return '2020-12'
  return typeof dialect === 'string' ? drafts.get(dialect.replace(/#$/, '')) : undefined
}

/** Copies a subschema; `path` is relative to the parent schema. */
export type Visit = (subschema: unknown, path: string) => unknown

/** Copies a keyword's value. */
interface Keyword {
  /** The value to copy, or {@link INVALID}. */
  readonly read: (value: unknown, visit: Visit) => unknown
  /** The dialects that have the keyword; all of them by default. */
  readonly drafts?: readonly Draft[]
}

/** Marks a malformed value of a keyword. */
export const INVALID: unique symbol = Symbol('invalid')

const since2019: readonly Draft[] = ['2020-12', '2019-09']
const only2020: readonly Draft[] = ['2020-12']
const before2020: readonly Draft[] = ['2019-09', '7']

/** The formats that are asserted: all formats of the specification that the validator supports. */
const FORMATS = new Set(Object.keys(formats))
// The validator supports `url`, which is not a format of the specification
FORMATS.delete('url')

const TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'])

const subschema: Keyword = { read: (value, visit) => visit(value, '') }
const subschemas: Keyword = { read: readList }
const subschemaMap: Keyword = { read: readMap }
const text = accepting((value) => typeof value === 'string')
const count = accepting(
  (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0,
)
const number = accepting((value) => typeof value === 'number')
const names = accepting(isNames)

/** Keywords that are not listed do not affect validation and are omitted from the copy. */
export const keywords: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ['$schema', text],
  ['$id', text],
  ['$ref', text],
  ['$anchor', { ...text, drafts: since2019 }],
  ['$dynamicAnchor', { ...text, drafts: only2020 }],
  ['$dynamicRef', { ...text, drafts: only2020 }],
  [
    '$recursiveAnchor',
    { ...accepting((value) => typeof value === 'boolean'), drafts: ['2019-09'] },
  ],
  ['$recursiveRef', { ...accepting((value) => value === '#'), drafts: ['2019-09'] }],
  ['$defs', { ...subschemaMap, drafts: since2019 }],
  ['definitions', subschemaMap],
  [
    'type',
    accepting((value) =>
      Array.isArray(value) ? value.length > 0 && value.every(isType) : isType(value),
    ),
  ],
  ['const', accepting(() => true)],
  ['enum', accepting(Array.isArray)],
  ['not', subschema],
  ['allOf', subschemas],
  ['anyOf', subschemas],
  ['oneOf', subschemas],
  ['if', subschema],
  ['then', subschema],
  ['else', subschema],
  ['properties', subschemaMap],
  [
    'patternProperties',
    { read: (value, visit) => (hasPatterns(value) ? readMap(value, visit) : INVALID) },
  ],
  ['additionalProperties', subschema],
  ['unevaluatedProperties', { ...subschema, drafts: since2019 }],
  ['propertyNames', subschema],
  ['required', names],
  ['minProperties', count],
  ['maxProperties', count],
  ['dependentRequired', { ...accepting(isNamesMap), drafts: since2019 }],
  ['dependentSchemas', { ...subschemaMap, drafts: since2019 }],
  ['dependencies', { read: readDependencies, drafts: before2020 }],
  ['prefixItems', { ...subschemas, drafts: only2020 }],
  ['additionalItems', { ...subschema, drafts: before2020 }],
  ['unevaluatedItems', { ...subschema, drafts: since2019 }],
  ['contains', subschema],
  ['minContains', { ...count, drafts: since2019 }],
  ['maxContains', { ...count, drafts: since2019 }],
  ['minItems', count],
  ['maxItems', count],
  ['uniqueItems', accepting((value) => typeof value === 'boolean')],
  ['minimum', number],
  ['maximum', number],
  ['exclusiveMinimum', number],
  ['exclusiveMaximum', number],
  ['multipleOf', accepting((value) => typeof value === 'number' && value > 0)],
  ['minLength', count],
  ['maxLength', count],
  ['pattern', accepting(isPattern)],
  ['format', { read: (value) => (typeof value === 'string' ? knownFormat(value) : INVALID) }],
])

/** Reads `items`. Before 2020-12 it may be a list of schemas, which `prefixItems` has replaced. */
export function readItems(draft: Draft, items: unknown, visit: Visit): unknown {
  return Array.isArray(items) && draft !== '2020-12' ? readList(items, visit) : visit(items, '')
}

/** A keyword whose value is copied unchanged, if it is valid. */
function accepting(isValid: (value: unknown) => boolean): Keyword {
  return { read: (value) => (isValid(value) ? value : INVALID) }
}

function readList(list: unknown, visit: Visit): unknown {
  if (!Array.isArray(list) || list.length === 0) return INVALID
  return list.map((item, i) => visit(item, `/${i}`))
}

function readMap(map: unknown, visit: Visit): unknown {
  if (!isObject(map)) return INVALID
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, visit(value, `/${name}`)]),
  )
}

function readDependencies(map: unknown, visit: Visit): unknown {
  return readMap(map, (item, path) => (isNames(item) ? item : visit(item, path)))
}

function knownFormat(name: string): string | undefined {
  return FORMATS.has(name) ? name : undefined
}

function isType(name: unknown): boolean {
  return typeof name === 'string' && TYPES.has(name)
}

function isNames(list: unknown): boolean {
  return Array.isArray(list) && list.every((name) => typeof name === 'string')
}

function isNamesMap(map: unknown): boolean {
  return isObject(map) && Object.values(map).every(isNames)
}

function hasPatterns(map: unknown): boolean {
  return isObject(map) && Object.keys(map).every(isPattern)
}

function isPattern(source: unknown): boolean {
  if (typeof source !== 'string') return false
  try {
    return Boolean(new RegExp(source, 'u'))
  } catch {
    return false
  }
}
