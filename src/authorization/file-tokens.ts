/**
 * Tokens in files: one for each, readable only by their owner, shared by processes that take turns.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#token-theft
 */
import { encodeBase64Url } from '../protocol/base64url.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isObject } from '../protocol/validate.ts'
import { takeTurns, type TokenStore } from './store.ts'

/** What that needs of a file system. */
export interface Files {
  /** The text of a file; nothing when there is none. */
  read(path: string): Promise<string | undefined>
  /**
   * Creates a file that only its owner may use, with the folders that it needs.
   *
   * @returns Whether it was created: not when there is one already.
   */
  create(path: string, text: string): Promise<boolean>
  /** Moves a file over another, if there is one. */
  rename(from: string, to: string): Promise<void>
  /** Deletes a file; does not mind when there is none. */
  remove(path: string): Promise<void>
  /** When a file was changed, in milliseconds since 1970; nothing when there is none. */
  changedAt(path: string): Promise<number | undefined>
  /** Makes a file as if it had just been changed. */
  touch(path: string): Promise<void>
}

/** How often a lock shows that its owner is alive, in milliseconds. */
const ALIVE_MS = 2_000
/** How long an owner may be silent before its lock is taken from it, in milliseconds. */
const DEAD_MS = 15_000
/** How often to look whether a lock is gone, in milliseconds. */
const LOOK_MS = 50

/** Keeps tokens in the files of a folder. */
export function fileTokensOn(files: Files, folder: string): TokenStore {
  const takeTurn = takeTurns()
  const path = async (key: string): Promise<string> => `${folder}/${await digest(key)}`
  return {
    async get(key) {
      return parse(await files.read(`${await path(key)}.json`))
    },
    async set(key, value) {
      const target = `${await path(key)}.json`
      const fresh = `${target}.${crypto.randomUUID()}`
      await files.create(fresh, JSON.stringify(value))
      await files.rename(fresh, target)
    },
    async delete(key) {
      await files.remove(`${await path(key)}.json`)
    },
    exclusively: (key, work) =>
      takeTurn(key, async () => {
        const lock = `${await path(key)}.lock`
        await acquire(files, lock)
        const alive = setInterval(() => void files.touch(lock).catch(() => {}), ALIVE_MS)
        try {
          return await work()
        } finally {
          clearInterval(alive)
          await files.remove(lock)
        }
      }),
  }
}

async function acquire(files: Files, lock: string): Promise<void> {
  while (!(await files.create(lock, ''))) {
    const changedAt = await files.changedAt(lock)
    if (changedAt !== undefined && Date.now() - changedAt > DEAD_MS) await files.remove(lock)
    else await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** What a file holds; a broken one counts as none. */
function parse(text: string | undefined): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A name that fits every file system. */
async function digest(key: string): Promise<string> {
  const bytes = new TextEncoder().encode(key)
  return encodeBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}
