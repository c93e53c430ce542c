/**
 * Runs modules of this machine as programs.
 */
import { existsSync } from 'node:fs'
import { UsageError } from '../usage.ts'

/**
 * The program that runs a module; `undefined` if the text does not name a module.
 *
 * @throws {UsageError} If there is no such module.
 */
export function moduleProgram(
  path: string | undefined,
): { readonly command: string; readonly args: readonly string[] } | undefined {
  const [, language] = /\.[cm]?([jt])s$/.exec(path ?? '') ?? []
  if (path === undefined || language === undefined || path.includes('://')) return undefined
  if (!existsSync(path)) throw new UsageError(`Cannot find the module "${path}"`)
  return language === 'j'
    ? { command: 'node', args: [path] }
    : { command: 'npx', args: ['-y', 'tsx', path] }
}
