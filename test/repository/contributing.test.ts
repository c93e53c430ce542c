import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createServer } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { root } from '../root.ts'
import { openSession, postModern } from '../transport/streamable-http/post.ts'

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

/** The paths of all source files. */
const sources = ['src', 'runtimes'].flatMap((folder) =>
  readdirSync(join(root, folder), { encoding: 'utf8', recursive: true })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path)),
)

/** Whether a file declares a function, class, type, constant or property with that name. */
function declares(file: string, name: string): boolean {
  if (!existsSync(join(root, file))) return false
  const source = readFileSync(join(root, file), 'utf8')
  const modifiers = '(?:export |static |override |readonly |async |get )*'
  const keyword = String.raw`(?:function\*? |class |interface |type |const |let )?`
  // A line that ends with a parenthesis is a call
  const start = String.raw`^ *(?!.*\)$)${modifiers}${keyword}${name}\b`
  return new RegExp(
    String.raw`${start}\??(?:<.*)?(?: (?:=|extends|implements|\{)|[(:]|$)`,
    'm',
  ).test(source)
}

/** Whether there is a file or folder; its name may have a `*`. */
function isThere(path: string): boolean {
  if (!path.includes('*')) return existsSync(join(root, path))
  const name = new RegExp(`^${basename(path).replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
  return readdirSync(join(root, dirname(path))).some((each) => name.test(each))
}

describe('The page for contributors', () => {
  it('walks a POST with and without a session, a GET, a call of the client and an elicitation', () => {
    expect(walks.map(([title]) => title)).toEqual([
      'A POST in a session',
      'A POST without a session',
      'A GET stream and `Last-Event-ID`',
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

  it('names only functions, classes and types that their files declare', () => {
    const named = [...page.matchAll(/((?:`#?\w+`(?:, | and | or )?)+) of `([\w./-]+\.ts)`/g)]
    expect(named.length).toBeGreaterThan(60)
    const missing = named.flatMap(([, names = '', file = '']) => {
      const places = file.includes('/') ? [file] : sources.filter((each) => basename(each) === file)
      return [...names.matchAll(/`(#?\w+)`/g)]
        .filter(([, name = '']) => !places.some((place) => declares(place, name)))
        .map(([, name]) => `${name} of ${file}`)
    })
    expect(missing).toEqual([])
  })

  it('needs at most nine hops for a POST in a session, and eight without', () => {
    expect(hopsOf(walks[0]![1]).length).toBeLessThanOrEqual(9)
    expect(hopsOf(walks[1]![1]).length).toBeLessThanOrEqual(8)
  })

  it.each([
    ['A POST in a session', '2025-11-25'],
    ['A POST without a session', '2026-07-28'],
  ])('walks "%s" through the files that a call passes, and no others', async (title, version) => {
    const server = createServer({ name: 'walk', version: '1.0.0' })
    let stack = ''
    server.tool('walk', {}, () => {
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = 50
      stack = new Error().stack ?? ''
      Error.stackTraceLimit = stackTraceLimit
      return ''
    })
    const handle = sessionHandler(server)
    const params = { name: 'walk', arguments: {} }
    if (version === '2026-07-28') await postModern(handle, 'tools/call', params)
    else {
      const { send } = await openSession(handle, version)
      await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    }
    await handle.close()
    const passed = [...stack.matchAll(/(\/[^\s():]+\.ts):\d+/g)].map(([, path = '']) =>
      relative(root, path),
    )
    const files = passed
      .filter((file) => file.startsWith('src/') && file !== 'src/patterns/awaitable.ts')
      .toReversed()
    const hops = hopsOf(walks.find(([each]) => each === title)![1])
    // Without the adapter of the host, and the program
    expect(files.filter((file, at) => file !== files[at - 1])).toEqual(
      hops.slice(1, -1).map(([, file]) => file),
    )
  })

  it('states the purpose of every source folder', () => {
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
    const files = [...page.matchAll(/`([\w.-]+\.ts)`/g)].map(([, name = '']) => name)
    const names = new Set(sources.map((path) => basename(path)))
    expect(files.length).toBeGreaterThan(50)
    expect(files.filter((name) => !names.has(name))).toEqual([])
  })
})
