// Checks that sources, documentation, tests and examples use the field's words. Fails if an area has
// more words to avoid per 1,000 lines than its limit, and lists them with file and line.
//   node .ci/wording.mjs          a line for each area
//   node .ci/wording.mjs --list   with the hits of all areas, even those within their limits
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What to avoid, as a pattern and as the text of the table, and what to write instead. */
const vocabulary = [
  ['tell', /\b(?:tells?|told|telling)\b/gi, 'notify, report, return, say'],
  ['hear', /\b(?:hears?|heard)\b/gi, 'receive, subscribe to'],
  ['learn of', /\b(?:learns?|learned|learnt) (?:of|about|that)\b/gi, 'receive, be notified of'],
  ['mend', /\bmend(?:s|ed|ing)?\b/gi, 'fix, repair, recover from'],
  ['nobody', /\b(?:no|some|every|any)body\b/gi, 'no client, a caller, every user, anyone'],
  ['whoever', /\b(?:who|what)ever\b/gi, 'the caller, anyone who, any value, everything'],
  ['anew', /\banew\b/gi, 'again'],
  ['beside, besides', /\bbesides?\b/gi, 'next to, in addition'],
  ['hence, thereby', /\b(?:hence|thence|thereby)\b/gi, 'therefore'],
  ['wherein', /\bwherein\b/gi, 'in which'],
  ['is none', /\b(?:is|are|was|were|be) none\b/gi, 'does not exist, is not set, is not one'],
  [
    'is no URL',
    /\b(?:is|are|was|were) no (?:HTTP |valid )?(?:URL|URI|JSON|HTTPS?|UTF-8|number|string|object|array|function)\b/gi,
    'is not a URL',
  ],
  [
    'kept session',
    /\bkept (?:session|call|stream|run|push)(?:s|es)?\b/gi,
    'stateful session, resumable call, open stream',
  ],
  [
    'what is sent',
    /\b(?:what|that) (?:is|was) (?:told|said|asked|kept|given|sent|meant|left)\b/gi,
    'the message, the request, the record',
  ],
  ['by itself', /\bby itself\b/gi, 'automatically, by default'],
  ['X and its like', /\b(?:its|his|her|their) like\b/gi, 'X and similar ones'],
  ['no more', /\b(?:no more|no longer any|any more)\b/gi, 'no longer'],
  ['but for', /\b(?:such as one|as one has|be it|save for|but for)\b/gi, 'except, such as'],
]

/** The files of an area, and the most hits per 1,000 lines in them. */
const areas = [
  { name: 'sources', roots: ['src', 'runtimes'], match: /\.tsx?$/, limit: 2 },
  {
    name: 'documentation',
    roots: [
      ...['docs', 'runtimes', 'examples', '.github', 'AGENTS.md', 'CHANGELOG.md'],
      ...['CODE_OF_CONDUCT.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md'],
    ],
    match: /\.md$/,
    limit: 3,
  },
  { name: 'tests', roots: ['test', 'conformance', 'bench'], match: /\.tsx?$/, limit: 4 },
  { name: 'examples', roots: ['examples'], match: /\.(?:tsx?|html)$/, limit: 3 },
]

/** The files under a path, which may be a file or not exist. */
function filesUnder(folder, root) {
  const path = join(folder, root)
  if (!existsSync(path)) return []
  if (statSync(path).isFile()) return [root]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/(?:^|\/)(?:node_modules|dist|site\/pages)\//.test(name))
    .map((name) => `${root}/${name}`)
}

/** The hits in one text; the table of the vocabulary itself has none. */
function findHits(text) {
  const lines = text.split('\n')
  const rows = new Set(vocabulary.map(([avoid]) => avoid))
  return lines.flatMap((line, at) => {
    const [, avoid] = /^\| (.+?) +\|/.exec(line) ?? []
    if (rows.has(avoid)) return []
    return vocabulary.flatMap(([, pattern, write]) =>
      [...line.matchAll(pattern)].map(([word]) => ({ line: at + 1, word, write })),
    )
  })
}

/** Whether each area of a folder is within its limit, and its hits. */
export function checkWording(folder) {
  return areas.map(({ name, roots, match, limit }) => {
    const files = roots
      .flatMap((root) => filesUnder(folder, root))
      .filter((file) => match.test(file))
    const texts = files.map((file) => [file, readFileSync(join(folder, file), 'utf8')])
    const lines = texts.reduce((sum, [, text]) => sum + text.split('\n').length, 0)
    const hits = texts.flatMap(([file, text]) => findHits(text).map((hit) => ({ file, ...hit })))
    const rate = (hits.length / Math.max(lines, 1)) * 1000
    return { name, limit, rate, fits: rate <= limit, hits }
  })
}

/** The vocabulary as the rows of the table in docs/contributing.md. */
export function vocabularyRows() {
  return vocabulary.map(([avoid, , write]) => `| ${avoid} | ${write} |`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const all = process.argv.includes('--list')
  for (const { name, limit, rate, fits, hits } of checkWording('.')) {
    if (!fits) process.exitCode = 1
    const mark = fits ? 'ok  ' : 'OVER'
    console.log(`${mark} ${name.padEnd(14)} ${rate.toFixed(1)} per 1,000 lines, of ${limit}`)
    if (fits && !all) continue
    for (const { file, line, word, write } of hits)
      console.log(`       ${file}:${line}  "${word}": write ${write}`)
  }
}
