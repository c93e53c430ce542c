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

/** Renders a page for the index. Headings within an export of the reference are not results of their own. */
export function renderForSearch(source, env, md) {
  const html = md.render(source, env)
  if (env.frontmatter?.search === false) return ''
  if (!env.relativePath.startsWith('reference/')) return html
  return html.replaceAll(/<h[4-6]\b[^>]*>(.*?)<\/h[4-6]>/gs, '')
}
