/**
 * Matching a URI against the parts of a template, without ever turning back.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570#section-1.4
 */

/** What a URI says, by variable: text, or a list where the variable has a `*`. No prototype. */
export type UriVariables = Record<string, string | string[]>

/** Fixed text, one variable, or the query, which can only be the last. */
export type Part = string | VariablePart | QueryPart

/** One variable. */
export interface VariablePart {
  name: string
  /** Text before the value. With it the variable may be absent; without, the value is not empty. */
  prefix: string
  /** Characters at which the value ends. */
  stops: string
  /** What the items of a list are parted by. */
  separator: string | undefined
}

/** Variables written as `name=value`, in any order. */
export interface QueryPart {
  prefix: string
  /** Whether each name is a list. */
  names: ReadonlyMap<string, boolean>
}

const MAX_URI_CHARACTERS = 8192

/** Escapes what is not printable ASCII; nothing when the text is not well-formed Unicode. */
export function toAscii(text: string): string | undefined {
  try {
    return text.replace(/[^!-~]+/g, encodeURIComponent)
  } catch {
    return undefined
  }
}

/** The values with which the parts give the URI. */
export function matchParts(parts: readonly Part[], uri: string): UriVariables | undefined {
  if (uri.length > MAX_URI_CHARACTERS) return undefined
  const text = toAscii(uri)
  if (text === undefined || text.length > MAX_URI_CHARACTERS) return undefined
  if (typeof parts[0] === 'string' && !text.startsWith(parts[0])) return undefined

  // Per part, from the last to the first: the positions from which the rest of the template leads
  // to the end of the text. With these, the walk from the start knows where each value can end.
  let ends = new Uint8Array(text.length + 1)
  ends[text.length] = 1
  const steps = parts.toReversed().map((part) => {
    const step = { part, ends }
    ends = starts(part, text, ends)
    return step
  })
  return ends[0] ? walk(steps.reverse(), text) : undefined
}

/** The positions at which a part can start, from those at which it may end. */
function starts(part: Part, text: string, ends: Uint8Array): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(ends.length)
  if (typeof part === 'string') {
    for (let i = 0; i < result.length; i++) {
      result[i] = text.startsWith(part, i) ? (ends[i + part.length] ?? 0) : 0
    }
    return result
  }
  const { prefix } = part
  if ('names' in part) {
    for (let i = 0; i < text.length; i++) result[i] = Number(text.startsWith(prefix, i))
    result[text.length] = 1
    return result
  }
  // Where a value that has begun before can still lead to an end.
  const inside = Uint8Array.from(ends)
  for (let i = text.length - 1; i >= 0; i--) {
    if (inside[i + 1] && goesOn(part, text, i)) inside[i] = 1
  }
  for (let i = 0; i < result.length; i++) {
    if (prefix === '') result[i] = goesOn(part, text, i) ? (inside[i + 1] ?? 0) : 0
    else result[i] = ends[i] || (text.startsWith(prefix, i) ? (inside[i + prefix.length] ?? 0) : 0)
  }
  return result
}

function walk(steps: { part: Part; ends: Uint8Array }[], text: string): UriVariables | undefined {
  const values = Object.create(null) as UriVariables
  let at = 0
  for (const { part, ends } of steps) {
    if (typeof part === 'string') {
      at += part.length
    } else if ('names' in part) {
      return readQuery(part, text.slice(at + 1), values)
    } else if (text.startsWith(part.prefix, at)) {
      const start = at + part.prefix.length
      let end = part.prefix === '' ? start + 1 : start
      while (!ends[end] && goesOn(part, text, end)) end++
      // The prefix was the beginning of what follows the variable.
      if (!ends[end]) continue
      const raw = text.slice(start, end)
      const items = decode(part.separator === undefined ? [raw] : raw.split(part.separator))
      if (!items) return undefined
      values[part.name] = part.separator === undefined ? (items[0] ?? '') : items
      at = end
    }
  }
  return values
}

function goesOn({ stops }: VariablePart, text: string, at: number): boolean {
  return at < text.length && !stops.includes(text.charAt(at))
}

/** Nothing when a name is unknown or comes too often, or when there is a fragment. */
function readQuery(
  { names }: QueryPart,
  query: string,
  values: UriVariables,
): UriVariables | undefined {
  if (query.includes('#')) return undefined
  for (const pair of query === '' ? [] : query.split('&')) {
    const equals = pair.indexOf('=')
    const name = equals < 0 ? pair : pair.slice(0, equals)
    const list = names.get(name)
    const [value] = decode([equals < 0 ? '' : pair.slice(equals + 1)]) ?? []
    if (list === undefined || value === undefined) return undefined
    const earlier = values[name]
    if (Array.isArray(earlier)) earlier.push(value)
    else if (earlier === undefined) values[name] = list ? [value] : value
    else return undefined
  }
  return values
}

/** Decodes percent-escapes; nothing when one of them is malformed. */
function decode(texts: string[]): string[] | undefined {
  try {
    return texts.map((text) => decodeURIComponent(text))
  } catch {
    return undefined
  }
}
