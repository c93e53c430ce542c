// Where the Deno and the Bun from npm are. Their npm commands are wrappers that swallow signals.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

/** The path of the Deno executable. */
export function deno(): string {
  return executable('deno', ['deno', 'deno.exe'])
}

/** The path of the Bun executable. */
export function bun(): string {
  return executable('bun', ['bin/bun', 'bin/bun.exe'])
}

// The file is in the package itself once its install script has run, else in the package of the
// platform, which is one of its optional dependencies.
function executable(name: string, files: string[]): string {
  const manifest = require.resolve(`${name}/package.json`)
  const { optionalDependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    optionalDependencies: Record<string, string>
  }
  const folders = [dirname(manifest)]
  for (const platform of Object.keys(optionalDependencies)) {
    try {
      folders.push(dirname(createRequire(manifest).resolve(`${platform}/package.json`)))
    } catch {
      // Not the package of this platform.
    }
  }
  const found = folders
    .flatMap((folder) => files.map((file) => join(folder, file)))
    .find(existsSync)
  if (found === undefined) throw new Error(`No executable of "${name}" is installed`)
  return found
}
