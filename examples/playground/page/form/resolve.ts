/**
 * Makes one schema of what a JSON Schema puts together from several.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#name-a-vocabulary-for-applying-s
 */
import { isObject, type JsonObject } from 'edgewise/browser'

/** The most schemas that are put together. */
const MAX_PARTS = 1_000

/**
 * Follows local references, joins what has to hold together, and takes `null` out of a union: a
 * empty field means the same.
 *
 * @param seen What was joined already: a second time, as in recursive schemas, it adds nothing.
 */
export function resolve(
  schema: unknown,
  root: JsonObject,
  seen: Set<unknown> = new Set(),
): JsonObject {
  if (!isObject(schema) || seen.has(schema) || seen.size >= MAX_PARTS) return {}
  seen.add(schema)
  const { $ref, allOf, ...rest } = schema
  const parts = Array.isArray(allOf) ? [...allOf] : []
  if (typeof $ref === 'string') parts.push(lookUp($ref, root))
  const [only, ...others] = membersOf(schema)
  if (only && others.length === 0 && !('const' in only)) {
    delete rest['anyOf']
    delete rest['oneOf']
    parts.push(only)
  }
  const { type } = rest
  if (Array.isArray(type)) {
    const types = type.filter((name) => name !== 'null')
    if (types.length === 1) rest['type'] = types[0]
  }
  return parts.map((part) => resolve(part, root, seen)).reduceRight(join, rest)
}

/** The schemas of which a value has one; that it may be `null` is left out. */
export function membersOf({ anyOf, oneOf }: JsonObject): JsonObject[] {
  const members = [anyOf, oneOf].find(Array.isArray) ?? []
  return members.filter(isObject).filter(({ type }) => type !== 'null')
}

/** A schema that demands what both do; where they differ, what the first says. */
function join(first: JsonObject, second: JsonObject): JsonObject {
  const joined = { ...second, ...first }
  if (isObject(first['properties']) && isObject(second['properties'])) {
    joined['properties'] = { ...second['properties'], ...first['properties'] }
  }
  if (Array.isArray(first['required']) && Array.isArray(second['required'])) {
    joined['required'] = [...second['required'], ...first['required']]
  }
  return joined
}

/** What a JSON Pointer fragment points at. */
function lookUp(reference: string, root: JsonObject): unknown {
  if (!reference.startsWith('#')) return {}
  let found: unknown = root
  try {
    for (const part of decodeURIComponent(reference).split('/').slice(1)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined
    }
  } catch {
    return {}
  }
  return found ?? {}
}
