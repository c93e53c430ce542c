/**
 * Tokens in files of this machine. Deno and Bun run this too, by what they have of Node.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#token-theft
 */
import type { TokenStore } from '../../src/authorization/index.ts'

/**
 * Keeps tokens in the files of a folder, which is made when it is missing; only its owner may use
 * them. Processes that share the folder renew each token once. One that was ended meanwhile does not
 * hold up the others, but for 15 seconds where they cannot know that: on another machine, or when one
 * of them is Deno's. Give the result to the way of signing in as `tokens`. Deno has to allow reading
 * and writing the folder.
 */
export function fileTokenStore(folder: string): TokenStore {
  let opened: Promise<TokenStore> | undefined
  // Here, so that programs that sign nobody in do not load it.
  const load = async (): Promise<TokenStore> => {
    const { files } = await import('./token-files.ts')
    const { fileTokensOn } = await import('#internal/authorization')
    return fileTokensOn(files, folder)
  }
  const open = (): Promise<TokenStore> => (opened ??= load())
  return {
    get: async (key) => (await open()).get(key),
    set: async (key, value) => (await open()).set(key, value),
    delete: async (key) => (await open()).delete(key),
    withLock: async (key, work) => (await open()).withLock(key, work),
  }
}
