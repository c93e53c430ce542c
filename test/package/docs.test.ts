// Compiles every TypeScript block of the README, of the pages under `docs` and of the `@example` tags
// in the sources, and runs those whose fence says so.
//
// A fence reads "```ts", "```ts run" (it runs to its end) or "```ts serve" (it listens on port 8000
// until it is ended; the "run" blocks after it may call it). A first line like "// server.ts", or
// one behind "#!", names the block, so that later ones of the page can import it.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SKILLS_EXTENSION, TASKS_EXTENSION } from '../../src/protocol/extension-ids.ts'
import { APPS_EXTENSION } from '../../src/apps/ui.ts'
import { budgets } from '../../bench/size.ts'
import { freePort } from '../../examples/free-port.ts'
import { pages as paths } from '../repository/docs-pages.ts'
import { commandOf, runToEnd } from '../process.ts'
import { root } from '../root.ts'

interface Block {
  /** Under the folder of its page. */
  file: string
  code: string
  marks: string[]
  /** The runtime whose entry point, modules or types the block uses, or `any`. */
  runtime: string
}

const folder = join(root, '.cache', 'docs')
const UNTYPED = 'untyped.d.ts'
const pages = [...paths, ...sourcesWithExamples()].map((page) => ({
  page,
  blocks: readBlocks(page),
}))

