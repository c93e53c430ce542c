/**
 * Builds the page into the package's `dist`, from where the Worker's assets and `edgewise inspect`
 * are served.
 *
 * @see https://rolldown.rs/reference/
 */
import { createHash } from 'node:crypto'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import {
  build,
  type BuildOptions,
  type CodeSplittingNameFunction,
  type OutputOptions,
} from 'rolldown'

const page = fileURLToPath(new URL('page/', import.meta.url))
const target = fileURLToPath(new URL('../../dist/playground/', import.meta.url))

const app = `${page}app.ts`

/** The files that the application imports statically, directly or indirectly. */
const files = new Set<string>()

/** Puts everything that is loaded at once into one file, which is smaller than many. */
const nameApp: CodeSplittingNameFunction = (file, context) => {
  if (files.size === 0) {
    files.add(app)
    // The set grows during the iteration
    for (const each of files) {
      for (const id of context.getModuleInfo(each)?.importedIds ?? []) files.add(id)
    }
  }
  return files.has(file) ? 'app' : null
}

/** The options of all scripts. */
const common: BuildOptions = {
  platform: 'browser',
  transform: { target: 'es2023' },
  // Reading properties and creating objects has no side effects in this code, so the bundler may omit it
  treeshake: {
    propertyReadSideEffects: false,
    manualPureFunctions: ['AbortController', 'TextDecoder', 'TextEncoder', 'matchMedia'],
  },
}
const output: OutputOptions = { minify: true, comments: { annotation: false } }

// The names of files contain hashes, so files of earlier builds would remain
await rm(target, { recursive: true, force: true })
/**
 * Builds an entry point, and returns the name of its file. Parts that are loaded on demand have names with hashes, so
 * that a page that is open while a newer version is deployed never loads a part of another version.
 */
async function buildEntry(entry: string, entryFileNames: string): Promise<string> {
  const { output: files } = await build({
    ...common,
    input: entry,
    output: {
      ...output,
      dir: target,
      entryFileNames,
      chunkFileNames: '[name]-[hash].js',
      format: 'esm',
      sourcemap: true,
      codeSplitting: { groups: entry === app ? [{ name: nameApp, debugName: 'app' }] : [] },
    },
  })
  return files[0].fileName
}
await buildEntry(`${page}callback.ts`, '[name].js')
const appFile = await buildEntry(app, '[name]-[hash].js')
const main = await build({
  ...common,
  input: `${page}main.ts`,
  external: [app],
  write: false,
  transform: { ...common.transform, define: { APP_FILE: JSON.stringify(appFile) } },
  output: { ...output, format: 'iife', paths: { [app]: `./${appFile}` } },
})

/** The styles of the first view, in the order in which they override each other. */
const firstStyles = ['base', 'controls', 'layout/layout', 'connection/connection']
/** The styles that are loaded after the first paint, in the order in which they override each other. */
const styles = [
  'form/controls',
  'connection/address',
  'layout/tabs',
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
  'touch',
]

/** Bundles style sheets into a file, and returns its text. */
async function bundleStyles(names: readonly string[], file: string): Promise<string> {
  const texts = await Promise.all(names.map((name) => readFile(`${page}${name}.css`, 'utf8')))
  const { code } = await transform(texts.join('\n'), { loader: 'css', minify: true })
  await writeFile(target + file, code)
  return code.trim()
}
await bundleStyles(styles, 'styles.css')
for (const file of ['callback.html', 'icon.svg']) await cp(page + file, target + file)

// The first paint waits for no other file: what it needs is in the page. The policy allows the script and the styles by
// their hashes
const script = main.output[0].code.trim()
const style = await bundleStyles(firstStyles, 'first-view.css')
const icon = (await readFile(`${page}icon.svg`, 'utf8')).trim()
const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const html = await readFile(`${page}index.html`, 'utf8')
await writeFile(
  `${target}index.html`,
  html
    // The white space between elements has no meaning in this page, but takes time to parse
    .replace(/(?<=>)\s*\n\s*(?=<)/g, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace('<script src="main.js"></script>', () => `<script>${script}</script>`)
    .replace('<link rel="stylesheet" href="first-view.css" />', () => `<style>${style}</style>`)
    .replace(/<img src="icon.svg" (.*) alt="" \/>/, (_, size: string) =>
      icon.replace('<svg', `<svg ${size} aria-hidden="true"`),
    ),
)
const headers = await readFile(`${page}_headers`, 'utf8')
await writeFile(
  `${target}_headers`,
  headers
    .replace("script-src 'self'", () => `script-src 'self' ${hashOf(script)}`)
    .replace("style-src 'self'", () => `style-src 'self' ${hashOf(style)}`),
)
