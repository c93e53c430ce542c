// Asks the questions of new users in the index of the built site, and prints the first three results of
// each. Fails if fewer than 18 of 20 find a page that answers them.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import MiniSearch from 'minisearch'
import { searchOptions } from '../.vitepress/search.mjs'
import { questions } from './questions.mjs'

const MIN_SHARE = 18 / 20
const SHOWN = 3

const chunks = fileURLToPath(new URL('../dist/assets/chunks', import.meta.url))
const file = readdirSync(chunks).find((name) => name.startsWith('@localSearchIndexroot.'))
const { default: json } = await import(pathToFileURL(join(chunks, file)).href)
// The same fields as in the search box of VitePress
const index = MiniSearch.loadJSON(json, {
  fields: ['title', 'titles', 'text'],
  storeFields: ['title', 'titles'],
  searchOptions,
})

let found = 0
for (const { question, pages } of questions) {
  const results = index.search(question).slice(0, SHOWN)
  const isFound = results.some(({ id }) => pages.includes(id.slice(1).split('#')[0]))
  if (isFound) found++
  const titles = results.map(({ id, title }) => `${title} (${id})`)
  console.log(`${isFound ? 'ok  ' : 'MISS'} ${question}\n       ${titles.join('\n       ')}`)
}
console.log(`${found} of ${questions.length} questions are answered`)
if (found < MIN_SHARE * questions.length) process.exitCode = 1
