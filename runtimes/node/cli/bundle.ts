/**
 * `edgewise bundle`: packs a server into an MCP bundle, which users install with a double click.
 *
 * @see https://github.com/modelcontextprotocol/mcpb
 */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { zipSync, type Zippable } from 'fflate'
import type { JsonObject } from '../../../src/index.ts'
import type { LocalInvocation, Options } from './arguments.ts'
import { collectFiles, type BundleContents, type BundledFile } from './hosts/bundle-files.ts'
import { authorOf, bundleManifest, type ServerReport } from './hosts/bundle-manifest.ts'
import { cleanName, requireName } from './hosts/server-name.ts'
import { ConnectError, open } from './open.ts'
import { oneLine, print, printJson, printNotice } from './print.ts'
import { requireNoArguments, UsageError } from './usage.ts'

/** The modification time of every entry. It is constant, so that the same files always make the same bundle. */
const ENTRY_TIME = new Date(1980, 0, 1)

/** The number that marks archive entries as having Unix permissions. */
const UNIX = 3

/** A packed bundle. */
export interface Bundle {
  readonly manifest: JsonObject
  /** The name of the file, without a suffix. */
  readonly name: string
  readonly archive: Uint8Array
}

/**
 * Creates a bundle from a module, or from a folder with a `package.json`. Starts the server from the bundled files
 * alone, to notice if a file or package is missing.
 *
 * @throws {UsageError} If the server cannot be bundled.
 * @throws {ConnectError} If the server does not start.
 */
export async function createBundle(path: string, options: Options): Promise<Bundle> {
  const contents = await collectFiles(path)
  const report = await startBundled(contents, options)
  const variables = Object.keys(options.env)
  const name = nameOf(contents, report, options)
  const manifest = bundleManifest(contents, report, name, variables)
  if (!authorOf(contents.packageJson) && contents.authoredManifest['author'] === undefined) {
    printNotice(
      `No "author" in package.json: the bundle lists "${String(manifest['name'])}" as its author`,
    )
  }
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  const files = new Map([['manifest.json', { bytes, mode: 0o644 }], ...contents.files])
  const entries: Zippable = {}
  for (const [entryPath, file] of files) {
    // The upper 16 bits contain the file type, which is a regular file, and the permissions
    const attrs = (0o100000 | (file.mode & 0o777)) * 0x1_00_00
    entries[entryPath] = [file.bytes, { level: 9, mtime: ENTRY_TIME, os: UNIX, attrs }]
  }
  return { manifest, name, archive: zipSync(entries) }
}

/** `edgewise bundle`: writes a bundle. */
export async function bundle({ commandArguments, options }: LocalInvocation): Promise<number> {
  const [path, ...others] = commandArguments
  requireNoArguments(others)
  if (path === undefined) {
    throw new UsageError('Specify a module, such as "dist/main.js", or the folder of a package')
  }
  const { manifest, name, archive } = await createBundle(path, options)
  if (options.dryRun) {
    printJson(manifest)
    return 0
  }
  const tools = Array.isArray(manifest['tools']) ? manifest['tools'] : []
  const output = options.output ?? `${name}.mcpb`
  const temporaryFile = `${output}.new`
  await mkdir(dirname(output), { recursive: true })
  await writeFile(temporaryFile, archive)
  await rename(temporaryFile, output)
  const size = `${Math.ceil(archive.byteLength / 1024)} KiB`
  print(
    `Created ${oneLine(output)} (${size}): ${name} ${String(manifest['version'])}, ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`,
  )
  printNotice('To install it, open the file with Claude Desktop')
  return 0
}

/** Starts a server from a folder that contains only the bundled files, and returns what the server reports. */
async function startBundled(contents: BundleContents, options: Options): Promise<ServerReport> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-bundle-'))
  try {
    for (const [name, file] of contents.files) await write(join(folder, name), file)
    const target = { command: process.execPath, args: [join(folder, contents.entryPoint)] }
    await using client = await open({ target, options }).catch((error: unknown) => {
      if (!(error instanceof ConnectError)) throw error
      throw new ConnectError(
        `${error.message}. The bundle must contain all packages: build the server into one file, or specify the folder of its package after "npm install --omit=dev"`,
      )
    })
    const tools: ServerReport['tools'][number][] = []
    if (client.serverCapabilities?.tools) {
      for await (const { name, description } of client.tools()) tools.push({ name, description })
    }
    return {
      info: client.serverInfo,
      tools,
      hasPrompts: client.serverCapabilities?.prompts !== undefined,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function write(path: string, { bytes, mode }: BundledFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, bytes, { mode })
}

/** Returns the name of the bundle's file: the given name, or the name of the package or the server. */
function nameOf(
  { packageJson, authoredManifest }: BundleContents,
  { info }: ServerReport,
  { name }: Options,
): string {
  if (name !== undefined) return requireName(name)
  const statedName = [authoredManifest['name'], packageJson['name'], info?.name].find(
    (candidate) => typeof candidate === 'string',
  )
  return cleanName(String(statedName ?? '')) || 'server'
}
