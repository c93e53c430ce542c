// Links between the files of the repository become links between the pages of the site.
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { images, root, sitePages, sourceOf } from '../pages.mjs'

const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/**
 * The address of files that are not on the site, such as examples. Until `repository` is set in
 * package.json, there is none, and the site shows only the texts of such links.
 */
const filesAddress = repository && `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`

const HOME = 'index.md'

/** The ids of headings, as GitHub gives them. */
export function slugify(text) {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

/**
 * A plugin of markdown-it that rewrites the links of a page. Angle brackets in the repository's pages are
 * text, as in `<unknown>`, not HTML.
 */
export function repositoryPages(md) {
  md.core.ruler.before('normalize', 'repository-html', ({ env }) => {
    md.set({ html: !sitePages.has(sourceOf.get(env.relativePath)) || env.relativePath === HOME })
  })
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    const source = sourceOf.get(env.relativePath)
    if (source === undefined) return
    for (const { children } of tokens) if (children) rewriteLinks(children, source)
  })
}

function rewriteLinks(tokens, source) {
  let isDropped = false
  for (const token of tokens) {
    if (token.type === 'image') token.attrSet('src', imageOf(token.attrGet('src'), source))
    if (token.type === 'link_open') {
      const address = addressOf(token.attrGet('href'), source)
      isDropped = address === undefined
      if (!isDropped) token.attrSet('href', address)
    }
    if (!isDropped || !/^link_(?:open|close)$/.test(token.type)) continue
    if (token.type === 'link_close') isDropped = false
    Object.assign(token, { type: 'text', tag: '', content: '', nesting: 0 })
  }
}

/** The address of a picture, which is among the public files of the site. */
function imageOf(src, source) {
  const target = posix.join(posix.dirname(source), src)
  return target.startsWith(`${images}/`) ? target.replace('docs/', '/') : src
}

/** The address of a link of a page; `undefined` for a file that has no address. */
function addressOf(href, source) {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return href
  const [path, heading] = href.split('#')
  const target = posix.join(posix.dirname(source), path)
  const page = sitePages.get(target) ?? sitePages.get(posix.join(target, 'README.md'))
  if (page === undefined) return filesAddress && filesAddress + target
  return `/${page.replace(/\.md$/, '')}${heading === undefined ? '' : `#${heading}`}`
}
