/**
 * Storage for handlers: that of the object that serves the session. Loads nothing that only Workers
 * have, so that servers which use it can be tested anywhere.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
import { McpError } from '../../src/index.ts'
import type { Context } from '../../src/presets/server.ts'
import { boundStorage } from './storage-binding.ts'

/** Values by key, kept until the session ends; with `sessionKey`, for all sessions of the key. */
export interface ObjectStorage {
  /** The value of a key, if there is one. */
  get(key: string): Promise<unknown>
  /** Keeps a value, which must be structured-cloneable and take 2 MB at most. */
  put(key: string, value: unknown): Promise<void>
  /** Forgets a key; whether it was there. */
  delete(key: string): Promise<boolean>
  /** All values whose keys begin with some text, in the order of their keys. */
  list(prefix?: string): Promise<Map<string, unknown>>
}

/** What belongs to the application, so that it never meets what this package keeps. */
const PREFIX = 'app/'

/**
 * The storage of the session that a handler runs in.
 *
 * @throws {McpError} `UNSUPPORTED` when the request belongs to no session, as since 2026-07-28.
 */
export function objectStorage({ request, method }: Context): ObjectStorage {
  const storage = request && boundStorage(request)
  if (!storage) {
    throw new McpError('UNSUPPORTED', `"${method}" came without a session, which storage needs`)
  }
  return {
    get: (key) => storage.get(PREFIX + key),
    put: (key, value) => storage.put(PREFIX + key, value),
    delete: (key) => storage.delete(PREFIX + key),
    async list(prefix = '') {
      const found = await storage.list({ prefix: PREFIX + prefix })
      return new Map([...found].map(([key, value]) => [key.slice(PREFIX.length), value]))
    },
  }
}
