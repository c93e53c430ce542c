/**
 * Builds the page into the package's `dist`, from where the Worker's assets and `edgewise inspect`
 * are served.
 *
 * @see https://rolldown.rs/reference/
 */
import { cp, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { build, type CodeSplittingNameFunction } from 'rolldown'

const page = fileURLToPath(new URL('page/', import.meta.url))
const target = fileURLToPath(new URL('../../dist/playground/', import.meta.url))

/**
 * Creates the group of the modules that an entry imports statically, directly or indirectly. One file for everything
 * that is loaded at once is smaller than many.
 */
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
    return files.has(file) ? 'app' : null
  }
}

const app = `${page}app.ts`

for (const entry of ['main', 'app', 'callback']) {
  await build({
    input: `${page}${entry}.ts`,
    // `main.js` is small, so that the first paint does not wait for the application
    external: entry === 'main' ? [app] : [],
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
      paths: { [app]: './app.js' },
      codeSplitting: {
        groups: entry === 'app' ? [{ name: startGroup(app), debugName: 'app' }] : [],
      },
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
const { code } = await transform(texts.join('\n'), { loader: 'css', minify: true })
await writeFile(`${target}styles.css`, code)
