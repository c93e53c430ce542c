/**
 * Builds the page into the package's `dist`, from where the Worker's assets and `edgewise inspect`
 * are served.
 *
 * @see https://rolldown.rs/reference/
 */
import { cp, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build, type CodeSplittingNameFunction } from 'rolldown'

const page = fileURLToPath(new URL('page/', import.meta.url))
const target = fileURLToPath(new URL('../../dist/playground/', import.meta.url))

/** Creates the group of the modules that an entry imports statically, directly or indirectly. */
function startGroup(entry: string): CodeSplittingNameFunction {
  const files = new Set<string>()
  return (file, context) => {
    if (files.size === 0) {
      files.add(entry)
      // The set grows during the iteration
      for (const each of files) {
        for (const id of context.getModuleInfo(each)?.importedIds ?? []) files.add(id)
      }
    }
    return files.has(file) ? 'start' : null
  }
}

for (const entry of ['main', 'callback']) {
  await build({
    input: `${page}${entry}.ts`,
    platform: 'browser',
    transform: { target: 'es2023' },
    // Reading properties and creating objects has no side effects in this code, so the bundler may omit it
    treeshake: {
      propertyReadSideEffects: false,
      manualPureFunctions: ['AbortController', 'TextDecoder', 'TextEncoder'],
    },
    output: {
      dir: target,
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      format: 'esm',
      minify: true,
      comments: { annotation: false },
      sourcemap: true,
      // One file for everything that is loaded at once is smaller than many
      codeSplitting: { groups: [{ name: startGroup(`${page}${entry}.ts`), debugName: 'start' }] },
    },
  })
}
for (const file of ['index.html', 'callback.html', 'icon.svg', '_headers']) {
  await cp(page + file, target + file)
}

/** The styles of all modules, in the order in which they override each other. */
const styles = [
  'base',
  'controls',
  'layout/layout',
  'layout/tabs',
  'connection/connection',
  'navigation',
  'views/views',
  'form/form',
  'run',
  'history/history',
  'copy-as/copy-as',
  'check/check',
  'events/events',
  'timeline/timeline',
  'dialog',
  'saved/saved',
  'settings/settings',
  'sign-in/sign-in',
]
const texts = await Promise.all(styles.map((name) => readFile(`${page}${name}.css`, 'utf8')))
await writeFile(`${target}styles.css`, texts.join('\n'))
