/**
 * Finds the configuration file of a host on a machine.
 */
import { posix, win32 } from 'node:path'
import { UsageError } from '../usage.ts'
import type { McpHostName } from './host-names.ts'
import { hostOf, type Machine, type Scope } from './host.ts'

/**
 * Returns the path of the file that configures a host.
 *
 * @throws {UsageError} If the host cannot be configured for a single project.
 */
export function configurationPath(name: McpHostName, scope: Scope, machine: Machine): string {
  const { title, userFile, projectFile } = hostOf(name)
  const { join } = machine.platform === 'win32' ? win32 : posix
  if (scope === 'user') return join(...userFile(machine))
  if (!projectFile) {
    throw new UsageError(`${title} cannot be configured for a project: omit "--scope project"`)
  }
  return join(machine.cwd, ...projectFile)
}
