// How the site searches: used by its search box, and by the check of its search.

/**
 * Options of MiniSearch. The site contains the source of the functions, so they must not refer to
 * anything outside of them.
 *
 * @see https://lucaong.github.io/minisearch/types/MiniSearch.SearchOptions.html
 */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, titles: 2, text: 1 },
  // Guides come before the reference, and before the index of all pages
  boostDocument(id) {
    return /^\/(?:reference\/|overview)/.test(id) ? 0.4 : 1
  },
}

/** The pages that are rendered already, because VitePress asks for each once for browsers and once for itself. */
const rendered = new Map()

/**
 * Renders a page for the index. Code is not highlighted, because the index contains only text. Headings
 * within an export of the reference are not results of their own.
 */
export function renderForSearch(source, env, md) {
  const known = rendered.get(env.relativePath)
  if (known?.source === source) return known.html
  const { highlight } = md.options
  md.options.highlight = null
  let html = md.render(source, env)
  md.options.highlight = highlight
  if (env.frontmatter?.search === false) html = ''
  if (env.relativePath.startsWith('reference/')) {
    html = html.replaceAll(/<h[4-6]\b[^>]*>(.*?)<\/h[4-6]>/gs, '')
  }
  rendered.set(env.relativePath, { source, html })
  return html
}
