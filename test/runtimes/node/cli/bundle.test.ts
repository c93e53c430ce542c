// MCP bundles, as the official packer and hosts read them.
import { MANIFEST_SCHEMAS } from '@anthropic-ai/mcpb'
import { packExtension, validateManifest } from '@anthropic-ai/mcpb/cli'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readArguments } from '../../../../runtimes/node/cli/arguments.ts'
import { bundle, createBundle } from '../../../../runtimes/node/cli/bundle.ts'
import { root } from '../../../root.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgewise-bundle-test-'))
})
afterEach(async () => {
  vi.restoreAllMocks()
  await rm(folder, { recursive: true })
})

/** The official packer as a program: its package does not export how it unpacks. */
const packer = join(root, 'node_modules/@anthropic-ai/mcpb/dist/cli/cli.js')

const built = (name: string): string => pathToFileURL(join(root, 'dist', name)).href
const server = `
import { serveStdio } from '${built('runtimes/node/index.js')}'
import { createServer, text } from '${built('src/presets/server.js')}'
const server = createServer({ name: 'travel', title: 'Travel', version: '1.2.3' })
server.tool('greet', { description: 'Greets.' }, () => text(process.env.GREETING ?? 'Hello'))
server.prompt('plan', {}, () => 'Plan')
await serveStdio(server)
`

async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  return path
}

/** Runs the command in this process, and returns what it prints. */
async function run(...words: string[]): Promise<{ code: number; text: string }> {
  let text = ''
  const print = (line: string | Uint8Array): boolean => {
    text += String(line)
    return true
  }
  vi.spyOn(process.stdout, 'write').mockImplementation(print)
  vi.spyOn(process.stderr, 'write').mockImplementation(print)
  const code = await bundle(invocation(...words))
  vi.restoreAllMocks()
  return { code, text }
}

function invocation(...words: string[]): Parameters<typeof bundle>[0] {
  const parsed = readArguments(['bundle', ...words])
  if (parsed === 'version' || !('commandArguments' in parsed) || 'target' in parsed) {
    throw new Error('This is not a command without a server')
  }
  return parsed
}

/** Unpacks a bundle by the official packer, and checks it. */
async function unpack(bundlePath: string): Promise<string> {
  const outputDir = join(folder, 'unpacked')
  await promisify(execFile)(process.execPath, [packer, 'unpack', bundlePath, outputDir])
  vi.spyOn(console, 'log').mockReturnValue()
  expect(validateManifest(join(outputDir, 'manifest.json'))).toBe(true)
  const again = join(folder, 'again.mcpb')
  expect(await packExtension({ extensionPath: outputDir, outputPath: again, silent: true })).toBe(
    true,
  )
  return outputDir
}

