// Holds the links of the documentation against the files and headings that they lead to.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pages } from './docs-pages.ts'
import { root } from '../root.ts'

describe.each(pages)('%s', (page) => {
  it('links to existing files and headings', () => {
    const broken = linksOf(page).filter((link) => {
      const [path = '', heading] = link.split('#')
      const target = path === '' ? page : posix.join(dirname(page), path)
      if (!existsSync(join(root, target))) return true
      return heading !== undefined && !headingsOf(target).includes(heading)
    })
    expect(broken).toEqual([])
  })
})

it('the index of docs leads to every page', () => {
  const index = linksOf('docs/README.md').map((link) =>
    posix.join('docs', link.split('#')[0] ?? ''),
  )
  const missing = pages.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md')
  expect(missing.filter((page) => !index.includes(page))).toEqual([])
})

/** The text of a page without its blocks of code. */
function proseOf(page: string): string {
  return readFileSync(join(root, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
}

/** The links of a page that are no addresses on the network. */
function linksOf(page: string): string[] {
  const prose = proseOf(page).replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
}

/** The names that the headings of a page are linked to by, as GitHub gives them. */
function headingsOf(page: string): string[] {
  const names: string[] = []
  for (const [, text = ''] of proseOf(page).matchAll(/^#+ +(.+)$/gm)) {
    const name = text
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-')
    const again = names.filter((known) => known === name || known.startsWith(`${name}-`)).length
    names.push(names.includes(name) ? `${name}-${again}` : name)
  }
  return names
}
