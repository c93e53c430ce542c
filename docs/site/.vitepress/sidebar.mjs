// The sidebar has the order of the index of docs, in which users learn, followed by the reference.
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { sectionsOf } from '../../../.ci/llms.mjs'
import { entries } from '../../../.typedoc.mjs'
import { root, sitePages } from '../pages.mjs'

const START = 'start.md'

/** The groups of pages. */
export function createSidebar() {
  const index = readFileSync(join(root, 'docs/README.md'), 'utf8')
  const groups = sectionsOf(index).map(({ heading, links }) => ({
    text: heading,
    items: links.flatMap(({ text, path }) => {
      const page = sitePages.get(posix.join('docs', path))
      if (page === undefined || page === START) return []
      return [{ text: capitalize(text), link: toLink(page) }]
    }),
  }))
  return [
    { items: [{ text: 'Start here', link: toLink(START) }] },
    ...groups.filter(({ items }) => items.length > 0),
    {
      text: 'API reference',
      link: '/reference/',
      collapsed: true,
      items: entries.map(({ name }) => ({
        text: name,
        link: `/reference/${name === 'edgewise' ? 'edgewise/' : name}`,
      })),
    },
  ]
}

function toLink(page) {
  return `/${page.replace(/\.md$/, '')}`
}

function capitalize(text) {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
