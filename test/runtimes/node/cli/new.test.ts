// Projects that are made from the templates: checked, tested and built as their owners would.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build as esbuild } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../../../../src/presets/client.ts'
import { text } from '../../../../src/presets/server.ts'
import { commandOf } from '../../../process.ts'
import { root } from '../../../root.ts'
import { edgewise } from './run.ts'

const folder = join(root, '.cache', 'projects')
const run = promisify(execFile)

const modules = join(root, 'node_modules')
const shared = join(folder, 'node_modules')

/** Makes a project; its packages are this one and those that it has, which all projects share. */
async function create(template: string): Promise<string> {
  const project = join(folder, `${template}-app`)
  rmSync(project, { recursive: true, force: true })
  expect(await edgewise('new', template, project)).toMatchObject({ code: 0, err: '' })
  return project
}

beforeAll(() => {
  rmSync(shared, { recursive: true, force: true })
  mkdirSync(shared, { recursive: true })
  const names = ['zod', '@cloudflare', '@types', 'undici-types', 'bun-types', 'cross-spawn']
  for (const name of names) symlinkSync(join(modules, name), join(shared, name))
  // A copy, as some tools treat what a link leads to as part of the project.
  for (const part of ['package.json', 'dist', 'src', 'runtimes']) {
    cpSync(join(root, part), join(shared, 'edgewise', part), { recursive: true })
  }
})

/** Runs a tool of this project in another. */
async function tool(project: string, ...words: string[]): Promise<string> {
  const [command, ...args] = commandOf(words)
  return (
    await run(command, args, {
      cwd: project,
      env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
    })
  ).stdout
}

/** Builds a project by the tools of this one. */
async function build(project: string): Promise<void> {
  const PATH = `${join(modules, '.bin')}:${process.env.PATH}`
  await run('npm', ['run', 'build'], { cwd: project, env: { ...process.env, PATH } })
}

const tsc = join(modules, '@typescript/native/bin/tsc')
const tsx = join(modules, 'tsx/dist/cli.mjs')
const wrangler = join(modules, 'wrangler/bin/wrangler.js')

