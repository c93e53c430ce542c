/**
 * Parses the arguments of tools and prompts from a command line.
 */
import { isObject, type JsonObject } from '../../../src/index.ts'
import { UsageError } from './usage.ts'

/**
 * Parses `name=value` by the schema of a tool, and `name:=json` as JSON, and adds them to `base`.
 *
 * @throws {UsageError} If an argument has neither form, or is not JSON.
 */
export function readValues(
  words: readonly string[],
  schema: JsonObject,
  base: JsonObject,
): JsonObject {
  const read = words.map((word): [string, JsonObject[string]] => {
    const [, name, colon, text] = /^(?!:=)([^=]+?)(:?)=(.*)$/s.exec(word) ?? []
    if (name === undefined || text === undefined) {
      throw new UsageError(`"${word}" is not of the form name=value`)
    }
    return [name, colon ? json(text, name) : typed(text, propertyOf(schema, name), schema)]
  })
  return { ...base, ...Object.fromEntries(read) }
}

/**
 * Parses a JSON object, from `text` or, for `-`, from standard input.
 *
 * @throws {UsageError} If it is not a JSON object.
 */
export async function readObject(text: string | undefined): Promise<JsonObject> {
  if (text === undefined) return {}
  let source = text
  if (text === '-') {
    source = ''
    process.stdin.setEncoding('utf8')
    for await (const piece of process.stdin) source += String(piece)
    // Some shells add a byte order mark to piped input.
    source = source.replace(/^\uFEFF/, '')
  }
  const value = json(source, '--args')
  if (isObject(value)) return value
  throw new UsageError('"--args" must be a JSON object')
}

function propertyOf({ properties }: JsonObject, name: string): unknown {
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
}

/**
 * A string if the schema allows strings; otherwise the text parsed as JSON, or a string if it is
 * invalid.
 */
function typed(text: string, property: unknown, schema: JsonObject): unknown {
  if (takesText(property, schema, new Set())) return text
  try {
    const value: unknown = JSON.parse(text)
    return isExact(value, text) ? value : text
  } catch {
    return text
  }
}

/** Whether a schema, or one of its subschemas, allows strings. */
function takesText(schema: unknown, root: JsonObject, seen: Set<unknown>): boolean {
  if (!isObject(schema) || seen.has(schema)) return false
  seen.add(schema)
  const { type, anyOf, oneOf, allOf, enum: values, const: only, $ref } = schema
  if (type !== undefined) return [type].flat().includes('string')
  const parts = [anyOf, oneOf, allOf, referred($ref, root)].flat()
  return [values, only].flat().some(isText) || parts.some((part) => takesText(part, root, seen))
}

/** The target of a reference into the same schema. */
function referred($ref: unknown, root: JsonObject): unknown {
  const [, path] = /^#\/(.+)$/.exec(String($ref)) ?? []
  return path?.split('/').reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), root)
}

/**
 * Whether a number preserves the original text: JSON numbers cannot represent an id of twenty
 * digits.
 */
function isExact(value: unknown, text: string): boolean {
  if (typeof value !== 'number') return true
  return Number.isFinite(value) && (!/^-?\d+$/.test(text) || Number.isSafeInteger(value))
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function json(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`"${name}" is not JSON`)
  }
}
