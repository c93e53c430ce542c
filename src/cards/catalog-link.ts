/**
 * Finds the catalog that a page links to, in its `Link` header or in its HTML.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8288#section-3
 */
import type { FetchedDocument } from './fetch-document.ts'
import { parseUrl } from '../patterns/url.ts'

/** Matches one link in a `Link` header: the target in angle brackets, and the parameters. */
const LINK_VALUE = /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]*))?)*)/g
/** Matches the attributes of an element up to its `>`, but not up to a `>` in a quoted value. */
const ATTRIBUTES = /^(?:"[^"]*"|'[^']*'|[^>"'])*(?=>)/

/** The value of `rel` in a header or an element: in double quotes, in single quotes, or without quotes. */
const RELATION = /(?:^|[\s;])rel\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"'>]+))/i
/** The value of `href` in an element, in the same three forms. */
const TARGET = /(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i

/** Returns the absolute URL of the linked catalog; `undefined` if there is no link. */
export function findCatalogLink({ url, bytes, headers }: FetchedDocument): string | undefined {
  for (const [, target = '', parameters = ''] of (headers.get('link') ?? '').matchAll(LINK_VALUE)) {
    if (isCatalogRelation(valueOf(RELATION, parameters))) return resolve(target, url)
  }
  if (!/\bhtml\b/i.test(headers.get('content-type') ?? '')) return undefined
  const [head = ''] = withoutComments(new TextDecoder().decode(bytes)).split(/<body\b/i, 1)
  // Each element is searched only up to the next `<link`, so that the time grows linearly with the size
  for (const element of head.split(/<link\s/i).slice(1)) {
    const [attributes = ''] = ATTRIBUTES.exec(element) ?? []
    const target = valueOf(TARGET, attributes)
    if (target !== undefined && isCatalogRelation(valueOf(RELATION, attributes))) {
      return resolve(target.replaceAll('&amp;', '&'), url)
    }
  }
  return undefined
}

/** Removes HTML comments from a text. A comment without an end includes the rest of the text. */
function withoutComments(html: string): string {
  return html
    .split('<!--')
    .map((part, at) => {
      const end = part.indexOf('-->')
      if (at === 0) return part
      return end < 0 ? '' : part.slice(end + 3)
    })
    .join('')
}

function isCatalogRelation(relations = ''): boolean {
  return relations.toLowerCase().split(/\s+/).includes('ai-catalog')
}

/** The value that a pattern captures in attributes or parameters. */
function valueOf(pattern: RegExp, text: string): string | undefined {
  const [, ...values] = pattern.exec(text) ?? []
  return values.find((value) => value !== undefined)
}

function resolve(target: string, url: string): string {
  return parseUrl(target, url)?.href ?? target
}
