/**
 * URI templates: RFC 6570 up to level 3, and the `*` of level 4.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570
 */
import { McpError } from '../../protocol/errors.ts'
import { matchParts, toAscii, type Part, type UriVariables } from './uri-match.ts'

export type { UriVariables } from './uri-match.ts'

/** A compiled template. */
export interface UriTemplate {
  /** The template as it was written. */
  readonly source: string
  /** The variables in the template's order. */
  readonly variables: readonly string[]
  /**
   * The values with which the template gives the URI, percent-escapes decoded; nothing when there
   * are none. A decoded value may hold any character, `/` and `..` included.
   *
   * - `{x}` has at least one character and ends before `/`, `?` or `#`; `{+x}` may hold these.
   * - `{.x}`, `{/x}`, `{;x}`, `{#x}` and all but the first name of a list may be absent.
   * - `{?x,y}` and `{&x,y}` take their names in any order, each once at most unless it has a `*`.
   *   A name that the template lacks is no match.
   * - Where several readings fit, earlier variables are as short as the rest allows.
   *
   * Takes time linear in the URI; one of more than 8,192 characters never matches.
   */
  match(uri: string): UriVariables | undefined
}

/** How an operator writes its variables. */
interface Operator {
  /** Goes before the first value. */
  first: string
  /** Goes between values. */
  separator: string
  /** Characters at which a value ends. */
  stops: string
}

/** What one pair of braces holds. */
export interface Expression extends Operator {
  /** The operator. */
  symbol: string
  /** The variables in their order; one that has a `*` is a list whose items stand alone. */
  variables: { name: string; explode: boolean }[]
}

const MAX_VARIABLES = 32

const OPERATORS = new Map<string, Operator>([
  ['', { first: '', separator: ',', stops: '/?#' }],
  ['+', { first: '', separator: ',', stops: '' }],
  ['#', { first: '#', separator: ',', stops: '' }],
  ['.', { first: '.', separator: '.', stops: '/?#' }],
  ['/', { first: '/', separator: '/', stops: '/?#' }],
  [';', { first: ';', separator: ';', stops: ';/?#' }],
  ['?', { first: '?', separator: '&', stops: '#' }],
  ['&', { first: '&', separator: '&', stops: '#' }],
])

/**
 * Compiles a URI template (RFC 6570), which `server.resourceTemplate` takes.
 *
 * @example
 * ```ts
 * server.resourceTemplate(uriTemplate('notes://{title}'), { name: 'note' }, ({ variables }) =>
 *   readNote(variables.title),
 * )
 * ```
 *
 * @throws {McpError} `INVALID_USE` when the template is malformed, has more than 32 variables or one
 * of them twice, or has what cannot be matched: `{x:3}`, `{;x*}`, anything behind a query.
 */
export function uriTemplate(template: string): UriTemplate {
  const fail: Fail = failure(template)
  const segments = parseUriTemplate(template)
  const names = segments.flatMap((segment) =>
    typeof segment === 'string' ? [] : segment.variables.map(({ name }) => name),
  )
  if (names.length > MAX_VARIABLES) fail(`it has more than ${MAX_VARIABLES} variables`)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) fail(`variable "${twice}" comes twice`)
  const parts = toParts(segments, fail)
  return { source: template, variables: names, match: (uri) => matchParts(parts, uri) }
}

type Fail = (reason: string) => never

function failure(template: string): Fail {
  return (reason) => {
    throw new McpError('INVALID_USE', `Cannot compile URI template "${template}": ${reason}`)
  }
}

/**
 * Parts a template into fixed text and what is in braces.
 *
 * @throws {McpError} `INVALID_USE` when the template is malformed.
 */
export function parseUriTemplate(template: string): (string | Expression)[] {
  const fail: Fail = failure(template)
  if (/\p{Surrogate}/u.test(template)) fail('it is not well-formed Unicode')
  // Text and the inside of braces in turn; a brace that is left over has no partner.
  return template.split(/\{([^{}]*)\}/).flatMap((piece, i) => {
    if (i % 2 === 1) return parseExpression(piece, fail)
    if (/[{}]/.test(piece)) fail('a brace has no partner')
    return piece === '' ? [] : toAscii(piece)
  })
}

function parseExpression(source: string, fail: Fail): Expression {
  const symbol = /^[^\w%]?/.exec(source)?.[0] ?? ''
  const operator = OPERATORS.get(symbol) ?? fail(`"${symbol}" in "{${source}}" is no operator`)
  const specs = source.slice(symbol.length).split(',')
  const variables = specs.map((spec) => {
    const explode = spec.endsWith('*')
    const name = explode ? spec.slice(0, -1) : spec
    if (!/^(?:\w|%[\da-f]{2})(?:\.?(?:\w|%[\da-f]{2}))*$/i.test(name)) {
      fail(`"${spec}" in "{${source}}" is no variable; names have letters, digits, "_" and "."`)
    }
    if (explode && symbol === ';') fail(`"*" in "{${source}}" is not supported`)
    return { name, explode }
  })
  return { ...operator, symbol, variables }
}

function toParts(segments: readonly (string | Expression)[], fail: Fail): Part[] {
  const parts: Part[] = []
  /** Whether each name of the query is a list. */
  let query: Map<string, boolean> | undefined
  for (const segment of segments) {
    if (query && (typeof segment === 'string' || segment.symbol !== '&')) {
      fail('only "{&…}" can follow a query')
    }
    if (typeof segment === 'string') {
      parts.push({ prefix: segment })
      continue
    }
    const { first, separator, stops, variables } = segment
    if (separator !== '&') {
      parts.push(...variables.map((variable, i) => toPart(segment, variable, i)))
      continue
    }
    if (!query) parts.push({ prefix: first, stops, read: queryReader((query = new Map())) })
    for (const { name, explode } of variables) query.set(name, explode)
  }
  return parts
}

function toPart(
  { first, separator, stops }: Expression,
  { name, explode }: { name: string; explode: boolean },
  i: number,
): Part {
  const before = i === 0 ? first : separator
  return {
    prefix: separator === ';' ? `${before}${name}=` : before,
    stops: explode ? stops.replace(separator, '') : stops,
    read(raw, values) {
      values[name] = explode
        ? raw.split(separator).map(decodeURIComponent)
        : decodeURIComponent(raw)
      return true
    },
  }
}

/** Reads a query whose names come in any order; each name says whether it is a list. */
function queryReader(lists: ReadonlyMap<string, boolean>): NonNullable<Part['read']> {
  return (raw, values) => {
    for (const pair of raw === '' ? [] : raw.split('&')) {
      const [name = '', ...rest] = pair.split('=')
      const value = decodeURIComponent(rest.join('='))
      const list = lists.get(name)
      const earlier = values[name]
      if (Array.isArray(earlier)) earlier.push(value)
      else if (list === undefined || earlier !== undefined) return false
      else values[name] = list ? [value] : value
    }
    return true
  }
}
