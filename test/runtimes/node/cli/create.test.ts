// What `npm create edgewise@latest` runs, from its sources, and its package.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { load } from 'js-yaml'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runCreate, type CreateEnvironment } from '../../../../runtimes/node/cli/create/create.ts'
import { templates, type TemplateName } from '../../../../runtimes/node/cli/templates.ts'
import { usage } from '../../../../runtimes/node/cli/usage.ts'
import { root } from '../../../root.ts'
import { createProject } from '../../../../runtimes/node/cli/project.ts'

const templatesFolder = pathToFileURL(join(root, 'examples/templates/'))
const names = Object.keys(templates) as TemplateName[]
let home = ''
let cwd = ''
let out = ''
let err = ''
/** The commands that installed packages, with their folders. */
let installed: [command: string, path: string][] = []

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'edgewise-create-'))
  cwd = join(home, 'work')
  await mkdir(cwd)
  out = err = ''
  installed = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true))
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true))
})

afterEach(async () => {
  vi.restoreAllMocks()
  await rm(home, { recursive: true, force: true })
})

/** Runs the command with a package manager that only takes notes. */
function create(words: readonly string[], changes: Partial<CreateEnvironment> = {}) {
  return runCreate(words, {
    machine: { platform: 'linux', home, env: {}, cwd },
    templatesFolder,
    ask: undefined,
    installPackages: async (command, path) => {
      installed.push([command, path])
      return true
    },
    ...changes,
  })
}

async function readJson(...path: string[]): Promise<Record<string, Record<string, unknown>>> {
  return JSON.parse(await readFile(join(...path), 'utf8'))
}

const serversOf = async (): Promise<Record<string, unknown> | undefined> =>
  (await readJson(home, '.cursor', 'mcp.json'))['mcpServers']

