// Builds the documentation for language models: `llms.txt`, an index with a line for each page, and
// `llms-full.txt`, the text of all pages. See https://llmstxt.org
//   node .ci/llms.mjs                                 into dist/llms, with links from the root
//   node .ci/llms.mjs https://github.com/…/blob/main  with links to that address
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Pages for people who work on Edgewise, or report something. */
const omitted = ['docs/contributing.md', 'CHANGELOG.md', 'SECURITY.md']
/** A summary has so many sentences that it is at least this long, if there are enough. */
const MIN_SUMMARY_LENGTH = 60

/**
 * The texts of both files.
 *
 * @param {string} root The folder of the repository.
 * @param {string} [base] The address that links start with.
 */
export function buildLlms(root, base = '') {
  const read = (page) => readFileSync(join(root, page), 'utf8')
  const index = []
  const pages = ['README.md']
  for (const { heading, links } of sectionsOf(read('docs/README.md'))) {
    const added = [...new Set(links.map(({ path }) => posix.join('docs', path)))].filter(
      (page) => page.endsWith('.md') && !omitted.includes(page) && !pages.includes(page),
    )
    if (added.length === 0) continue
    pages.push(...added)
    const lines = added.map((page) => {
      const { title, summary } = describe(read(page))
      return `- [${title}](${addressOf(page, base)}): ${summary}`
    })
    index.push(`## ${heading}\n\n${lines.join('\n')}`)
  }
  const { title, summary } = describe(read('README.md'))
  const full = pages.map((page) => withAddresses(read(page).trim(), page, base))
  return {
    index: `# ${title}\n\n> ${summary}\n\n${index.join('\n\n')}\n`,
    full: `${full.join('\n\n')}\n`,
    pages,
  }
}

/** The sections of the index of docs, with their links to files. */
export function sectionsOf(text) {
  return text
    .split(/^## |^\*\*(?=.*\*\*$)/m)
    .slice(1)
    .map((section) => ({
      heading: section.slice(0, section.indexOf('\n')).replaceAll('*', ''),
      links: Array.from(section.matchAll(/\[([^\]]*)\]\(([^)#]+)/g), ([, text, path]) => ({
        text,
        path,
      })),
    }))
}

/** The title of a page, and the first sentences of its text, without links. */
function describe(page) {
  const [, title = ''] = /^# (.+)$/m.exec(page) ?? []
  const body = page.slice(page.indexOf('\n'))
  const [, paragraph = ''] = /^(?!#|```|\||- )([^\n]+)$/m.exec(body) ?? []
  const text = paragraph.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  let summary = ''
  for (const [sentence] of text.matchAll(/.+?[.:](?: |$)/g)) {
    if (summary.length < MIN_SUMMARY_LENGTH) summary += sentence
  }
  return { title, summary: summary.trim().replace(/:$/, '.') }
}

/** A page with links that do not depend on where it is. Code and headings stay as they are. */
function withAddresses(text, page, base) {
  const parts = text.split(/(^```[\s\S]*?^```$|`[^`\n]*`)/m)
  return parts.map((part, at) => (at % 2 === 0 ? linked(part, page, base) : part)).join('')
}

function linked(text, page, base) {
  return text.replaceAll(/\]\((?![a-z]+:)([^)\s#]*)(#[^)\s]*)?\)/g, (_, path, heading = '') => {
    const target = path === '' ? page : posix.join(posix.dirname(page), path)
    return `](${addressOf(target, base)}${heading})`
  })
}

function addressOf(page, base) {
  return base === '' ? page : `${base.replace(/\/$/, '')}/${page}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { index, full, pages } = buildLlms('.', process.argv[2])
  mkdirSync('dist/llms', { recursive: true })
  writeFileSync('dist/llms/llms.txt', index)
  writeFileSync('dist/llms/llms-full.txt', full)
  console.log(`dist/llms/llms.txt and llms-full.txt: ${pages.length} pages`)
}
