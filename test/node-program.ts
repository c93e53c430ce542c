// TypeScript programs of the tests for Node, each compiled to one file: that starts several times faster
// than a program which compiles itself.
import { readFileSync, renameSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildSync } from 'esbuild'
import { root } from './root.ts'

const commands = new Map<string, readonly string[]>()

/**
 * Returns the words of the command that runs a program.
 *
 * @param file Absolute, or relative to the package's folder.
 */
export function nodeCommand(file: string, ...args: readonly string[]): [string, ...string[]] {
  const source = resolve(root, file)
  const words = commands.get(source) ?? compile(source)
  commands.set(source, words)
  return [process.execPath, ...words, ...args]
}

function compile(source: string): readonly string[] {
  // Inside the package's folder, so that packages are found
  const compiled = join(root, '.cache/programs', `${relative(root, source)}.mjs`)
  // Other test files may be starting it: it is written apart and put in its place at once
  const outfile = `${compiled}.${process.pid}`
  const build = (define: Record<string, string> = {}) =>
    buildSync({
      absWorkingDir: root,
      entryPoints: [source],
      outfile,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'node20',
      keepNames: true,
      logLevel: 'error',
      metafile: true,
      define,
    })
  const inputs = Object.keys(build().metafile.inputs).map((file) => join(root, file))
  // What sources of one folder find relative to themselves, they find relative to any of them
  const finding = inputs.filter((file) => readFileSync(file, 'utf8').includes('import.meta.url'))
  const [place] = finding
  if (place !== undefined && new Set(finding.map(dirname)).size === 1) {
    build({ 'import.meta.url': JSON.stringify(pathToFileURL(place).href) })
  }
  renameSync(outfile, compiled)
  // What is found in another way is not there relative to the compiled file, and a module that is chosen
  // at run time would come with all others
  const text = readFileSync(compiled, 'utf8')
  const isMovable = !/import\.meta(?!\.resolve\("\w)|argv\[1\]|__glob\(/.test(text)
  return isMovable ? [compiled] : ['--import', 'tsx', source]
}
