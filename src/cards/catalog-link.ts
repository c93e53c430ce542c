/**
 * Finds the catalog that a page links to, in its `Link` header or in its HTML.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8288#section-3
 */
import type { FetchedDocument } from './fetch-document.ts'

const LINK_VALUE = /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]*))?)*)/g
/** With limits, because the time for unclosed quotes would otherwise grow with the square of the size. */
const LINK_ELEMENT = /<link\s((?:"[^"]{0,2000}"|'[^']{0,2000}'|[^>"']){0,500})>/gi

/** Returns the absolute URL of the linked catalog; `undefined` if there is no link. */
export function findCatalogLink({ url, bytes, headers }: FetchedDocument): string | undefined {
  for (const [, target = '', parameters = ''] of (headers.get('link') ?? '').matchAll(LINK_VALUE)) {
    if (isCatalogRelation(attribute(parameters, 'rel'))) return resolve(target, url)
  }
  if (!/\bhtml\b/i.test(headers.get('content-type') ?? '')) return undefined
  const [head = ''] = withoutComments(new TextDecoder().decode(bytes)).split(/<body\b/i, 1)
  for (const [, attributes = ''] of head.matchAll(LINK_ELEMENT)) {
    const target = attribute(attributes, 'href')
    if (target !== undefined && isCatalogRelation(attribute(attributes, 'rel'))) {
      return resolve(target.replaceAll('&amp;', '&'), url)
    }
  }
  return undefined
}

/** The text without HTML comments; what follows an unclosed one belongs to it. */
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

/** The value of an attribute or a parameter. */
function attribute(text: string, name: string): string | undefined {
  const pattern = new RegExp(
    `(?:^|[\\s;])${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s;"'>]+))`,
    'i',
  )
  const [, ...values] = pattern.exec(text) ?? []
  return values.find((value) => value !== undefined)
}

function resolve(target: string, url: string): string {
  return URL.canParse(target, url) ? new URL(target, url).href : target
}
