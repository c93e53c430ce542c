/**
 * URI templates: RFC 6570 up to level 3, and the `*` of level 4.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570
 */
import { SdkError } from '../../protocol/errors.ts'
import { matchParts, toAscii, type Part, type UriVariables } from './uri-match.ts'

/**
 * A compiled template.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570
 */
export interface UriTemplate {
  /** The template's source text. */
  readonly source: string
  /** The variable names, in the template's order. */
  readonly variables: readonly string[]
  /**
   * Matches a URI and returns the variables' values, percent-decoded, or `undefined` if it does not
   * match. A decoded value may contain any character, including `/` and `..`.
   *
   * - `{x}` has at least one character and ends before `/`, `?` or `#`; `{+x}` may contain these.
   * - `{.x}`, `{/x}`, `{;x}`, `{#x}` and every variable of an expression except the first may be absent.
   * - `{?x,y}` and `{&x,y}` accept their names in any order, each at most once unless it has a `*`.
   *   A name that is not in the template does not match.
   * - If several interpretations match, earlier variables are as short as possible.
   *
   * Takes time linear in the length of the URI; URIs of more than 8,192 characters never match.
   */
  match(uri: string): UriVariables | undefined
}

/** The syntax of an operator. */
interface Operator {
  /** Precedes the first value. */
  first: string
  /** Separates the values. */
  separator: string
  /** Characters that end a value. */
  stops: string
}

/** The contents of one pair of braces. */
export interface Expression extends Operator {
  /** The operator's character. */
  symbol: string
  /**
   * The variables in order. A variable with a `*` (`explode`) is a list whose items are separate values.
   */
  variables: { name: string; explode: boolean }[]
}

const MAX_VARIABLES = 32

/** The operators, by their symbols. */
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
 * Compiles a URI template (RFC 6570) for `server.resourceTemplate`.
 *
 * @example
 * ```ts
 * import { createServer, uriTemplate } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.resourceTemplate(uriTemplate('travel://cities/{city}'), { name: 'city' }, ({ variables }) =>
 *   JSON.stringify({ city: variables.city }),
 * )
 * ```
 *
 * @throws {SdkError} `INVALID_USE` if the template is malformed, has more than 32 variables or a
 * duplicate one, or uses an expression that cannot be matched: `{x:3}`, `{;x*}`, or anything after
 * a query.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
 * @see https://www.rfc-editor.org/rfc/rfc6570
 */
export function uriTemplate(template: string): UriTemplate {
  const fail: Fail = createFail(template)
  const segments = parseUriTemplate(template)
  const names = segments.flatMap((segment) =>
    typeof segment === 'string' ? [] : segment.variables.map(({ name }) => name),
  )
  if (names.length > MAX_VARIABLES) fail(`it has more than ${MAX_VARIABLES} variables`)
  const duplicate = names.find((name, i) => names.indexOf(name) < i)
  if (duplicate !== undefined) fail(`variable "${duplicate}" is repeated`)
  const parts = toParts(segments, fail)
  return { source: template, variables: names, match: (uri) => matchParts(parts, uri) }
}

type Fail = (reason: string) => never

function createFail(template: string): Fail {
  return (reason) => {
    throw new SdkError('INVALID_USE', `Cannot compile URI template "${template}": ${reason}`)
  }
}

/**
 * Splits a template into fixed text and expressions.
 *
 * @throws {SdkError} `INVALID_USE` if the template is malformed.
 */
export function parseUriTemplate(template: string): (string | Expression)[] {
  const fail: Fail = createFail(template)
  if (/\p{Surrogate}/u.test(template)) fail('it is not well-formed Unicode')
  // Pieces with an odd index are the contents of braces; a brace in any other piece is unbalanced
  return template.split(/\{([^{}]*)\}/).flatMap((piece, index) => {
    if (index % 2 === 1) return parseExpression(piece, fail)
    if (/[{}]/.test(piece)) fail('a brace is unbalanced')
    return piece === '' ? [] : toAscii(piece)
  })
}

function parseExpression(source: string, fail: Fail): Expression {
  const symbol = /^[^\w%]?/.exec(source)?.[0] ?? ''
  const operator = OPERATORS.get(symbol) ?? fail(`"${symbol}" in "{${source}}" is not an operator`)
  const specs = source.slice(symbol.length).split(',')
  const variables = specs.map((spec) => {
    const explode = spec.endsWith('*')
    const name = explode ? spec.slice(0, -1) : spec
    if (!/^(?:\w|%[\da-f]{2})(?:\.?(?:\w|%[\da-f]{2}))*$/i.test(name)) {
      fail(`"${spec}" in "{${source}}" is not a variable; names have letters, digits, "_" and "."`)
    }
    if (explode && symbol === ';') fail(`"*" in "{${source}}" is not supported`)
    return { name, explode }
  })
  return { ...operator, symbol, variables }
}

/** Converts a template to the parts to match. A query becomes a single part. */
function toParts(segments: readonly (string | Expression)[], fail: Fail): Part[] {
  const parts: Part[] = []
  /** The variables in the query, and whether each is a list. */
  let queryVariables: Map<string, boolean> | undefined
  for (const segment of segments) {
    if (queryVariables && (typeof segment === 'string' || segment.symbol !== '&')) {
      fail('only "{&…}" can follow a query')
    }
    if (typeof segment === 'string') {
      parts.push({ prefix: segment })
      continue
    }
    const { first, separator, stops, variables } = segment
    const isQuery = separator === '&'
    if (!isQuery) {
      parts.push(...variables.map((variable, index) => toPart(segment, variable, index)))
      continue
    }
    // One part reads the whole query: further variables are added to its map
    if (!queryVariables) {
      queryVariables = new Map()
      parts.push({ prefix: first, stops, read: queryReader(queryVariables) })
    }
    for (const { name, explode } of variables) queryVariables.set(name, explode)
  }
  return parts
}

/** Converts one variable of an expression, at an index, to a part. */
function toPart(
  { first, separator, stops }: Expression,
  { name, explode }: { name: string; explode: boolean },
  index: number,
): Part {
  const before = index === 0 ? first : separator
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

/**
 * Creates a parser for a query with names in any order.
 *
 * @param variables The names, and whether each is a list.
 */
function queryReader(variables: ReadonlyMap<string, boolean>): NonNullable<Part['read']> {
  return (raw, values) => {
    for (const pair of raw === '' ? [] : raw.split('&')) {
      const [name = '', ...rest] = pair.split('=')
      const value = decodeURIComponent(rest.join('='))
      const isList = variables.get(name)
      const earlier = values[name]
      // A list that the path contains is not extended: `isList` is undefined for its name
      if (isList && Array.isArray(earlier)) earlier.push(value)
      else if (isList === undefined || earlier !== undefined) return false
      else values[name] = isList ? [value] : value
    }
    return true
  }
}
