// Builds what tests run as an application would: the package's entries and the playground.
import { execFileSync } from 'node:child_process'
import { root } from './root.ts'

/** Called by vitest, once before all tests. */
export function setup(): void {
  execFileSync('npm', ['run', 'bundle', '--silent'], { cwd: root, stdio: 'inherit' })
}
