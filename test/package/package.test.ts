// The package as npm would install it: packed, unpacked elsewhere, compiled against and run.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createServer } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { runToEnd } from '../process.ts'
import { root } from '../root.ts'

const folder = join(root, '.cache', 'consumer')
const manifest = readFileSync(join(root, 'package.json'), 'utf8')
const { bin, exports, version } = JSON.parse(manifest) as {
  bin: Record<string, string>
  exports: Record<string, string>
  version: string
}
const browser = ['DOM', 'DOM.Iterable', 'DOM.AsyncIterable']
const runtimes = ['./node', './bun', './deno', './cloudflare']
const webEntries = Object.keys(exports).filter(
  (entry) => !runtimes.includes(entry) && !entry.endsWith('.json'),
)
/** What runs without a page. */
const portable = webEntries.filter((entry) => entry !== './browser' && entry !== './react')

/** The newest compiler, and the one before it, which is written in JavaScript. */
const compilers = {
  'TypeScript 7': 'node_modules/@typescript/native/bin/tsc',
  'TypeScript 6': 'node_modules/typescript/bin/tsc6',
}
/** How compilers find what an import names, with the kind of module that goes with it. */
const resolutions = { nodenext: 'nodenext', node16: 'node16', bundler: 'esnext' }
type Compiler = keyof typeof compilers
type Resolution = keyof typeof resolutions
const ways: [Compiler, Resolution][] = [
  ['TypeScript 7', 'nodenext'],
  ['TypeScript 7', 'node16'],
  ['TypeScript 7', 'bundler'],
  ['TypeScript 6', 'bundler'],
]
let paths: string[] = []

beforeAll(() => {
  const installed = join(folder, 'node_modules', 'edgewise')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(installed, { recursive: true })
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const [packed] = JSON.parse(execFileSync('npm', pack, { cwd: root, encoding: 'utf8' })) as {
    filename: string
    files: { path: string }[]
  }[]
  const archive = join(folder, packed!.filename)
  execFileSync('tar', ['-xzf', archive, '-C', installed, '--strip-components=1'])
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  paths = packed!.files.map(({ path }) => path)
})

describe('The packed package', () => {
  it('contains no development files', () => {
    const needed = ['LICENSE', 'README.md', 'dist/templates/node/tsconfig.json', 'docs/README.md']
    expect(paths).toEqual(expect.arrayContaining(needed))
    expect(
      paths.filter(
        (path) =>
          !/^(LICENSE|README\.md|package\.json|((dist\/)?(src|runtimes(?!\/node\/cli\/create))|dist\/chunks)\/(?!.*\.test\.).+\.(ts|js|map)|dist\/(playground|templates)\/.+|docs\/((?!contributing|site\/).+\.md|guides\/grafana-dashboard\.json))$/.test(
            path,
          ),
      ),
    ).toEqual([])
  })

  it('contains its programs, at paths that npm does not correct', () => {
    expect(paths).toEqual(expect.arrayContaining(Object.values(bin)))
  })

  it.each(ways)('has types that stand on those of pages alone: %s, %s', (compiler, resolution) =>
    compile('web', webEntries, browser, [], compiler, resolution),
  )

  it('has types that stand on those of Web workers alone, for what runs without a page', () =>
    compile('worker', portable, ['WebWorker'], []))

  it('has types for Node that stand on those of Node', () =>
    compile('node', ['./node', ...portable], [], ['node']))

  it('has types for Bun that stand on those of Bun', () => compile('bun', ['./bun'], [], ['bun']))

  it('has types for Deno that stand on those of Deno', () =>
    compile('deno', ['./deno'], browser, ['deno']))

  it('has types for Cloudflare that stand on those of workerd', () =>
    compile('cloudflare', ['./cloudflare', ...portable], [], ['@cloudflare/workers-types']))

  it('can be imported on Node', async () => {
    const file = join(folder, 'main.js')
    writeFileSync(
      file,
      `import { createServer } from 'edgewise/server'
import { connectInMemory } from 'edgewise/testing'
const client = await connectInMemory(createServer({ name: 'packed', version: '1' }))
if (client.serverInfo.name !== 'packed') process.exit(1)
if (!import.meta.resolve('edgewise').includes('/consumer/node_modules/')) process.exit(2)
await client.close()
`,
    )
    await runToEnd(['node', file])
  })
})

describe('The version of the manifest', () => {
  it('is the version in clientInfo', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('who', {}, (_args, ctx) => `${ctx.client.info?.name} ${ctx.client.info?.version}`)
    await using client = await connectInMemory(server)
    const { content } = await client.callTool('who')
    expect(content).toEqual([{ type: 'text', text: `edgewise ${version}` }])
  })

  it.each([
    'examples/templates/browser/package.json',
    'examples/templates/bun/package.json',
    'examples/templates/deno/deno.json',
    'examples/templates/edge/package.json',
    'examples/templates/node/package.json',
    'examples/templates/node-http/package.json',
    'examples/templates/workers/package.json',
  ])('has the form that %s requires', (file) => {
    const wanted = readFileSync(join(root, file), 'utf8').matchAll(
      /"edgewise[^"]*": "(?:npm:edgewise@)?([^"/]+)/g,
    )
    expect(new Set([...wanted].map(([, range]) => range))).toEqual(new Set([`^${version}`]))
  })

  it('has its place at the top of the changelog', () => {
    const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
    expect(/^## \[?(\d[^\s\]]*)/m.exec(changelog)?.[1]).toBe(version)
  })
})

async function compile(
  name: string,
  entries: string[],
  lib: string[],
  types: string[],
  compiler: Compiler = 'TypeScript 7',
  resolution: Resolution = 'nodenext',
): Promise<void> {
  const lines = entries.map(
    (entry, at) => `export * as entry${at} from 'edgewise${entry.slice(1)}'\n`,
  )
  writeFileSync(join(folder, `${name}.ts`), lines.join(''))
  const compilerOptions = {
    target: 'ES2022',
    module: resolutions[resolution],
    moduleResolution: resolution,
    strict: true,
    noEmit: true,
    // A declaration that names an unknown type is an error. (Those of Bun have errors themselves.)
    skipLibCheck: types.includes('bun'),
    lib: ['ES2023', 'ESNext.Disposable', ...lib],
    types,
  }
  const project = join(folder, `tsconfig.${name}.json`)
  writeFileSync(project, JSON.stringify({ compilerOptions, files: [`${name}.ts`] }))
  await runToEnd(['node', compilers[compiler], '-p', project])
}
