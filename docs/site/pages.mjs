// Copies the pages of the documentation to where VitePress reads them.
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url))
/** The folder with the copies, and with the generated reference. */
export const pagesFolder = fileURLToPath(new URL('pages', import.meta.url))

/** The pages outside of `docs`, and those with another name on the site. */
const renamed = {
  'README.md': 'start.md',
  'docs/README.md': 'overview.md',
  'CHANGELOG.md': 'changelog.md',
  'SECURITY.md': 'security-policy.md',
  'runtimes/cloudflare/README.md': 'cloudflare-requests.md',
  'runtimes/node/cli/create/README.md': 'create.md',
}
/** For people who work on Edgewise. */
const omitted = ['docs/contributing.md']
/** The folder with the pictures, in the repository. */
export const images = 'docs/images'
const HOME = 'docs/site/home.md'
const ICON = 'examples/playground/page/icon.svg'

/** The pages of the site by their paths in the repository. */
export const sitePages = new Map([
  ...Object.entries(renamed),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((path) => `docs/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.md') && !path.startsWith('docs/site/'))
    .filter((path) => !omitted.includes(path) && !(path in renamed))
    .map((path) => [path, path.slice('docs/'.length)]),
])

/** The path in the repository of a page of the site. The home page consists of parts of the README. */
export const sourceOf = new Map([
  ...[...sitePages].map(([source, page]) => [page, source]),
  ['index.md', 'README.md'],
])

/** Copies all pages. Returns the files that they depend on. */
export function writePages() {
  for (const [source, page] of sitePages) {
    mkdirSync(dirname(join(pagesFolder, page)), { recursive: true })
    copyFileSync(join(root, source), join(pagesFolder, page))
  }
  writeFileSync(join(pagesFolder, 'index.md'), homePage())
  cpSync(fileURLToPath(new URL('public', import.meta.url)), join(pagesFolder, 'public'), {
    recursive: true,
  })
  cpSync(join(root, images), join(pagesFolder, 'public/images'), { recursive: true })
  copyFileSync(join(root, ICON), join(pagesFolder, 'public/icon.svg'))
  return [...sitePages.keys(), HOME].map((source) => join(root, source))
}

/** The home page, with sections of the README in place of comments such as `<!-- README: A server -->`. */
export function homePage() {
  const sections = readFileSync(join(root, 'README.md'), 'utf8').split(/^## /m)
  return readFileSync(join(root, HOME), 'utf8').replaceAll(
    /<!-- README: (.+) -->/g,
    (_, heading) => {
      const section = sections.find((text) => text.startsWith(`${heading}\n`))
      if (!section) throw new Error(`The README has no section "${heading}"`)
      return section.slice(heading.length).trim()
    },
  )
}
