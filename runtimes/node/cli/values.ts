/**
 * Parses the arguments of tools and prompts from a command line.
 */
import { isObject, type JsonObject } from '../../../src/index.ts'
import { UsageError } from './usage.ts'

/**
 * Parses arguments of the form `name=value` according to the schema of a tool, and arguments of the form `name:=json`
 * as JSON. Returns their values together with those of `base`, which they override.
 *
 * @throws {UsageError} If an argument has neither form, is not JSON, or is repeated.
 */
export function readValues(
  words: readonly string[],
  schema: JsonObject,
  base: JsonObject,
): JsonObject {
  const entries = words.map((word): [string, JsonObject[string]] => {
    // A name, then `=` or `:=`, then a value
    const [, name, colon, text] = /^(?!:=)([^=]+?)(:?)=(.*)$/s.exec(word) ?? []
    if (name === undefined || text === undefined) {
      throw new UsageError(`"${word}" is not of the form name=value`)
    }
    const property = propertyOf(schema, name)
    return [name, colon ? parseJson(text, name) : parseBySchema(text, property, schema)]
  })
  const names = entries.map(([name]) => name)
  const repeated = names.find((name, index) => names.indexOf(name) < index)
  if (repeated !== undefined) throw new UsageError(`"${repeated}" has more than one value`)
  return { ...base, ...Object.fromEntries(entries) }
}

/**
 * Parses a JSON object from a text. If the text is `-`, reads it from standard input.
 *
 * @throws {UsageError} If the text is not a JSON object.
 */
export async function readObject(text: string | undefined): Promise<JsonObject> {
  if (text === undefined) return {}
  let source = text
  if (text === '-') {
    source = ''
    process.stdin.setEncoding('utf8')
    for await (const chunk of process.stdin) source += String(chunk)
    // Some shells add a byte order mark to piped input
    source = source.replace(/^\uFEFF/, '')
  }
  const value = parseJson(source, '--args')
  if (isObject(value)) return value
  throw new UsageError('"--args" must be a JSON object')
}

function propertyOf({ properties }: JsonObject, name: string): unknown {
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
}

/**
 * Parses a text as JSON. Returns the text itself if the schema allows strings, or if the text is not JSON or is a
 * number that would be rounded.
 */
function parseBySchema(text: string, property: unknown, schema: JsonObject): unknown {
  if (allowsStrings(property, schema, new Set())) return text
  try {
    const value: unknown = JSON.parse(text)
    return isExact(value, text) ? value : text
  } catch {
    return text
  }
}

/** Whether a schema, or one of its subschemas, allows strings. */
function allowsStrings(schema: unknown, root: JsonObject, seen: Set<unknown>): boolean {
  if (!isObject(schema) || seen.has(schema)) return false
  seen.add(schema)
  const { type, anyOf, oneOf, allOf, enum: values, const: constant, $ref } = schema
  if (type !== undefined) return [type].flat().includes('string')
  const parts = [anyOf, oneOf, allOf, resolveReference($ref, root)].flat()
  if ([values, constant].flat().some(isString)) return true
  return parts.some((part) => allowsStrings(part, root, seen))
}

/** Returns the part of the schema that a reference leads to. References to other documents are not resolved. */
function resolveReference($ref: unknown, root: JsonObject): unknown {
  const [, path] = /^#\/(.+)$/.exec(String($ref)) ?? []
  return path
    ?.split('/')
    .reduce<unknown>((part, name) => (isObject(part) ? part[name] : undefined), root)
}

/**
 * Whether a value that was parsed from a text is exact. For example, a JavaScript number cannot represent an id of
 * twenty digits.
 */
function isExact(value: unknown, text: string): boolean {
  if (typeof value !== 'number') return true
  return Number.isFinite(value) && (!/^-?\d+$/.test(text) || Number.isSafeInteger(value))
}

function isString(value: unknown): boolean {
  return typeof value === 'string'
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`"${name}" is not JSON`)
  }
}
