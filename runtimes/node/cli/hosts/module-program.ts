/**
 * Creates the programs that run modules of this machine.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UsageError } from '../usage.ts'

/**
 * Returns the program that runs a module. Returns `undefined` if `path` is not the path of a module.
 *
 * @param isForThisMachine Whether only this machine runs the program, so that the command may contain
 *   absolute paths.
 * @throws {UsageError} If there is no such module.
 */
export function moduleProgram(
  path: string | undefined,
  isForThisMachine: boolean,
): { readonly command: string; readonly args: readonly string[] } | undefined {
  const [, language] = /\.[cm]?([jt])s$/.exec(path ?? '') ?? []
  if (path === undefined || language === undefined || path.includes('://')) return undefined
  if (!existsSync(path)) throw new UsageError(`Cannot find the module "${path}"`)
  if (language === 'j') return { command: 'node', args: [path] }
  const loader = isForThisMachine ? installedLoader(path) : undefined
  if (loader === undefined) return { command: 'npx', args: ['-y', 'tsx', path] }
  return { command: 'node', args: [`--import=${loader}`, path] }
}

/**
 * Returns the URL of `tsx` among the packages that a module can import. It is faster to load `tsx` from there than to
 * start `npx`, and needs no registry.
 */
function installedLoader(path: string): string | undefined {
  try {
    return pathToFileURL(createRequire(resolve(path)).resolve('tsx')).href
  } catch {
    return undefined
  }
}
