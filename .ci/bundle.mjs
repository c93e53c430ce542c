// Bundles the package's entries into `dist`, next to their declarations, with chunks for shared code.
// Node takes time for each file and for each import of one, so the server's code, and the code that it
// shares with the client, are one chunk each, regardless of how many entries use parts of them.
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { rolldown } from 'rolldown'

const manifest = JSON.parse(await readFile('package.json', 'utf8'))
const names = [...Object.values(manifest.exports), ...Object.values(manifest.bin ?? {})]
  .filter((path) => path.endsWith('.js'))
  .map((path) => path.replace(/^(?:\.\/)?dist\/|\.js$/g, ''))

/** The files that each entry reaches, cached. */
const known = new Map()

/**
 * The files that become one chunk each, by the name of the chunk. A chunk includes what its files import,
 * unless that is in a chunk before it.
 */
const GROUPS = [
  'protocol',
  'shared-on-demand',
  'server',
  'client-patterns',
  'tiny-client',
  'client',
]

await rm('dist/chunks', { recursive: true, force: true })
const common = {
  // Everything except our own files and the bundler's helpers for older runtimes
  external: (id) => !/^[.#\0]|^@oxc-project\/runtime\//.test(id) && !isAbsolute(id),
  platform: 'neutral',
  treeshake: { moduleSideEffects: false },
  optimization: { inlineConst: { mode: 'all' } },
  transform: { target: 'es2022' },
  preserveEntrySignatures: 'strict',
}
const bundle = await rolldown({
  ...common,
  input: Object.fromEntries(names.map((name) => [name, `./${name}.ts`])),
})
await bundle.write({
  dir: 'dist',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
  sourcemap: true,
  sourcemapExcludeSources: true,
  comments: { legal: true, annotation: true, jsdoc: false },
  minify: { compress: true, mangle: false, codegen: false },
  codeSplitting: {
    groups: GROUPS.map((name, index) => ({
      name: (file, context) => (group(file, context) === name ? name : null),
      debugName: name,
      priority: GROUPS.length - index,
      minShareCount: 2,
    })),
  },
})

/**
 * The group of a file: server code is separate from code that clients need too, including for sign-in.
 * Any entry may need a pattern, and must not get a part of the server with it. What clients load on demand
 * is separate from what they always load. The rest is in few chunks, because bundlers of applications put
 * chunks that the same entries use into one file, and several small files are larger than one.
 */
function group(file, context) {
  const isReached = (entry) => reached(`src/${entry}.ts`, context).has(file)
  const isInClient = isReached('presets/client')
  const isInServer = isReached('presets/server')
  const isInBoth = isInServer && (isInClient || isReached('authorization/index'))
  const isPattern = file.startsWith(resolve('src/patterns'))
  if (isInBoth || (isInServer && isPattern)) return 'protocol'
  if (isInServer) return isReached('connect/on-demand') ? 'shared-on-demand' : 'server'
  if (!isInClient) return null
  if (isPattern) return 'client-patterns'
  return isReached('presets/client-tiny') ? 'tiny-client' : 'client'
}

/** The files that an entry imports, directly or indirectly, but not on demand. */
function reached(entry, context) {
  if (!known.has(entry)) {
    const files = new Set([resolve(entry)])
    // The set grows during the iteration
    for (const file of files) {
      for (const id of context.getModuleInfo(file)?.importedIds ?? []) files.add(id)
    }
    known.set(entry, files)
  }
  return known.get(entry)
}

// The templates for `edgewise new`.
await rm('dist/templates', { recursive: true, force: true })
await cp('examples/templates', 'dist/templates', { recursive: true })

// The package `create-edgewise`, which contains the templates too. It has the version of this package, and
// its program imports dependencies of this package.
const source = 'runtimes/node/cli/create'
const target = 'dist/create'
await rm(target, { recursive: true, force: true })
const program = await rolldown({ ...common, input: `./${source}/main.ts` })
const { output } = await program.write({ file: `${target}/main.js`, comments: { legal: true } })
const imported = output[0].imports.filter((name) => Object.hasOwn(manifest.dependencies, name))
const { license, version, engines, repository, publishConfig, dependencies } = manifest
const own = {
  ...JSON.parse(await readFile(`${source}/package.json`, 'utf8')),
  ...{ license, version, engines, repository, publishConfig },
  dependencies: Object.fromEntries(imported.map((name) => [name, dependencies[name]])),
}
await writeFile(`${target}/package.json`, `${JSON.stringify(own, null, 2)}\n`)
await cp('LICENSE', `${target}/LICENSE`)
await cp(`${source}/README.md`, `${target}/README.md`)
await cp('examples/templates', `${target}/templates`, { recursive: true })
