/**
 * Expansion of URI templates.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570#section-3
 */
import { parseUriTemplate, type Expression } from './uri-template.ts'

/** Values for the variables of a template, by name. */
export type UriTemplateValues = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Expands a template; variables without a value are omitted.
 *
 * @throws {SdkError} `INVALID_USE` if the template is malformed.
 * @throws {URIError} If a value is not well-formed Unicode.
 * @see https://www.rfc-editor.org/rfc/rfc6570#section-3
 */
export function expandUriTemplate(template: string, values: UriTemplateValues): string {
  const segments = parseUriTemplate(template)
  const texts = segments.map((segment) => {
    return typeof segment === 'string' ? segment : expand(segment, values)
  })
  return texts.join('')
}

function expand(expression: Expression, values: UriTemplateValues): string {
  const { symbol, first, separator, variables } = expression
  const encode = symbol === '+' || symbol === '#' ? encodeIllegal : encodeReserved
  const isNamed = separator === ';' || separator === '&'
  const expansions = variables.flatMap(({ name, explode }) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    // An empty list counts as no value
    if (value === undefined || (value.length === 0 && typeof value !== 'string')) return []
    const items = (typeof value === 'string' ? [value] : value).map(encode)
    const texts = explode ? items : [items.join(',')]
    if (!isNamed) return texts
    return texts.map((text) => (text === '' && separator === ';' ? name : `${name}=${text}`))
  })
  return expansions.length > 0 ? first + expansions.join(separator) : ''
}

/** Encodes everything except unreserved characters. */
function encodeReserved(value: string): string {
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Encodes illegal characters; reserved characters and percent-escapes are kept. */
function encodeIllegal(value: string): string {
  return value.replace(/%(?![\da-f]{2})|[^\w.~:/?#[\]@!$&'()*+,;=%-]+/gi, encodeURIComponent)
}
