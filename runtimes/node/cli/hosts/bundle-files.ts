/**
 * Collects the files of a server for a bundle.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { JsonObject } from '../../../../src/index.ts'
import { UsageError } from '../usage.ts'
import { isObject } from './json-text.ts'

/** A file of a bundle. */
export interface BundledFile {
  readonly bytes: Uint8Array
  /** The permissions of the file. */
  readonly mode: number
}

/** The files of a bundle, and what its manifest is created from. */
export interface BundleContents {
  /** The files, by their paths in the bundle. */
  readonly files: ReadonlyMap<string, BundledFile>
  /** The path of the module that is started. */
  readonly entryPoint: string
  /** The `package.json` of the package that contains the module; empty if there is none. */
  readonly packageJson: JsonObject
  /** The `manifest.json` that the author of the server has written; empty if there is none. */
  readonly authoredManifest: JsonObject
}

/**
 * The names of files and folders that are never bundled: those of version control and operating systems, logs,
 * other bundles, and files that often contain secrets.
 */
const EXCLUDED =
  /^(?:\.git|\.svn|\.DS_Store|Thumbs\.db|\.env(?:\..*)?|\.npmrc|.*\.(?:mcpb|log|pem|key))$/
/** The names in `node_modules` that are never bundled, because only package managers read them. */
const EXCLUDED_MODULES = /^(?:\.bin|\.cache|\.package-lock\.json)$/

/**
 * Collects a module, or a folder with a `package.json`.
 *
 * @throws {UsageError} If there is no such module or folder, or it cannot be bundled.
 */
export async function collectFiles(path: string): Promise<BundleContents> {
  const stats = await stat(path).catch(() => undefined)
  if (!stats) throw new UsageError(`Cannot find "${path}"`)
  return stats.isDirectory() ? collectFolder(path) : collectModule(path)
}

/** Collects one JavaScript module. The packages that it uses must have been built into it. */
async function collectModule(path: string): Promise<BundleContents> {
  if (/\.[cm]?tsx?$/.test(path)) {
    throw new UsageError(`"${path}" is TypeScript: build it into one JavaScript file first`)
  }
  if (!/\.[cm]?js$/.test(path)) {
    throw new UsageError(`"${path}" is not a JavaScript module: bundle it with "mcpb pack"`)
  }
  const entryPoint = `server/${basename(path)}`
  const packageJson = await nearestPackageJson(dirname(path))
  const { mode } = await stat(path)
  const files = new Map([[entryPoint, { bytes: await readFile(path), mode }]])
  // Without this file, Node would take the module for CommonJS
  if (packageJson['type'] === 'module') {
    const bytes = Buffer.from('{ "type": "module" }\n')
    files.set('server/package.json', { bytes, mode: 0o644 })
  }
  return { files, entryPoint, packageJson, authoredManifest: {} }
}

/** Collects the files of a package, with the packages that it depends on. */
async function collectFolder(folder: string): Promise<BundleContents> {
  const packageJson = await readJson(join(folder, 'package.json'))
  if (!packageJson) throw new UsageError(`The folder "${folder}" has no "package.json"`)
  const authoredManifest = (await readJson(join(folder, 'manifest.json'))) ?? {}
  const { bin, main } = packageJson
  // If the package has programs, the first of them is the server
  const program = isObject(bin) ? Object.values(bin)[0] : bin
  const entry = program ?? main
  if (typeof entry !== 'string') {
    throw new UsageError(
      `"package.json" of "${folder}" must have "bin" or "main": the file to start`,
    )
  }
  const files = new Map<string, BundledFile>()
  await addFolder(folder, folder, files)
  files.delete('manifest.json')
  const { dependencies, devDependencies } = packageJson
  // A program that declares no dependencies was built together with its packages, so it needs no `node_modules`
  if (!isObject(dependencies) || Object.keys(dependencies).length === 0) {
    for (const name of files.keys()) if (name.startsWith('node_modules/')) files.delete(name)
  }
  const devPackage = Object.keys(isObject(devDependencies) ? devDependencies : {}).find((name) =>
    files.has(`node_modules/${name}/package.json`),
  )
  if (devPackage !== undefined) {
    throw new UsageError(
      `"${folder}" contains packages for development, such as "${devPackage}": run "npm install --omit=dev" in it first`,
    )
  }
  const entryPoint = entry.replace(/^\.\//, '')
  if (!files.has(entryPoint)) throw new UsageError(`"${folder}" does not contain "${entryPoint}"`)
  return { files, entryPoint, packageJson, authoredManifest }
}

/** Adds the files below a folder, by their paths below the root. */
async function addFolder(
  root: string,
  folder: string,
  files: Map<string, BundledFile>,
): Promise<void> {
  const excluded = basename(folder) === 'node_modules' ? EXCLUDED_MODULES : EXCLUDED
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (excluded.test(entry.name) || EXCLUDED.test(entry.name)) continue
    if (entry.isDirectory()) {
      await addFolder(root, path, files)
      continue
    }
    if (!entry.isFile()) {
      throw new UsageError(
        `"${path}" is a link, which a bundle cannot contain: install packages with "npm install --omit=dev"`,
      )
    }
    const { mode } = await stat(path)
    const name = relative(root, path).replaceAll(sep, '/')
    files.set(name, { bytes: await readFile(path), mode })
  }
}

/** Reads the `package.json` of the package that contains a folder. Returns an empty object if there is none. */
async function nearestPackageJson(folder: string): Promise<JsonObject> {
  for (let current = resolve(folder); ; current = dirname(current)) {
    const packageJson = await readJson(join(current, 'package.json'))
    if (packageJson) return packageJson
    if (current === dirname(current)) return {}
  }
}

/** Reads a file that contains a JSON object. Returns `undefined` if the file cannot be read. */
async function readJson(path: string): Promise<JsonObject | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
    throw new SyntaxError('it must be an object')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`"${path}" is not valid JSON: ${reason}`)
  }
}
