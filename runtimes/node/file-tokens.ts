/**
 * Token storage in local files. Deno and Bun also run this module, through their Node compatibility.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#token-theft
 */
import type { TokenStore } from '../../src/authorization/index.ts'

/**
 * Stores tokens in the files of a folder. If the folder is missing, it is created, and only its owner can access
 * it. Pass the result as `tokens` to a function that signs in. Deno needs permission to read and
 * write the folder.
 *
 * Processes that share the folder refresh each token once. If a process ends while it holds a lock, a
 * waiting process continues immediately. If the two processes run on different machines, or one of them runs
 * on Deno, the waiting process cannot detect the end, and continues after 15 seconds.
 *
 * @example
 * ```ts
 * import { signIn } from 'edgewise/authorization'
 * import { fileTokenStore, loopback } from 'edgewise/node'
 *
 * const auth = signIn({
 *   client: { name: 'My program' },
 *   interaction: loopback(),
 *   tokens: fileTokenStore('/home/alice/.local/state/my-program'),
 * })
 * ```
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#token-theft
 */
export function fileTokenStore(folder: string): TokenStore {
  let opened: Promise<TokenStore> | undefined
  // Loaded on demand, so that programs without sign-in do not load it
  const load = async (): Promise<TokenStore> => {
    const { files } = await import('./token-files.ts')
    const { createFileTokenStore } = await import('#internal/authorization')
    return createFileTokenStore(files, folder)
  }
  const open = (): Promise<TokenStore> => (opened ??= load())
  return {
    get: async (key) => (await open()).get(key),
    set: async (key, value) => (await open()).set(key, value),
    delete: async (key) => (await open()).delete(key),
    withLock: async (key, work) => (await open()).withLock(key, work),
  }
}
