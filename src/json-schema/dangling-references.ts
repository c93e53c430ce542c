/**
 * Finds the references of a JSON Schema to parts of the schema that do not exist, without compiling the schema.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#name-direct-references-with-ref
 */
import { isObject } from '../protocol/validate.ts'
import type { JsonObject } from '../protocol/types.ts'
import { findDraft } from './keywords.ts'
import { SCHEMA_MAPS, SUBSCHEMAS } from './subschemas.ts'

/** A reference without a target. */
export interface DanglingReference {
  /** Where the reference is, such as `#/properties/city/$ref`. */
  readonly path: string
  readonly reference: string
}

/** The maximum depth of subschemas. Deeper subschemas are not searched. */
const MAX_DEPTH = 100

/**
 * Finds the references with a fragment, such as `#/$defs/city`, that point to nothing. Schemas of unknown dialects are
 * not searched.
 */
export function* danglingReferences(schema: JsonObject): Generator<DanglingReference> {
  if (findDraft(schema.$schema)) yield* visit(schema, '#', schema, 0)
}

/** @param root The schema that fragments refer to: the nearest enclosing schema with an `$id`, or the whole schema. */
function* visit(
  schema: unknown,
  path: string,
  root: JsonObject,
  depth: number,
): Generator<DanglingReference> {
  if (depth > MAX_DEPTH) return
  if (Array.isArray(schema)) {
    for (const [index, item] of schema.entries())
      yield* visit(item, `${path}/${index}`, root, depth + 1)
    return
  }
  if (!isObject(schema)) return
  const { $id, $ref } = schema
  const base = typeof $id === 'string' && !$id.startsWith('#') ? schema : root
  if (typeof $ref === 'string' && $ref.startsWith('#') && !hasTarget(base, $ref.slice(1))) {
    yield { path: `${path}/$ref`, reference: $ref }
  }
  for (const [name, value] of Object.entries(schema)) {
    const valuePath = `${path}/${name}`
    if (SUBSCHEMAS.has(name)) yield* visit(value, valuePath, base, depth + 1)
    else if (SCHEMA_MAPS.has(name) && isObject(value)) {
      for (const [key, member] of Object.entries(value))
        yield* visit(member, `${valuePath}/${key}`, base, depth + 1)
    }
  }
}

/** Whether a fragment selects a part of a schema: by a JSON Pointer, or by the name of an anchor. */
function hasTarget(root: JsonObject, fragment: string): boolean {
  const decoded = decode(fragment)
  if (decoded === undefined) return false
  if (decoded !== '' && !decoded.startsWith('/')) return hasAnchor(root, decoded)
  let found: unknown = root
  for (const part of decoded.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return false
    found = (found as JsonObject)[key]
  }
  return true
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return undefined
  }
}

/** Whether a schema has an anchor with a name anywhere. Draft 7 declares anchors in `$id`. */
function hasAnchor(value: unknown, name: string, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false
  const { $anchor, $dynamicAnchor, $id } = value as JsonObject
  if ($anchor === name || $dynamicAnchor === name || $id === `#${name}`) return true
  return Object.values(value).some((member) => hasAnchor(member, name, depth + 1))
}
