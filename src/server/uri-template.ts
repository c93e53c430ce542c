/**
 * URI templates: RFC 6570 up to level 3, and the `*` of level 4.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570
 */
import { McpError } from '../protocol/errors.ts'
import { matchParts, toAscii, type Part, type UriVariables } from './uri-match.ts'

export type { UriVariables } from './uri-match.ts'

/** A compiled template. */
export interface UriTemplate {
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
  /**
   * Fills the template in; names without a value are left out.
   *
   * @throws {URIError} when a value is not well-formed Unicode.
   */
  expand(values: UriTemplateValues): string
}

/** Values for a template, by variable. */
export type UriTemplateValues = Readonly<Record<string, string | readonly string[] | undefined>>

interface Operator {
  /** Goes before the first value. */
  first: string
  /** Goes between values. */
  separator: string
  /** Characters at which a value ends. */
  stops: string
  /** Whether reserved characters stay as they are. */
  reserved?: true
  /** Whether values are written as `name=value`. */
  named?: true
}

interface Expression extends Operator {
  variables: { name: string; explode: boolean }[]
}

const MAX_VARIABLES = 32

const operators = new Map<string, Operator>([
  ['', { first: '', separator: ',', stops: '/?#' }],
  ['+', { first: '', separator: ',', stops: '', reserved: true }],
  ['#', { first: '#', separator: ',', stops: '', reserved: true }],
  ['.', { first: '.', separator: '.', stops: '/?#' }],
  ['/', { first: '/', separator: '/', stops: '/?#' }],
  [';', { first: ';', separator: ';', stops: ';/?#', named: true }],
  ['?', { first: '?', separator: '&', stops: '&#', named: true }],
  ['&', { first: '&', separator: '&', stops: '&#', named: true }],
])

/**
 * Compiles a template.
 *
 * @throws {McpError} `INVALID_USE` when the template is malformed, has more than 32 variables or one
 * of them twice, or has what cannot be matched: `{x:3}`, `{;x*}`, anything behind a query.
 */
export function compileUriTemplate(template: string): UriTemplate {
  const fail = (reason: string): never => {
    throw new McpError('INVALID_USE', `Cannot compile URI template "${template}": ${reason}`)
  }
  const segments = parse(template, fail)
  const variables = segments.flatMap((segment) =>
    typeof segment === 'string' ? [] : segment.variables.map(({ name }) => name),
  )
  if (variables.length > MAX_VARIABLES) fail(`it has more than ${MAX_VARIABLES} variables`)
  const twice = variables.find((name, i) => variables.indexOf(name) < i)
  if (twice !== undefined) fail(`variable "${twice}" comes twice`)
  const parts = toParts(segments, fail)
  return {
    variables,
    match: (uri) => matchParts(parts, uri),
    expand: (values) =>
      segments.map((part) => (typeof part === 'string' ? part : expand(part, values))).join(''),
  }
}

type Fail = (reason: string) => never

function parse(template: string, fail: Fail): (string | Expression)[] {
  // Text and the inside of braces in turn; a brace that is left over has no partner.
  return template.split(/\{([^{}]*)\}/).flatMap((piece, i) => {
    if (i % 2 === 1) return parseExpression(piece, fail)
    if (/[{}]/.test(piece)) return fail('a brace has no partner')
    return piece === '' ? [] : (toAscii(piece) ?? fail('it is not well-formed Unicode'))
  })
}

function parseExpression(source: string, fail: Fail): Expression {
  const symbol = /^[^\w%]?/.exec(source)?.[0] ?? ''
  const operator = operators.get(symbol) ?? fail(`"${symbol}" in "{${source}}" is no operator`)
  const variables = source
    .slice(symbol.length)
    .split(',')
    .map((spec) => {
      const explode = spec.endsWith('*')
      const name = explode ? spec.slice(0, -1) : spec
      if (!/^(?:\w|%[\da-f]{2})(?:\.?(?:\w|%[\da-f]{2}))*$/i.test(name)) {
        fail(`"${spec}" in "{${source}}" is no variable; names have letters, digits, "_" and "."`)
      }
      if (explode && symbol === ';') fail(`"*" in "{${source}}" is not supported`)
      return { name, explode }
    })
  return { ...operator, variables }
}

function toParts(segments: (string | Expression)[], fail: Fail): Part[] {
  const parts: Part[] = []
  let query: Map<string, boolean> | undefined
  for (const segment of segments) {
    if (query && (typeof segment === 'string' || segment.first !== '&')) {
      fail('only "{&…}" can follow a query')
    }
    if (typeof segment === 'string') {
      parts.push(segment)
      continue
    }
    const { first, separator, stops, named } = segment
    if (separator === '&' && !query) parts.push({ prefix: first, names: (query = new Map()) })
    for (const [i, { name, explode }] of segment.variables.entries()) {
      if (query) {
        query.set(name, explode)
        continue
      }
      const before = i === 0 ? first : separator
      parts.push({
        name,
        prefix: named ? `${before}${name}=` : before,
        stops: explode ? stops.replace(separator, '') : stops,
        separator: explode ? separator : undefined,
      })
    }
  }
  return parts
}

function expand({ variables, ...operator }: Expression, values: UriTemplateValues): string {
  const { first, separator, named, reserved } = operator
  const encode = reserved ? encodeIllegal : encodeReserved
  const texts = variables.flatMap(({ name, explode }) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined || (value.length === 0 && typeof value !== 'string')) return []
    const items = (typeof value === 'string' ? [value] : value).map(encode)
    const runs = explode ? items : [items.join(',')]
    if (!named) return runs
    return runs.map((run) => (run === '' && separator === ';' ? name : `${name}=${run}`))
  })
  return texts.length > 0 ? first + texts.join(separator) : ''
}

function encodeReserved(value: string): string {
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Leaves reserved characters and percent-escapes alone. */
function encodeIllegal(value: string): string {
  return value.replace(/%(?![\da-f]{2})|[^\w.~:/?#[\]@!$&'()*+,;=%-]+/gi, encodeURIComponent)
}
