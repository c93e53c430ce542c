// Checks that every link between the built pages leads to a page and, with a fragment, to an element.
// VitePress itself checks only the pages.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param {string} folder The folder with the built site.
 * @throws {Error} Lists the broken links, if there are any.
 */
export function checkLinks(folder) {
  const pages = new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => path.endsWith('.html'))
      .map((path) => [addressOf(path), readPage(join(folder, path))]),
  )
  const broken = [...pages].flatMap(([address, { links }]) =>
    links
      .filter((link) => !leadsSomewhere(new URL(link, `https://site${address}`), pages))
      .map((link) => `${address}: ${link}`),
  )
  if (broken.length > 0) throw new Error(`Broken links:\n${broken.join('\n')}`)
  console.log(`The links of ${pages.size} pages lead to pages and headings`)
}

function addressOf(path) {
  return `/${path.replace(/(?:(?<=^|\/)index)?\.html$/, '')}`
}

function readPage(file) {
  const html = readFileSync(file, 'utf8')
  return {
    ids: new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => decode(id))),
    links: Array.from(html.matchAll(/<a\b[^>]* href="([^"]*)"/g), ([, href]) => decode(href)),
  }
}

function leadsSomewhere({ host, pathname, hash }, pages) {
  if (host !== 'site') return true
  const page = pages.get(decodeURIComponent(pathname))
  if (!page) return false
  return hash === '' || page.ids.has(decodeURIComponent(hash.slice(1)))
}

function decode(text) {
  return text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'")
}
