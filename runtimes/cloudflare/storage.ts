/**
 * Storage for handlers, in the object that serves the session. It imports nothing specific to
 * Workers, so that servers that use it can also be loaded on other runtimes, for example in tests.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
import { SdkError } from '../../src/index.ts'
import type { Context } from '../../src/presets/server.ts'
import { boundStorage } from './storage-binding.ts'

/**
 * Values by key, which are stored until the session ends. With `sessionKey`, all sessions with the same key share
 * the values, which then also remain after the sessions end.
 */
export interface ObjectStorage {
  /** Returns the value of a key; `undefined` if there is none. */
  get(key: string): Promise<unknown>
  /** Stores a value, which must be structured-cloneable and at most 2 MB. */
  put(key: string, value: unknown): Promise<void>
  /** Deletes a key. Returns whether it existed. */
  delete(key: string): Promise<boolean>
  /** Lists all values whose keys have a prefix, ordered by key. */
  list(prefix?: string): Promise<Map<string, unknown>>
}

/** The prefix of the application's keys, which separates them from the keys of this package. */
const PREFIX = 'app/'

/**
 * Returns the storage of the session that a handler runs in.
 *
 * @example
 * ```ts
 * import { objectStorage } from 'edgewise/cloudflare/storage'
 * import { createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'counter', version: '1.0.0' })
 * server.tool('count', {}, async (_args, ctx) => {
 *   const storage = objectStorage(ctx)
 *   const count = Number((await storage.get('count')) ?? 0) + 1
 *   await storage.put('count', count)
 *   return `Called ${count} times`
 * })
 * ```
 *
 * @throws {SdkError} `UNSUPPORTED` if the request belongs to no session, for example a request of 2026-07-28.
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
export function objectStorage({ request, method }: Context): ObjectStorage {
  const storage = request && boundStorage(request)
  if (!storage) {
    throw new SdkError(
      'UNSUPPORTED',
      `"objectStorage" requires a session, and "${method}" has none`,
    )
  }
  return {
    get: (key) => storage.get(PREFIX + key),
    put: (key, value) => storage.put(PREFIX + key, value),
    delete: (key) => storage.delete(PREFIX + key),
    async list(prefix = '') {
      const entries = await storage.list({ prefix: PREFIX + prefix })
      return new Map([...entries].map(([key, value]) => [key.slice(PREFIX.length), value]))
    },
  }
}
