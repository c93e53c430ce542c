// Projects that are made from the templates: checked, tested and built as their owners would.
import { execFile } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { commandOf } from '../../../process.ts'
import { root } from '../../../root.ts'
import { edgewise } from './run.ts'

const folder = join(root, '.cache', 'projects')
const run = promisify(execFile)

/** Makes a project whose packages are this one and those that it has. */
async function create(template: string): Promise<string> {
  const project = join(folder, `${template}-app`)
  rmSync(project, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  expect(await edgewise('new', template, project)).toMatchObject({ code: 0, err: '' })
  const modules = join(project, 'node_modules')
  mkdirSync(modules)
  for (const name of ['zod', '@cloudflare', '@types', 'undici-types', 'bun-types']) {
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  // A copy, as some tools treat what a link leads to as part of the project.
  for (const part of ['package.json', 'dist', 'src', 'runtimes']) {
    cpSync(join(root, part), join(modules, 'edgewise', part), { recursive: true })
  }
  return project
}

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

const modules = join(root, 'node_modules')
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
    symlinkSync(join(modules, 'cross-spawn'), join(project, 'node_modules/cross-spawn'))
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
    rmSync(join(project, 'node_modules'), { recursive: true })
    const program = join(project, 'dist/main.js')
    const called = await edgewise('call', 'greet', 'name=Ada', '--', process.execPath, program)
    expect(called).toMatchObject({ code: 0, out: 'Hello, Ada!\n' })
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

  it('for browsers has types that fit and a page that is built', async () => {
    const project = await create('browser')
    await tool(project, 'node', tsc)
    await build(project)
    for (const page of ['index', 'signed-in']) {
      const html = readFileSync(join(project, `public/${page}.html`), 'utf8')
      const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(html) ?? []
      expect(existsSync(join(project, 'public', script))).toBe(true)
    }
  })

  it.each([
    ['My App.v2', 'my-app-v2'],
    ['@scope/pkg', 'pkg'],
    ['日本', 'my-project'],
    ['edgewise', 'my-edgewise'],
    [`${'a'.repeat(62)}-long`, 'a'.repeat(62)],
  ])('in the folder "%s" is named "%s", as npm and Workers take it', async (target, name) => {
    const project = join(folder, 'names', target)
    rmSync(project, { recursive: true, force: true })
    expect(await edgewise('new', 'workers', project)).toMatchObject({ code: 0, err: '' })
    const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as object
    expect(manifest).toMatchObject({ name })
    expect(readFileSync(join(project, 'wrangler.toml'), 'utf8')).toContain(`name = "${name}"`)
  })

  it('goes into a repository that was begun, and leaves that as it is', async () => {
    const project = join(folder, 'begun')
    rmSync(project, { recursive: true, force: true })
    mkdirSync(join(project, '.git'), { recursive: true })
    writeFileSync(join(project, '.git', 'my-server.md'), 'my-server')
    expect(await edgewise('new', 'node', project)).toMatchObject({ code: 0, err: '' })
    expect(readFileSync(join(project, '.git', 'my-server.md'), 'utf8')).toBe('my-server')
    expect(readFileSync(join(project, 'README.md'), 'utf8')).toContain('# begun')
  })

  it('that the system cannot create exits with 1 and the error of the system', async () => {
    const file = join(folder, 'file')
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, '')
    const { code, err } = await edgewise('new', 'node', file)
    expect(code).toBe(1)
    expect(err).toMatch(/^EEXIST: .*\n$/)
  })

  it('needs a template that exists, and a folder that is empty', async () => {
    const unknown = await edgewise('new', 'cobol', join(folder, 'x'))
    expect(unknown).toMatchObject({ code: 2 })
    expect(unknown.err).toContain('Specify a template (browser, bun, deno, node, workers)')
    expect((await edgewise('new', 'node')).err).toContain('Specify a folder')
    expect((await edgewise('new', 'node', '')).err).toContain('Specify a folder')
    expect((await edgewise('new', 'node', root)).err).toContain('is not empty')
  })
})
