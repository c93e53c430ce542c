/**
 * Tokens in files: one for each, readable only by their owner, shared by processes that take turns.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#token-theft
 */
import { sleep } from '../patterns/abort.ts'
import { digestText } from '../patterns/digest.ts'
import { keyedMutex } from '../patterns/keyed-mutex.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isObject } from '../protocol/validate.ts'
import type { TokenStore } from './store.ts'

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
  /** What other processes can know this one by, without spaces; nothing where they cannot. */
  self?(): Promise<string | undefined>
  /** Whether the process that is known by that has ended for certain. */
  hasEnded?(process: string): Promise<boolean>
}

/** How often a lock shows that its owner is alive, in milliseconds. */
const ALIVE_MS = 2_000
/** How long an owner that is not known to have ended may be silent, in milliseconds. */
const DEAD_MS = 15_000
/** How often to look whether a lock is gone, in milliseconds. */
const LOOK_MS = 50

/** Keeps tokens in the files of a folder. */
export function fileTokensOn(files: Files, folder: string): TokenStore {
  const withLock = keyedMutex()
  // The digest is a name that fits every file system
  const path = async (key: string): Promise<string> => `${folder}/${await digestText(key)}`
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
    withLock: (key, work) =>
      withLock(key, async () => {
        const lock = `${await path(key)}.lock`
        const owner = [crypto.randomUUID(), await files.self?.()].join(' ')
        await acquire(files, lock, owner)
        const alive = setInterval(() => void files.touch(lock).catch(() => {}), ALIVE_MS)
        try {
          return await work()
        } finally {
          clearInterval(alive)
          // Somebody may have taken it for dead while the machine slept
          if ((await files.read(lock)) === owner) await files.remove(lock)
        }
      }),
  }
}

async function acquire(files: Files, lock: string, owner: string): Promise<void> {
  while (!(await files.create(lock, owner))) {
    const broken = (await isDead(files, lock)) && (await breakLock(files, lock, owner))
    if (!broken) await sleep(LOOK_MS)
  }
}

/**
 * Removes a lock whose owner is dead. Under a lock of its own, as of several who saw it dead the
 * last would remove what the first has made meanwhile.
 *
 * @returns Whether it is worth trying again at once.
 */
async function breakLock(files: Files, lock: string, owner: string): Promise<boolean> {
  const turn = `${lock}.turn`
  if (!(await files.create(turn, owner))) {
    if (await isDead(files, turn)) await files.remove(turn)
    return false
  }
  try {
    if (await isDead(files, lock)) await files.remove(lock)
    return true
  } finally {
    await files.remove(turn)
  }
}

async function isDead(files: Files, lock: string): Promise<boolean> {
  const changedAt = await files.changedAt(lock)
  if (changedAt === undefined) return false
  if (Date.now() - changedAt > DEAD_MS) return true
  const [, process] = (await files.read(lock))?.split(' ') ?? []
  return process ? ((await files.hasEnded?.(process)) ?? false) : false
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