describe('A bundle', () => {
  it('of a module is valid for the official packer, and starts from its own files', async () => {
    await write('package.json', JSON.stringify({ name: '@scope/travel', type: 'module' }))
    const module = await write('dist/main.js', server)
    const output = join(folder, 'out/travel.mcpb')
    const { code, text } = await run(module, '--output', output, '--env', 'API_KEY=secret')
    expect([code, text]).toEqual([
      0,
      expect.stringMatching(
        /No "author" .*\nCreated .*travel\.mcpb \(\d+ KiB\): travel 1\.2\.3, 1 tool\n/,
      ),
    ])
    const unpacked = await unpack(output)
    const manifest: unknown = JSON.parse(await readFile(join(unpacked, 'manifest.json'), 'utf8'))
    expect(MANIFEST_SCHEMAS['0.3'].parse(manifest)).toMatchObject({
      ...{ name: 'travel', display_name: 'Travel', version: '1.2.3' },
      server: {
        type: 'node',
        entry_point: 'server/main.js',
        mcp_config: {
          command: 'node',
          args: ['${__dirname}/server/main.js'],
          env: { API_KEY: '${user_config.api_key}' },
        },
      },
      tools: [{ name: 'greet', description: 'Greets.' }],
      prompts_generated: true,
      user_config: { api_key: { title: 'API_KEY', sensitive: true, required: true } },
    })
    expect(JSON.stringify(manifest)).not.toContain('secret')
    const files = await readdir(unpacked, { recursive: true })
    expect(files.toSorted()).toEqual([
      ...['manifest.json', 'server', 'server/main.js', 'server/package.json'],
    ])
    expect(await readFile(join(unpacked, 'server/main.js'), 'utf8')).toBe(server)
  })

  it('of a folder contains its packages, and neither secrets nor files of tools', async () => {
    await write(
      'app/package.json',
      JSON.stringify({
        dependencies: { dependency: '1' },
        ...{ name: 'travel', version: '2.0.0', description: 'Books trips.', license: 'MIT' },
        ...{ type: 'module', bin: { travel: './main.js' }, homepage: 'https://example.com' },
        ...{
          author: 'Ada <ada@example.com> (https://ada.example)',
          repository: 'github:ada/travel',
        },
      }),
    )
    await write('app/main.js', `import 'dependency'\n${server}`)
    await write('app/node_modules/dependency/package.json', '{ "main": "index.js" }')
    await write('app/node_modules/dependency/index.js', '')
    await write('app/manifest.json', '{ "long_description": "Written by hand." }')
    for (const name of ['.env', '.env.local', '.npmrc', '.git/config', 'key.pem', 'old.mcpb']) {
      await write(`app/${name}`, 'secret')
    }
    await mkdir(join(folder, 'app/node_modules/.bin'))
    await symlink('../dependency/index.js', join(folder, 'app/node_modules/.bin/dependency'))
    const output = join(folder, 'travel.mcpb')
    await run(join(folder, 'app'), '--output', output)
    const unpacked = await unpack(output)
    const files = await readdir(unpacked, { recursive: true, withFileTypes: true })
    expect(
      files
        .filter((file) => file.isFile())
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual([...['index.js', 'main.js', 'manifest.json', 'package.json', 'package.json']])
    expect(JSON.parse(await readFile(join(unpacked, 'manifest.json'), 'utf8'))).toMatchObject({
      ...{ version: '2.0.0', description: 'Books trips.', license: 'MIT' },
      author: { name: 'Ada', email: 'ada@example.com', url: 'https://ada.example' },
      repository: { type: 'git', url: 'https://github.com/ada/travel' },
      ...{ homepage: 'https://example.com', long_description: 'Written by hand.' },
      server: { entry_point: 'main.js' },
    })
  })

  it('of a folder without dependencies contains no packages', async () => {
    await write('app/package.json', '{ "name": "travel", "main": "main.mjs" }')
    await write('app/main.mjs', server)
    await write('app/node_modules/tool/package.json', '{}')
    const output = join(folder, 'travel.mcpb')
    await run(join(folder, 'app'), '--output', output)
    const files = await readdir(await unpack(output))
    expect(files.toSorted()).toEqual(['main.mjs', 'manifest.json', 'package.json'])
  })

  it('is the same for the same files', async () => {
    const module = await write('main.mjs', server)
    const { options } = invocation(module)
    vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const [first, second] = [
      await createBundle(module, options),
      await createBundle(module, options),
    ]
    expect(Buffer.from(first.archive).equals(second.archive)).toBe(true)
  })

  it('is not created without all packages, or of what is no server in JavaScript', async () => {
    const incomplete = await write('incomplete.mjs', "import 'package-that-is-missing'")
    await write('empty/index.js', '')
    await write('linked/package.json', '{ "name": "linked", "main": "index.js" }')
    await symlink(incomplete, join(folder, 'linked/index.js'))
    await write('vague/package.json', '{}')
    const packages = { dependencies: { a: '1' }, devDependencies: { b: '1' } }
    await write('developed/package.json', JSON.stringify({ main: 'index.js', ...packages }))
    for (const name of ['index.js', 'node_modules/a/package.json', 'node_modules/b/package.json']) {
      await write(`developed/${name}`, '{}')
    }
    const cases: [words: string[], message: string][] = [
      [[incomplete], 'The bundle must contain all packages'],
      [[], 'Specify a module'],
      [[join(folder, 'missing.js')], 'Cannot find'],
      [[await write('server.ts', '')], 'is TypeScript: build it'],
      [[await write('server.py', '')], 'is not a JavaScript module'],
      [[join(folder, 'empty')], 'has no "package.json"'],
      [[join(folder, 'linked')], 'is a link, which a bundle cannot contain'],
      [[join(folder, 'developed')], 'contains packages for development, such as "b"'],
      [[join(folder, 'vague')], 'must have "bin" or "main"'],
    ]
    for (const [words, message] of cases) await expect(run(...words)).rejects.toThrow(message)
    expect((await readdir(folder)).filter((name) => /mcpb/.test(name))).toEqual([])
  })
})
