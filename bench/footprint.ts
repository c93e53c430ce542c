/** How much an SDK installs, and how much of it a server bundles. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { builtinModules } from 'node:module'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** What `npm install` adds to a project. */
export interface Installed {
  readonly packages: number
  readonly bytes: number
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** The schema library, which the author of a server chooses. */
const SCHEMAS = 'zod'
/** Other schema libraries, which FastMCP imports if a server uses them. */
const OPTIONAL = ['effect', 'sury', '@valibot/to-json-schema']

/**
 * Measures packages with everything that they require, without zod.
 *
 * @param folder The folder from which they are imported.
 */
export function measureInstalled(names: readonly string[], folder: string): Installed {
  const folders = new Set<string>()
  const visit = (name: string, from: string): void => {
    const found = findPackage(name, from)
    if (name === SCHEMAS || !found || folders.has(found)) return
    folders.add(found)
    const manifest = JSON.parse(readFileSync(join(found, 'package.json'), 'utf8')) as Manifest
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta: meta = {} } = manifest
    const peers = Object.keys(peerDependencies).filter((each) => !meta[each]?.optional)
    for (const each of [...Object.keys(dependencies), ...peers]) visit(each, found)
  }
  for (const name of names) visit(name, folder)
  const bytes = [...folders].reduce((sum, each) => sum + sizeOf(each), 0)
  return { packages: folders.size, bytes }
}

function findPackage(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name)
    if (existsSync(join(path, 'package.json'))) return path
    if (folder === dirname(folder)) return undefined
  }
}

/** The size of the files of a package, without packages inside it. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.name === 'node_modules') return sum
    if (entry.isDirectory()) return sum + sizeOf(path)
    return sum + (entry.isFile() ? statSync(path).size : 0)
  }, 0)
}

/** The size of a bundle of code, minified and gzipped, without zod and the modules of the runtime. */
export async function measureBundle(code: string, folder: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: folder },
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    external: [SCHEMAS, `${SCHEMAS}/*`, ...OPTIONAL, 'node:*', 'cloudflare:*', ...builtinModules],
    logLevel: 'error',
    outfile: 'bundle.js',
  })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).byteLength
}
