/**
 * Finds the fields that a server's validation error is about. Servers describe them in many ways, so this
 * recognizes the formats of common validators.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 */
import { isObject } from 'edgewise/browser'

/** A fault of one value. */
export interface Issue {
  /** The keys and indexes that lead to the value. */
  path: readonly string[]
  message: string
}

/** The maximum length of an error text that is searched, in characters. */
const MAX_LENGTH = 20_000
/** The maximum length of a path, in characters. */
const MAX_PATH = 1_000
/** The maximum length of a sentence that is shown as a message, in characters. */
const MAX_SENTENCE = 300
/** The maximum number of issues. */
const MAX_ISSUES = 50

/**
 * Finds the issues in the message and the data of an error.
 *
 * @param names The names of the form's fields. Only issues about these are returned.
 */
export function issuesOf(text: string, data: unknown, names: readonly string[]): Issue[] {
  const searched = text.slice(0, MAX_LENGTH)
  const sources = [
    () => issuesIn(data),
    () => issuesIn(jsonIn(searched)),
    () => pathLines(searched, names),
    () => pydanticLines(searched),
    () => quotedNames(searched, names),
  ]
  for (const find of sources) {
    const found = find().filter(({ path: [name = ''] }) => names.includes(name))
    if (found.length > 0) return found.slice(0, MAX_ISSUES)
  }
  return []
}

/** The issues in a JSON value: objects with a message and a path, as zod, valibot and ajv create them. */
function issuesIn(value: unknown): Issue[] {
  if (Array.isArray(value)) return value.flatMap(issuesIn)
  if (!isObject(value)) return []
  const { message, msg, path, loc, instancePath, keyword, params } = value
  const text = [message, msg].find((each) => typeof each === 'string')
  const keys = pathOf(path ?? loc ?? instancePath)
  if (text !== undefined && keys) {
    const missing =
      isObject(params) && keyword === 'required' ? params['missingProperty'] : undefined
    return [{ path: typeof missing === 'string' ? [...keys, missing] : keys, message: text }]
  }
  const { issues, errors, details } = value
  return [issues, errors, details].flatMap(issuesIn)
}

/** A path as an array of keys, of objects with keys, or as text such as `/a/0`, `a.0` and `a[0]`. */
function pathOf(value: unknown): string[] | undefined {
  if (Array.isArray(value)) {
    return value.map((key: unknown) => String(isObject(key) ? key['key'] : key))
  }
  return typeof value === 'string' ? splitPath(value) : undefined
}

function splitPath(text: string): string[] {
  return text
    .slice(0, MAX_PATH)
    .replace(/^(?:data|instance|input|arguments|args|params)(?=[./[])/, '')
    .replaceAll(/\[['"]?([^\]'"]+)['"]?\]/g, '.$1')
    .split(/[./]/)
    .filter((key) => key !== '')
}

/** The JSON array or object in a text, as the official SDKs append it. */
function jsonIn(text: string): unknown {
  const start = text.search(/[[{]\s*["{[]/)
  const end = Math.max(text.lastIndexOf(']'), text.lastIndexOf('}'))
  if (start === -1 || end < start) return undefined
  try {
    return JSON.parse(text.slice(start, end + 1))
  } catch {
    return undefined
  }
}

/** A path before a colon, such as `guests.0.name: `. */
const COLON = /(?<=^|\s)"?([\w$.[\]/-]+)"?: +(?=\S)/g
/** A path that begins with a separator, such as `/guests/0/name ` and `data.size `. */
const POINTER = /(?<=^|\s)((?:data|instance)?(?:[/.][\w$-]+)+)\s+(?=\S)/g

/** Parts such as `guests.0.name: Required`, `/size must be string` and `data/size must be string`. */
function pathLines(text: string, names: readonly string[]): Issue[] {
  return text.split(/\n|; |, (?=data[/.])/).flatMap((part) => {
    const found = [COLON, POINTER]
      .flatMap((pattern) => [...part.matchAll(pattern)])
      .map(({ 0: { length }, 1: path = '', index }) => {
        // In the middle of a sentence, such as `Unknown city: "K"`, the words before it belong to the message
        const before = part.slice(0, index).trimEnd().at(-1) ?? ''
        const isPart = /[\p{L}\d"']/u.test(before)
        const message = isPart ? part.trim().slice(0, MAX_SENTENCE) : part.slice(index + length)
        return { path: splitPath(path), message }
      })
      .find(({ path: [name = ''] }) => names.includes(name))
    return found ? [found] : []
  })
}

/** The lines of pydantic: a path, and below it an indented message with its type in brackets. */
function pydanticLines(text: string): Issue[] {
  const lines = text.matchAll(/^([\w.-]+)\n {2,}(\S.*?)(?: \[type=.*)?$/gm)
  return Array.from(lines, ([, path = '', message = '']) => ({ path: splitPath(path), message }))
}

/** Sentences about a quoted name, such as `must have required property 'size'`. */
function quotedNames(text: string, names: readonly string[]): Issue[] {
  if (!/required|missing|invalid|must|expected/i.test(text)) return []
  return names
    .filter((name) => ['"', "'", '`', '“'].some((quote) => text.includes(quote + name)))
    .map((name) => ({ path: [name], message: sentenceAbout(text, name) }))
}

function sentenceAbout(text: string, name: string): string {
  const sentences = text.split(/\n|(?<=[.;]) /)
  return (sentences.find((sentence) => sentence.includes(name)) ?? text)
    .trim()
    .slice(0, MAX_SENTENCE)
}
