/**
 * Merges the parts of a JSON Schema into one schema.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#name-a-vocabulary-for-applying-s
 */
import { isObject, type JsonObject } from 'edgewise/browser'

/** The maximum number of schemas that are merged. */
const MAX_PARTS = 1_000

/**
 * Resolves local references, merges the schemas of `allOf`, and removes `null` from unions, because an
 * empty field means `null`.
 *
 * @param seen The schemas that were already merged. A recursive schema is not merged again.
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
  return parts.map((part) => resolve(part, root, seen)).reduceRight(merge, rest)
}

/** Returns the alternatives of a schema, except `null`. */
export function membersOf({ anyOf, oneOf }: JsonObject): JsonObject[] {
  const members = [anyOf, oneOf].find(Array.isArray) ?? []
  return members.filter(isObject).filter(({ type }) => type !== 'null')
}

/** Merges two schemas. If they contradict each other, the first one takes precedence. */
function merge(first: JsonObject, second: JsonObject): JsonObject {
  const merged = { ...second, ...first }
  if (isObject(first['properties']) && isObject(second['properties'])) {
    merged['properties'] = { ...second['properties'], ...first['properties'] }
  }
  if (Array.isArray(first['required']) && Array.isArray(second['required'])) {
    merged['required'] = [...second['required'], ...first['required']]
  }
  return merged
}

/** Returns the target of a JSON Pointer fragment. */
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
