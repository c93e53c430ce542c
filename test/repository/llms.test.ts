// The documentation for language models, as `npm run docs:llms` builds it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { pages } from './docs-pages.ts'
import { root } from '../root.ts'

interface Llms {
  buildLlms(root: string, base?: string): { index: string; full: string; pages: string[] }
}

const { buildLlms } = (await import(pathToFileURL(join(root, '.ci/llms.mjs')).href)) as Llms

/** The links of a text that do not name a host, without headings and code. */
function pathsIn(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$|`[^`\n]*`/gm, '')
  return [...prose.matchAll(/\]\((?![a-z]+:)([^)#\s]+)/g)].map(([, path = '']) => path)
}

describe('The index for language models', () => {
  const { index, full } = buildLlms(root)

  it('lists every guide once, with a title and a summary', () => {
    const guides = pages.filter((page) => page.startsWith('docs/guides/'))
    const lines = index.split('\n').filter((line) => line.startsWith('- '))
    expect(guides.length).toBeGreaterThan(20)
    for (const guide of guides) {
      expect(lines.filter((line) => line.includes(`](${guide}): `))).toHaveLength(1)
    }
    for (const line of lines) expect(line).toMatch(/^- \[.+\]\(\S+\): .+\.$/)
  })

  it('links only to files that exist, as does the text of all pages', () => {
    const paths = new Set([...pathsIn(index), ...pathsIn(full)])
    expect([...paths].filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it('starts links with the address of the pages, if there is one', () => {
    const published = buildLlms(root, 'https://example.com/docs/')
    expect(published.index).toContain('](https://example.com/docs/docs/guides/tools.md): ')
    expect([...pathsIn(published.index), ...pathsIn(published.full)]).toEqual([])
  })
})

it('The text for language models contains each page of the index whole', () => {
  const { full, pages: listed } = buildLlms(root)
  const code = (text: string): string[] => text.match(/^```[\s\S]*?^```$/gm) ?? []
  expect(code(full)).toEqual(listed.flatMap((page) => code(readFileSync(join(root, page), 'utf8'))))
})
