// The parts of the documentation site that depend on the pages. `npm run docs:check` checks the site itself.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { pages } from './docs-pages.ts'
import { root } from '../root.ts'

interface Pages {
  readonly sitePages: ReadonlyMap<string, string>
  homePage(): string
}
interface Questions {
  readonly questions: readonly { readonly question: string; readonly pages: readonly string[] }[]
}

const load = async (path: string): Promise<unknown> =>
  import(pathToFileURL(join(root, 'docs/site', path)).href)
const { sitePages, homePage } = (await load('pages.mjs')) as Pages
const { questions } = (await load('check/questions.mjs')) as Questions

describe('The documentation site', () => {
  it('has every page for users, each at a place of its own', () => {
    const forUsers = pages.filter(
      (page) => page.startsWith('docs/') && page !== 'docs/contributing.md',
    )
    expect(forUsers.filter((page) => !sitePages.has(page))).toEqual([])
    expect([...sitePages.keys()].filter((page) => !existsSync(join(root, page)))).toEqual([])
    expect(new Set(sitePages.values()).size).toBe(sitePages.size)
  })

  it('shows the first server and the comparison of the README at home', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const [, server = ''] = /^```ts\n([^]*?)^```$/m.exec(readme) ?? []
    expect(server).toContain('serve(server')
    expect(homePage()).toContain(server)
    expect(homePage()).toContain('| official SDK ')
  })

  it('is asked questions that its pages answer', () => {
    const known = new Set([...sitePages.values()].map((page) => page.replace(/\.md$/, '')))
    const answers = questions.flatMap((question) => question.pages)
    expect(questions).toHaveLength(20)
    expect(answers.filter((page) => !known.has(page))).toEqual([])
  })
})
