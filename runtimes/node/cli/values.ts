/**
 * Arguments of tools and prompts, as they are written on a command line.
 */
import type { JsonObject } from '../../../src/index.ts'
import { UsageError } from './usage.ts'

/**
 * Reads `name=value` by the schema of a tool, and `name:=json` as it stands, over the members of
 * `base`.
 *
 * @throws {UsageError} when a word is none of these, or is no JSON.
 */
export function readValues(
  words: readonly string[],
  schema: JsonObject,
  base: JsonObject,
): JsonObject {
  const read = words.map((word): [string, JsonObject[string]] => {
    const [, name, colon, text] = /^([^=]+?)(:?)=(.*)$/s.exec(word) ?? []
    if (name === undefined || text === undefined) {
      throw new UsageError(`"${word}" is no name=value`)
    }
    return [name, colon ? json(text, name) : typed(text, propertyOf(schema, name))]
  })
  return { ...base, ...Object.fromEntries(read) }
}

/**
 * Reads a JSON object, from `text` or, for `-`, from standard input.
 *
 * @throws {UsageError} when it is none.
 */
export async function readObject(text: string | undefined): Promise<JsonObject> {
  if (text === undefined) return {}
  let source = text
  if (text === '-') {
    source = ''
    process.stdin.setEncoding('utf8')
    for await (const piece of process.stdin) source += String(piece)
  }
  const value = json(source, '--args')
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as JsonObject
  }
  throw new UsageError('"--args" must be a JSON object')
}

function propertyOf({ properties }: JsonObject, name: string): JsonObject {
  const known = (properties as { [name: string]: JsonObject } | undefined) ?? {}
  return Object.hasOwn(known, name) ? (known[name] ?? {}) : {}
}

/** Text where the schema takes text; else what the text is as JSON, or text again. */
function typed(text: string, { type }: JsonObject): unknown {
  const types: unknown[] = Array.isArray(type) ? type : [type]
  if (types.includes('string')) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function json(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`"${what}" is no JSON`)
  }
}