describe('npm create edgewise', () => {
  it.each(names.filter((name) => templates[name].server))(
    'makes a project from "%s", and adds its server to a host',
    async (template) => {
      const project = join(cwd, 'shop')
      expect(await create([template, 'shop', '--client', 'cursor'])).toBe(0)
      expect(await readFile(join(project, 'README.md'), 'utf8')).toMatch(/^# shop\n/)
      expect(installed).toEqual(template === 'deno' ? [] : [['npm install', project]])
      const { shop } = (await serversOf()) as { shop: { url?: string; args?: string[] } }
      if (shop.url === undefined) {
        const file = shop.args!.find((word) => word.startsWith(project))
        expect(await readFile(file!, 'utf8')).toContain('serveStdio')
      } else {
        expect(shop).toMatchObject({ url: expect.stringMatching(/^http:\/\/localhost:8\d+\/mcp$/) })
        expect(out).toContain('npm start')
      }
      expect(out).not.toContain('edgewise install')
    },
  )

  it('without a host prints the command that adds the server to one', async () => {
    expect(await create(['node', 'my shop'])).toBe(0)
    expect(out).toContain('  cd "my shop"\n')
    expect(await create(['node', `it's $(x)`, '--no-install'])).toBe(0)
    expect(out).toContain(String.raw`  cd 'it'\''s $(x)'` + '\n')
    expect(out).toContain('  npx edgewise install --name my-shop --client cursor src/main.ts\n')
    expect(await create(['deno', 'times'])).toBe(0)
    expect(out).toContain('--name times --client cursor -- deno run stdio.ts\n')
  })

  it('installs the packages with the package manager that started it', async () => {
    const machine = { platform: 'linux', home, cwd } as const
    const env = { npm_config_user_agent: 'pnpm/10.0.0 npm/? node/v24.0.0 linux x64' }
    expect(await create(['bun', 'a'], { machine: { ...machine, env } })).toBe(0)
    expect(await create(['bun', 'b', '--no-install'])).toBe(0)
    expect(installed).toEqual([['pnpm install', join(cwd, 'a')]])
    expect(out).toContain('  cd b\n  npm install\n')
  })

  it('asks at a terminal for the template and the folder', async () => {
    const questions: string[] = []
    const answers = ['node ', 'shop']
    const ask = async (question: string) => (questions.push(question), answers.shift())
    expect(await create([], { ask })).toBe(0)
    expect(questions).toEqual([expect.stringMatching(/^Template .*node-http/), 'Folder: '])
    expect(await readJson(cwd, 'shop', 'package.json')).toMatchObject({ name: 'shop' })
    expect(await create([], { ask })).toBe(130)
    expect(await readdir(cwd)).toEqual(['shop'])
  })

  it.each([
    [[], 'Specify a template'],
    [['cobol', 'x'], 'Unknown template: "cobol". Specify a template (browser, bun, deno, edge'],
    [['node'], 'Specify a folder'],
    [['node', ''], 'Specify a folder'],
    [['node', 'x', 'y'], 'Unexpected argument: "y"'],
    [['node', 'x', '--template', 'y'], "Unknown option '--template'"],
    [['node', 'x', '--client', 'emacs'], 'Unknown host: "emacs". "--client" must be one of'],
    [['browser', 'x', '--client', 'zed'], '"--client" has no effect with "browser"'],
  ])('rejects %j, and creates nothing', async (words, message) => {
    expect(await create(words)).toBe(2)
    expect(err).toContain(message)
    expect(err).toContain('See npm create edgewise@latest -- --help')
    expect(await readdir(home)).toEqual(['work'])
    expect(await readdir(cwd)).toEqual([])
  })

  it('changes nothing in a folder that is not empty', async () => {
    await writeFile(join(cwd, 'package.json'), 'mine')
    expect(await create(['node', '.', '--client', 'cursor'])).toBe(2)
    expect(err).toContain('The folder "." is not empty')
    expect(await readdir(cwd)).toEqual(['package.json'])
    expect(await readFile(join(cwd, 'package.json'), 'utf8')).toBe('mine')
    expect(await create(['node', 'package.json'])).toBe(2)
    expect(err).toContain('"package.json" is not a folder')
  })

  it('keeps the project and configures no host if its packages cannot be installed', async () => {
    const failing = { installPackages: async () => false }
    expect(await create(['node', 'shop', '--client', 'cursor'], failing)).toBe(1)
    expect(err).toContain(`Cannot install the packages of "${join(cwd, 'shop')}"`)
    expect(out).toContain(
      '\n  cd shop\n  npm install\n  npx edgewise install --name shop --client cursor src/main.ts\n',
    )
    expect(await readdir(home)).toEqual(['work'])
    expect(await readdir(cwd)).toEqual(['shop'])
  })

  it('leaves another server of the same name in a host as it is', async () => {
    await mkdir(join(home, '.cursor'))
    const before = '{ "mcpServers": { "shop": { "command": "mine" } } }'
    await writeFile(join(home, '.cursor', 'mcp.json'), before)
    expect(await create(['edge', 'shop', '--client', 'cursor'])).toBe(1)
    expect(err).toContain('Cursor already has another server "shop"')
    expect(out).toContain('npx edgewise install --name shop --client cursor ')
    expect(await readFile(join(home, '.cursor', 'mcp.json'), 'utf8')).toBe(before)
  })

  it('prints all templates in its help', async () => {
    expect(await create(['--help'])).toBe(0)
    for (const name of names) expect(out).toMatch(new RegExp(`^  ${name} +a `, 'm'))
    expect(usage).toContain(names.join(', '))
  })
})

describe('A new project', () => {
  it.each([
    ['My App.v2', 'my-app-v2'],
    ['@scope/pkg', 'pkg'],
    ['日本', 'my-project'],
    ['edgewise', 'my-edgewise'],
    [`${'a'.repeat(62)}-long`, 'a'.repeat(62)],
  ])('in the folder "%s" is named "%s", which npm and Workers accept', async (folder, name) => {
    const path = join(cwd, folder)
    expect(await createProject('workers', path, templatesFolder)).toEqual({ path, name })
    expect(await readJson(path, 'package.json')).toMatchObject({ name })
    expect(await readFile(join(path, 'wrangler.toml'), 'utf8')).toContain(`name = "${name}"`)
  })

  it('whose name starts with a digit has a name in hosts that starts with a letter', async () => {
    expect(await create(['deno', '2048', '--client', 'cursor'])).toBe(0)
    expect(Object.keys((await serversOf())!)).toEqual(['my-2048'])
  })

  it('is created in an existing repository, which stays as it is', async () => {
    await mkdir(join(cwd, '.git'))
    await writeFile(join(cwd, '.git', 'my-server.md'), 'my-server')
    expect(await create(['node', '.'])).toBe(0)
    expect(out).not.toContain('cd ')
    expect(await readFile(join(cwd, '.git', 'my-server.md'), 'utf8')).toBe('my-server')
    expect(await readFile(join(cwd, 'README.md'), 'utf8')).toContain('# work')
  })

  it.each(names)('from "%s" has a workflow whose commands exist', async (template) => {
    const { path } = await createProject(template, join(cwd, 'shop'), templatesFolder)
    const isDeno = template === 'deno'
    const file = isDeno ? 'deno.json' : 'package.json'
    const { scripts, tasks } = await readJson(path, file)
    const workflow = load(await readFile(join(path, '.github/workflows/test.yml'), 'utf8'))
    const { jobs } = workflow as { jobs: { test: { steps: { run?: string }[] } } }
    const commands = jobs.test.steps.flatMap(({ run }) => (run === undefined ? [] : [run]))
    const called = commands
      .filter((command) => !/^(npm ci|bun install)$/.test(command))
      .map((command) => command.replace(/^(npm run|npm|bun run|deno task) /, ''))
    expect(called).toEqual(expect.arrayContaining(['check', 'test']))
    expect(Object.keys({ ...scripts, ...tasks })).toEqual(expect.arrayContaining(called))
  })
})

describe('The package create-edgewise', () => {
  const folder = join(root, 'dist/create')

  it('contains its program, the templates, a license and a readme, and nothing else', async () => {
    const pack = ['pack', '--json', '--dry-run', '--ignore-scripts']
    const [packed] = JSON.parse(execFileSync('npm', pack, { cwd: folder, encoding: 'utf8' })) as {
      files: { path: string }[]
    }[]
    const sources = await readdir(templatesFolder, { recursive: true, withFileTypes: true })
    const files = sources
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).replace(join(root, 'examples/'), ''))
    expect(packed!.files.map(({ path }) => path).toSorted()).toEqual(
      ['LICENSE', 'README.md', 'main.js', 'package.json', ...files].toSorted(),
    )
  })

  it('has the version of this package, and the dependencies that its program imports', async () => {
    const own = await readJson(folder, 'package.json')
    const { version, dependencies } = await readJson(root, 'package.json')
    expect(own).toMatchObject({ version, bin: { 'create-edgewise': 'main.js' } })
    expect(dependencies).toMatchObject(own['dependencies']!)
    const program = await readFile(join(folder, 'main.js'), 'utf8')
    const imported = Array.from(
      program.matchAll(/^import .* from "([^"]+)"/gm),
      ([, name]) => name!,
    )
    const packages = imported.filter((name) => !name.startsWith('node:'))
    expect(Object.keys(own['dependencies']!).toSorted()).toEqual(packages.toSorted())
  })

  it('runs', async () => {
    const env = { ...process.env, HOME: home, USERPROFILE: home }
    const words = [join(folder, 'main.js'), 'node', 'shop', '--no-install', '--client', 'cursor']
    execFileSync(process.execPath, words, { cwd, env, stdio: 'pipe' })
    expect(Object.keys((await serversOf())!)).toEqual(['shop'])
  })
})
