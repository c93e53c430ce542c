import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../root.ts'

const page = readFileSync(join(root, 'docs/contributing.md'), 'utf8')
const walks = sections(page, '## Follow a request')

/** The sections of one level below a heading, with the text of each. */
function sections(text: string, heading: string): [title: string, text: string][] {
  const [, rest = ''] = text.split(`${heading}\n`)
  const [own = ''] = rest.split(/^## /m)
  return own
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section])
}

/** The hops of a walk: the first three cells of each row. */
function hopsOf(text: string): [hop: number, file: string, name: string][] {
  return [...text.matchAll(/^\| (\d+) +\| (.+?) +\| (.+?) +\|/gm)].map(([, hop, file, name]) => [
    Number(hop),
    String(file).replaceAll('`', ''),
    String(name).replaceAll('`', ''),
  ])
}

/** Whether a file declares a function, or a method or property that is one. */
function declares(file: string, name: string): boolean {
  const source = readFileSync(join(root, file), 'utf8')
  const before = String.raw`(?:function\*? |async |const |^ {2}(?:override )?|^ {4})`
  return new RegExp(`${before}${name}(?:<[^(]*>)?(?:\\(|: (?:async )?\\(| = )`, 'm').test(source)
}

/** Whether there is a file or folder; its name may have a `*`. */
function isThere(path: string): boolean {
  if (!path.includes('*')) return existsSync(join(root, path))
  const name = new RegExp(`^${basename(path).replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
  return readdirSync(join(root, dirname(path))).some((each) => name.test(each))
}

describe('The page for contributors', () => {
  it('walks a POST with and without a session, a call of the client and an elicitation', () => {
    expect(walks.map(([title]) => title)).toEqual([
      'A POST in a session',
      'A POST without a session',
      'A call of the client',
      'An elicitation',
    ])
  })

  it.each(walks)('names a file and a function of it at each hop of "%s"', (_title, text) => {
    const hops = hopsOf(text)
    expect(hops.map(([hop]) => hop)).toEqual(hops.map((_, at) => at + 1))
    const own = hops.filter(([, file]) => file !== 'your program')
    expect(own.length).toBeGreaterThan(2)
    for (const [, file, name] of own) {
      expect(existsSync(join(root, file)), file).toBe(true)
      expect(declares(file, name), `${name} in ${file}`).toBe(true)
    }
  })

  it.each(walks)('names functions of the files that the text of "%s" names', (_title, text) => {
    for (const [, name = '', file = ''] of text.matchAll(
      /`(\w+)` of `((?:src|runtimes)\/[^`]+)`/g,
    )) {
      const source = readFileSync(join(root, file), 'utf8')
      expect(source, `${name} in ${file}`).toMatch(new RegExp(`\\b${name}\\b`))
    }
  })

  it('needs at most nine hops for a POST in a session, and eight without', () => {
    expect(hopsOf(walks[0]![1]).length).toBeLessThanOrEqual(9)
    expect(hopsOf(walks[1]![1]).length).toBeLessThanOrEqual(8)
  })

  it('says of every folder of the sources what it is for', () => {
    const [, list = ''] = page.split('## Where things are\n')
    const [table = ''] = list.split('\n### ')
    const folders = ['src', 'src/server'].flatMap((parent) =>
      readdirSync(join(root, parent), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `${parent}/${name}`),
    )
    expect(folders.length).toBeGreaterThan(20)
    expect(folders.filter((folder) => !table.includes(`\`${folder}/\``))).toEqual([])
  })

  it('names no file or folder that does not exist', () => {
    const named = [
      ...page.matchAll(/`((?:src|runtimes|test|bench|examples|conformance)\/[^`\s]*)`/g),
    ]
    const paths = named.map(([, path = '']) => path).filter((path) => !path.includes('<'))
    expect(paths.length).toBeGreaterThan(30)
    expect(paths.filter((path) => !isThere(path))).toEqual([])
  })
})