describe('a new project', () => {
  it('for Workers has types that fit, tests that pass, and can be deployed', async () => {
    const project = await create('workers')
    await tool(project, 'node', tsc)
    expect(await tool(project, 'node', tsx, '--test', 'src/server.test.ts')).toContain('# pass 5')
    const printed = await tool(project, 'node', wrangler, 'deploy', '--dry-run', '--outdir', 'out')
    expect(printed).toContain('McpSession')
    expect(readFileSync(join(project, 'wrangler.toml'), 'utf8')).toContain('name = "workers-app"')
    expect(existsSync(join(project, '.gitignore'))).toBe(true)
  })

  it('for Workers allows the types that each Wrangler wants, old or new', () => {
    const ranges = (
      file: string,
    ): { readonly [part: string]: { readonly [name: string]: string } } =>
      JSON.parse(readFileSync(join(root, file), 'utf8'))
    const majors = (range: string): string[] => range.match(/(?<=\^)\d+/g) ?? []
    const { devDependencies } = ranges('examples/templates/workers/package.json')
    const { peerDependencies } = ranges('node_modules/wrangler/package.json')
    const allowed = majors(devDependencies!['@cloudflare/workers-types']!)
    // Wrangler 4.86 is the last for Node 20, and wants 4; the newest wants 5.
    expect(devDependencies).toMatchObject({ wrangler: '^4.86.0' })
    expect(allowed).toEqual(['4', '5'])
    expect(majors(peerDependencies!['@cloudflare/workers-types']!)).toHaveLength(1)
    expect(allowed).toEqual(
      expect.arrayContaining(majors(peerDependencies!['@cloudflare/workers-types']!)),
    )
  })

  it('for Node has tests that pass, and a program that answers when it is built', async () => {
    const project = await create('node')
    expect(await tool(project, 'node', tsx, '--test', 'src/server.test.ts')).toContain('# pass 5')
    await tool(project, 'node', tsc)
    expect(existsSync(join(project, 'dist'))).toBe(false)
    // Packages of the older kind, which find what Node has by `require`, and their place
    writeFileSync(
      join(project, 'src/older.cjs'),
      "if (require('node:path').join(__dirname, 'main.js') !== __filename) throw new Error(__filename)",
    )
    // A program may make for itself what these find
    appendFileSync(
      join(project, 'src/main.ts'),
      `
import { createRequire } from 'node:module'
import 'cross-spawn'
import './older.cjs'
const require = createRequire(import.meta.url)
const { dirname } = require('node:path')
const __dirname = dirname(process.argv[1]!)
export { require, __dirname }
`,
    )
    await build(project)
    // The program is all that is published
    const program = join(await mkdtemp(join(tmpdir(), 'edgewise-')), 'main.js')
    copyFileSync(join(project, 'dist/main.js'), program)
    const called = await edgewise('call', 'greet', 'name=Ada', '--', process.execPath, program)
    expect(called).toMatchObject({ code: 0, out: 'Hello, Ada!\n' })
  })

  it('for an edge has types that fit, tests that pass, and the size that it states', async () => {
    const project = await create('edge')
    await tool(project, 'node', tsc)
    expect(await tool(project, 'node', tsx, '--test', 'src/server.test.ts')).toContain('# pass 6')
    const { outputFiles } = await esbuild({
      absWorkingDir: project,
      entryPoints: ['src/index.ts'],
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      write: false,
    })
    const kilobytes = gzipSync(outputFiles[0]!.contents, { level: 9 }).byteLength / 1024
    const readme = readFileSync(join(project, 'README.md'), 'utf8')
    expect(readme).toContain(`The Worker has ${kilobytes.toFixed(0)} KB`)
  })

  it('for HTTP on Node has types that fit, and answers when it is built', async () => {
    const project = await create('node-http')
    await tool(project, 'node', tsc)
    await build(project)
    const child = spawn(process.execPath, ['dist/main.js'], {
      cwd: project,
      env: { ...process.env, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    await using client = await connect(String(line).replace('Serving on ', ''))
    const { content } = await client.callTool('greet', { name: 'Ada' })
    expect(content).toEqual([text('Hello, Ada!')])
    child.kill('SIGTERM')
    // It ends its streams, and then by itself
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('for Deno has tests that pass, again and again [P010]', async () => {
    const project = await create('deno')
    // The package as it is here, not as it is published.
    const file = join(project, 'deno.json')
    const { imports, ...others } = JSON.parse(readFileSync(file, 'utf8')) as { imports: object }
    // Deno takes the names below these for granted
    expect(Object.keys(imports)).toEqual(['edgewise', 'zod'])
    writeFileSync(file, JSON.stringify({ ...others, nodeModulesDir: 'manual' }))
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
    symlinkSync(shared, join(project, 'node_modules'))
    // Again, as what the first run leaves must not fail the second.
    for (let run = 0; run < 2; run++) await tool(project, 'deno', 'test', '--no-prompt')
  })

  it('for Bun has types that fit, tests that pass, and answers over stdio [P010]', async () => {
    const project = await create('bun')
    await tool(project, 'node', tsc)
    for (let run = 0; run < 2; run++) await tool(project, 'bun', 'test')
    const [bun, ...args] = commandOf(['bun', join(project, 'stdio.ts')])
    const called = await edgewise('call', 'greet', 'name=Ada', '--', bun, ...args)
    expect(called).toMatchObject({ code: 0, out: 'Hello, Ada!\n' })
    expect(readFileSync(join(project, 'package.json'), 'utf8')).toContain('"name": "bun-app"')
  })

  it('for Workers knows the bindings that "wrangler types" finds [P006]', async () => {
    const project = await create('workers')
    appendFileSync(join(project, 'wrangler.toml'), '\n[vars]\nGREETING = "Hi"\n')
    await tool(project, 'node', wrangler, 'types', '--include-runtime=false')
    expect(existsSync(join(project, 'worker-configuration.d.ts'))).toBe(true)
    writeFileSync(
      join(project, 'src/greeting.ts'),
      "import { env } from 'cloudflare:workers'\nexport const greeting: 'Hi' = env.GREETING\n",
    )
    await tool(project, 'node', tsc)
  })

  it('for browsers has types that fit, tests that pass, and a page that is built', async () => {
    const project = await create('browser')
    await tool(project, 'node', tsc)
    expect(await tool(project, 'node', tsx, '--test', 'src/tools.test.ts')).toContain('# pass 5')
    await build(project)
    for (const page of ['index', 'signed-in']) {
      const html = readFileSync(join(project, `public/${page}.html`), 'utf8')
      const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(html) ?? []
      expect(existsSync(join(project, 'public', script))).toBe(true)
    }
  })

  it('that the system cannot create exits with 1 and the error of the system', async () => {
    const { code, err } = await edgewise('new', 'node', join(folder, 'a'.repeat(300)))
    expect(code).toBe(1)
    expect(err).toMatch(/^ENAMETOOLONG: .*\n$/)
  })

  it('needs a template that exists, and a folder that is empty', async () => {
    const unknown = await edgewise('new', 'cobol', join(folder, 'x'))
    expect(unknown).toMatchObject({ code: 2 })
    expect(unknown.err).toContain(
      'Unknown template: "cobol". Specify a template (browser, bun, deno, edge, node, node-http, workers)',
    )
    expect((await edgewise('new', 'node')).err).toContain('Specify a folder')
    expect((await edgewise('new', 'node', root)).err).toContain('is not empty')
  })
})