const settings: Record<string, { lib: string[]; types: string[] }> = {
  any: { lib: ['DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], types: [] },
  browser: { lib: ['DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], types: [] },
  react: { lib: ['DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], types: [] },
  deno: { lib: ['DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], types: ['deno'] },
  bun: { lib: [], types: ['bun'] },
  node: { lib: [], types: ['node'] },
  cloudflare: { lib: [], types: ['@cloudflare/workers-types'] },
}

beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  // The types of Express are in a package of their own
  writeFileSync(join(folder, UNTYPED), "declare module 'express'\n")
  for (const { page, blocks } of pages) {
    mkdirSync(join(folder, page), { recursive: true })
    const port = await freePort()
    for (const { file, code } of blocks) {
      writeFileSync(join(folder, file), code.replaceAll(/\b8000\b/g, String(port)))
    }
  }
})

describe('All blocks', () => {
  for (const [runtime, { lib, types }] of Object.entries(settings)) {
    const all = pages.flatMap(({ blocks }) => blocks)
    const files = all.filter((block) => block.runtime === runtime).map(({ file }) => file)
    if (files.length === 0) continue
    it(`for ${runtime === 'any' ? 'any runtime' : runtime} compile`, async () => {
      const project = join(folder, `tsconfig.${runtime}.json`)
      const compilerOptions = {
        noEmit: true,
        // Not dist, whose declarations would then be taken for this project's own output.
        outDir: 'out',
        composite: false,
        declaration: false,
        emitDeclarationOnly: false,
        declarationMap: false,
        isolatedDeclarations: false,
        noUnusedLocals: false,
        lib: ['ES2023', 'ESNext.Disposable', ...lib],
        types,
      }
      writeFileSync(
        project,
        JSON.stringify({
          extends: '../../tsconfig.json',
          compilerOptions,
          files: [UNTYPED, ...files],
          references: [],
        }),
      )
      await runToEnd(['node', 'node_modules/@typescript/native/bin/tsc', '-p', project])
    })
  }
})

describe.each(pages.filter(({ blocks }) => blocks.some(isRun)))('$page', ({ blocks }) => {
  let server: ChildProcess | undefined
  afterAll(() => server?.kill())

  for (const block of blocks) {
    const words = {
      deno: ['deno', 'run', '--allow-net', '--allow-env', '--allow-read'],
      bun: ['bun'],
    }[block.runtime] ?? ['tsx']
    const line = [...words, join(folder, block.file)]
    if (block.marks.includes('serve')) {
      it(`${block.file} listens`, async () => {
        server?.kill()
        const [program, ...args] = commandOf(line)
        server = spawn(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
        const port = /\b\d{4,5}\b/.exec(readFileSync(join(folder, block.file), 'utf8'))?.[0]
        await expect
          .poll(() =>
            fetch(`http://localhost:${port}/`).then(
              () => true,
              () => false,
            ),
          )
          .toBe(true)
      })
    } else if (block.marks.includes('run')) {
      it(`${block.file} runs to its end`, () => runToEnd(line))
    }
  }
})

function isRun({ marks }: Block): boolean {
  return marks.includes('run') || marks.includes('serve')
}

/** The sources whose TSDoc has an `@example`. */
function sourcesWithExamples(): string[] {
  return ['src', 'runtimes']
    .flatMap((top) =>
      readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(top, file),
      ),
    )
    .filter(
      (file) => /\.tsx?$/.test(file) && examplesOf(readFileSync(join(root, file), 'utf8')) !== '',
    )
}

/** The `@example` tags of a source, without the asterisks of their comments. */
function examplesOf(source: string): string {
  return [...source.matchAll(/^ *\* @example\n((?: *\*(?!\/).*\n)*?)(?= *\* @| *\*\/)/gm)]
    .map(([, tag = '']) => tag.replaceAll(/^ *\* ?/gm, ''))
    .join('\n')
}

function readBlocks(page: string): Block[] {
  const source = readFileSync(join(root, page), 'utf8')
  const text = page.endsWith('.md') ? source : examplesOf(source)
  return [...text.matchAll(/^```ts\b(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, marks = '', code = ''], at) => {
      const [, named] = /^(?:#!.*\n)?\/\/ ([\w-]+\.tsx?)\n/.exec(code) ?? []
      const name = named ?? `block-${at + 1}.ts`
      return {
        file: join(page, name),
        code,
        marks: marks.trim().split(/\s+/),
        runtime:
          /from 'edgewise\/(browser|bun|cloudflare|deno|node|react)[/']/.exec(code)?.[1] ??
          (/\bExportedHandler\b/.test(code) ? 'cloudflare' : undefined) ??
          (/from 'node:/.test(code) ? 'node' : 'any'),
      }
    },
  )
}

describe('The guide of extensions', () => {
  it.each([APPS_EXTENSION, SKILLS_EXTENSION, TASKS_EXTENSION])('mentions %s [M-VER-019]', (id) => {
    expect(readFileSync(join(root, 'docs/guides/extensions.md'), 'utf8')).toContain(`\`${id}\``)
  })
})

describe('The stages of extensions', () => {
  const guide = readFileSync(join(root, 'docs/guides/extensions.md'), 'utf8')
  const names = ['tasks', 'skills', 'events', 'server-card', 'ui']

  it.each(names)('are in the guide, with the text that is followed: %s [E-EXT-001]', (name) => {
    const row = guide
      .split('\n')
      .find(
        (line) =>
          /\| (?:Beta|Stable) /.test(line) && line.includes(`modelcontextprotocol/${name}\``),
      )
    expect(row).toMatch(/\| (?:Beta|Stable) +\| \S+/)
  })

  it.each(['tasks', 'skills', 'events', 'cards'])(
    'are in the head of the entry of each Beta extension, with a warning: %s [E-EXT-004]',
    (entry) => {
      const [head = ''] = readFileSync(join(root, `src/${entry}/index.ts`), 'utf8').split('*/', 1)
      expect(head.replaceAll(/\n \*/g, '')).toMatch(
        /in Beta, and its exports may change in minor versions/,
      )
    },
  )

  it('come with the commit of the text that cards follow [E-EXT-005]', () => {
    const [head = ''] = readFileSync(join(root, 'src/cards/index.ts'), 'utf8').split('*/', 1)
    expect(head).toMatch(/experimental-ext-server-card at [\da-f]{7}/)
  })
})

describe('The guide of server cards', () => {
  it('says on which domain a catalog belongs [E-CARD-135]', () => {
    const guide = readFileSync(join(root, 'docs/guides/cards.md'), 'utf8')
    const [, section = ''] = guide.split('### Where to put the catalog\n')
    expect(section).toMatch(/^\s*Put the catalog on the domain that users know/)
  })
})

describe('The README', () => {
  it.each([...budgets])('states the budget of the bundle "$name"', ({ name, maxKb }) => {
    const rows = readFileSync(join(root, 'README.md'), 'utf8').replaceAll(/ +/g, ' ')
    expect(rows).toContain(`| ${name} | ${maxKb} KB |`)
  })
})
