/**
 * Token storage in files: one file per token, readable only by its owner, with locks between
 * processes.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#token-theft
 */
import { sleep } from '../patterns/abort.ts'
import { digestText } from '../patterns/digest.ts'
import { keyedMutex } from '../patterns/keyed-mutex.ts'
import { parseObject } from '../protocol/validate.ts'
import type { TokenStore } from './store.ts'

/** The required file system operations. */
export interface Files {
  /** Reads the text of a file; `undefined` if it does not exist. */
  read(path: string): Promise<string | undefined>
  /**
   * Creates a file that only its owner can access, and its parent folders.
   *
   * @returns Whether it was created; false if the file already exists.
   */
  create(path: string, text: string): Promise<boolean>
  /** Moves a file, replacing the target if it exists. */
  rename(from: string, to: string): Promise<void>
  /** Deletes a file; does nothing if it does not exist. */
  remove(path: string): Promise<void>
  /**
   * When a file was last modified, in milliseconds since 1970; `undefined` if it does not exist.
   */
  changedAt(path: string): Promise<number | undefined>
  /** Sets the modification time of a file to now. */
  touch(path: string): Promise<void>
  /**
   * Returns a text without spaces by which other processes can recognize this process; `undefined` if there is none.
   */
  processId?(): Promise<string | undefined>
  /** Whether the process with this identifier has definitely ended. */
  hasEnded?(processId: string): Promise<boolean>
}

/** How often the owner of a lock renews it, in milliseconds. */
const RENEWAL_INTERVAL_MS = 2_000
/** How long a lock stays valid without renewal if its owner may still be alive, in milliseconds. */
const EXPIRY_MS = 15_000
/** How often to check whether a lock is released, in milliseconds. */
const POLL_INTERVAL_MS = 50

/** Stores tokens in the files of a folder. */
export function createFileTokenStore(files: Files, folder: string): TokenStore {
  const withMutex = keyedMutex()
  // A digest is a valid file name on every file system
  const pathOf = async (key: string): Promise<string> => `${folder}/${await digestText(key)}`
  return {
    async get(key) {
      // A corrupt file counts as missing
      return parseObject(await files.read(`${await pathOf(key)}.json`))
    },
    async set(key, value) {
      const target = `${await pathOf(key)}.json`
      const temporary = `${target}.${crypto.randomUUID()}`
      await files.create(temporary, JSON.stringify(value))
      await files.rename(temporary, target)
    },
    async delete(key) {
      await files.remove(`${await pathOf(key)}.json`)
    },
    withLock: (key, work) =>
      withMutex(key, async () => {
        const lock = `${await pathOf(key)}.lock`
        const owner = [crypto.randomUUID(), await files.processId?.()].join(' ')
        await acquireLock(files, lock, owner)
        const renewal = setInterval(
          () => void files.touch(lock).catch(() => {}),
          RENEWAL_INTERVAL_MS,
        )
        try {
          return await work()
        } finally {
          clearInterval(renewal)
          // While this machine was suspended, another process may have removed the lock as expired
          if ((await files.read(lock)) === owner) await files.remove(lock)
        }
      }),
  }
}

async function acquireLock(files: Files, lock: string, owner: string): Promise<void> {
  while (!(await files.create(lock, owner))) {
    const mayBeFree = (await isAbandoned(files, lock)) && (await breakLock(files, lock, owner))
    if (!mayBeFree) await sleep(POLL_INTERVAL_MS)
  }
}

/**
 * Removes an abandoned lock, while holding a second lock. Without the second lock, two processes could notice at the
 * same time that the lock is abandoned, and the slower process could remove the new lock of the faster one.
 *
 * @returns Whether the caller should try to acquire the lock immediately.
 */
async function breakLock(files: Files, lock: string, owner: string): Promise<boolean> {
  const secondLock = `${lock}.turn`
  if (!(await files.create(secondLock, owner))) {
    if (await isAbandoned(files, secondLock)) await files.remove(secondLock)
    return false
  }
  try {
    if (await isAbandoned(files, lock)) await files.remove(lock)
    return true
  } finally {
    await files.remove(secondLock)
  }
}

/** Whether a lock has expired, or the process that owns it has ended. */
async function isAbandoned(files: Files, lock: string): Promise<boolean> {
  const changedAt = await files.changedAt(lock)
  if (changedAt === undefined) return false
  if (Date.now() - changedAt > EXPIRY_MS) return true
  const [, processId] = (await files.read(lock))?.split(' ') ?? []
  return processId ? ((await files.hasEnded?.(processId)) ?? false) : false
}
