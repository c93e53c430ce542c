import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { root } from '../root.ts'

interface Wording {
  checkWording(folder: string): {
    readonly name: string
    readonly fits: boolean
    readonly hits: readonly {
      readonly file: string
      readonly line: number
      readonly word: string
    }[]
  }[]
  vocabularyRows(): string[]
}

const script = pathToFileURL(join(root, '.ci/wording.mjs')).href
const { checkWording, vocabularyRows } = (await import(script)) as Wording
const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** Runs the check on a folder with these files. */
function check(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'wording-'))
  folders.push(folder)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const areas = checkWording(folder)
  const hits = areas.flatMap((area) => area.hits)
  return {
    failed: areas.filter(({ fits }) => !fits).map(({ name }) => name),
    hits: hits.map(({ file, line, word }) => `${file}:${line} ${word}`),
  }
}

/** A text with that many hits in 1,000 lines. */
function textWith(hits: number): string {
  const lines = Array.from({ length: 1000 }, (_, at) =>
    at < hits ? 'The server tells the client.' : 'The server notifies the client.',
  )
  return lines.join('\n')
}

describe('The wording check', () => {
  it.each([
    ['sources', 'src/client.ts', 2],
    ['sources', 'runtimes/react/use.tsx', 2],
    ['documentation', 'docs/guides/tools.md', 3],
    ['documentation', 'README.md', 3],
    ['tests', 'test/client.test.ts', 4],
    ['tests', 'bench/size.ts', 4],
    ['examples', 'examples/page.html', 3],
  ])('fails for %s in %s above %i hits per 1,000 lines', (area, path, limit) => {
    expect(check({ [path]: textWith(limit) }).failed).toEqual([])
    expect(check({ [path]: textWith(limit + 1) }).failed).toEqual([area])
  })

  it('finds nothing in a text in the words of the field', () => {
    const text = 'The client is notified when the session expires, and retries with backoff.\n'
    expect(check({ 'src/a.ts': text, 'docs/a.md': text, 'test/a.ts': text })).toEqual({
      failed: [],
      hits: [],
    })
  })

  it.each([
    ['Nobody may call it.', 'Nobody'],
    ['If there is a key, or it is none', 'is none'],
    ['The target is no HTTP URL', 'is no HTTP URL'],
    ['It ends the kept sessions.', 'kept sessions'],
    ['It logs what was sent.', 'what was sent'],
    ['Express and its like', 'its like'],
  ])('lists the hit of "%s" with its file and line', (text, word) => {
    expect(check({ 'docs/a.md': `# Title\n\n${text}` }).hits).toEqual([`docs/a.md:3 ${word}`])
  })

  it('leaves packages and built files out', () => {
    const text = textWith(1)
    const files = { 'examples/node_modules/a/b.ts': text, 'examples/site/dist/a.ts': text }
    expect(check(files).hits).toEqual([])
  })

  it('has the vocabulary that the page for contributors states', () => {
    const page = readFileSync(join(root, 'docs/contributing.md'), 'utf8')
    const [, table = ''] = page.split(/^\| instead of .*\n\|[ -|]*\n/m)
    const rows = (table.split('\n\n')[0] ?? '').split('\n')
    expect(rows.length).toBeGreaterThan(10)
    expect(rows.map((row) => row.replace(/ +\|/g, ' |'))).toEqual(vocabularyRows())
  })
})
