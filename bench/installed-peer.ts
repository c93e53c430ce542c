/** Peers whose packages are apart from the package's own dependencies. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { source } from './build.ts'

/** Installs the packages of a folder of this one, unless they are installed. Returns its path. */
export function installPeer(folder: string): string {
  const cwd = source(folder)
  if (!existsSync(`${cwd}/node_modules`)) {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--silent'], { cwd, stdio: 'inherit' })
  }
  return cwd
}
