/**
 * Accesses the files of {@link file://./file-tokens.ts} through Node's file system.
 *
 * @see https://nodejs.org/api/fs.html
 */
import { mkdir, readFile, readlink, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import process from 'node:process'
import type { Files } from '#internal/authorization'

/** Reads and writes files that only their owner can access, and checks processes of this machine. */
export const files: Files = {
  read: (path) => readFile(path, 'utf8').catch(ignoreCode('ENOENT')),
  async create(path, text) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const ignoreExisting = ignoreCode('EEXIST')
    try {
      await writeFile(path, text, { flag: 'wx', mode: 0o600 })
      return true
    } catch (error) {
      ignoreExisting(error)
      return false
    }
  },
  rename,
  remove: (path) => rm(path, { force: true }),
  changedAt: async (path) => (await stat(path).catch(ignoreCode('ENOENT')))?.mtimeMs,
  touch: (path) => utimes(path, new Date(), new Date()),
  async processId() {
    const namespace = await (ownNamespace ??= findNamespace())
    return namespace && `${namespace}/${process.pid}`
  },
  async hasEnded(processId) {
    const [, namespace, pid] = /^(.+)\/(\d+)$/.exec(processId) ?? []
    if (namespace === undefined) return false
    if (namespace !== (await (ownNamespace ??= findNamespace()))) return false
    try {
      // Signal 0 only checks whether the process exists
      process.kill(Number(pid), 0)
      return false
    } catch (error) {
      return (error as { code?: string }).code === 'ESRCH'
    }
  },
}

let ownNamespace: Promise<string | undefined> | undefined

/** The namespace in which a process id is unique; `undefined` if unknown. */
async function findNamespace(): Promise<string | undefined> {
  // On Deno, the following calls would prompt the user for permissions
  if ('Deno' in globalThis) return undefined
  const host = hostname().replace(/\s/g, '-')
  if (process.platform !== 'linux') return host
  // Containers may share a host name and a folder, but not their processes
  try {
    const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    const pidNamespace = await readlink('/proc/self/ns/pid')
    return `${host}/${bootId.trim()}/${pidNamespace}`
  } catch {
    return undefined
  }
}

/** Creates a handler that returns `undefined` for errors with this code, and throws all others. */
function ignoreCode(code: string): (error: unknown) => undefined {
  return (error) => {
    if ((error as { code?: string }).code !== code) throw error
  }
}
