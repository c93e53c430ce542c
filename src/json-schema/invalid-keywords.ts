/**
 * Finds keywords with invalid values in a JSON Schema, without compiling the schema.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core
 */
import { isObject } from '../protocol/validate.ts'
import { findDraft, INVALID, keywords, readItems, type Draft, type Visit } from './keywords.ts'

/** A part of a schema that is not valid. */
export interface InvalidKeyword {
  /** Where the invalid part is, such as `#/properties/city/type`. */
  readonly path: string
  readonly value: unknown
}

/** The maximum depth of subschemas. Deeper subschemas are not checked. */
const MAX_DEPTH = 100

const isString = (value: unknown): boolean => typeof value === 'string'
const isBoolean = (value: unknown): boolean => typeof value === 'boolean'

/** The keywords whose values are checked here instead of by `keywords.ts`. Most do not affect validation. */
const ownChecks: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['$comment', isString],
  ['title', isString],
  ['description', isString],
  ['contentEncoding', isString],
  ['contentMediaType', isString],
  ['deprecated', isBoolean],
  ['readOnly', isBoolean],
  ['writeOnly', isBoolean],
  ['examples', Array.isArray],
  // Only has to be a string, because validators differ in the regular expressions that they support
  ['pattern', isString],
])

/**
 * Finds the parts of a schema that its dialect does not allow. Schemas of unknown dialects are not checked.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#json-schema-usage
 */
export function invalidKeywords(schema: unknown): InvalidKeyword[] {
  const draft = findDraft(isObject(schema) ? schema.$schema : undefined)
  const found: InvalidKeyword[] = []
  if (draft) visitSchema(schema, '#', draft, found, 0)
  return found
}

function visitSchema(
  schema: unknown,
  path: string,
  draft: Draft,
  found: InvalidKeyword[],
  depth: number,
): void {
  if (typeof schema === 'boolean' || depth > MAX_DEPTH) return
  if (!isObject(schema)) {
    found.push({ path, value: schema })
    return
  }
  for (const [name, value] of Object.entries(schema)) {
    const keywordPath = `${path}/${name}`
    const visit: Visit = (part, partPath) => {
      visitSchema(part, keywordPath + partPath, draft, found, depth + 1)
    }
    if (!isValid(name, value, draft, visit)) found.push({ path: keywordPath, value })
  }
}

function isValid(name: string, value: unknown, draft: Draft, visit: Visit): boolean {
  const ownCheck = ownChecks.get(name)
  if (ownCheck) return ownCheck(value)
  if (name === 'items') return readItems(draft, value, visit) !== INVALID
  // The names in `patternProperties` are patterns, which are not checked
  const keyword = keywords.get(name === 'patternProperties' ? 'properties' : name)
  const isKnown = keyword !== undefined && (keyword.drafts?.includes(draft) ?? true)
  return !isKnown || keyword.read(value, visit) !== INVALID
}
