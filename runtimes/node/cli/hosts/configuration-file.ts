/**
 * Reads and replaces the configuration file of a host, which other programs and people also change.
 */
import { lstat, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Thrown if a configuration cannot be read or changed. In this case, nothing was changed. */
export class ConfigurationError extends Error {}

/** The size of the largest file that is read, in bytes. Claude Code also stores its history in the file. */
const MAX_BYTES = 64 * 1024 * 1024

/** A configuration file as it was read. */
export interface ConfigurationFile {
  /** The path that the host uses. */
  readonly path: string
  /** The path of the file itself, if `path` is a symbolic link. */
  readonly realPath: string
  /** The text without a byte order mark; empty if there is no file. */
  readonly text: string
  /** The bytes of the file; `undefined` if there is no file. */
  readonly bytes: Buffer | undefined
  /** The permissions of the file; `undefined` if there is no file. */
  readonly mode: number | undefined
}

/** A byte order mark, with which some editors begin a file. */
const BOM = '\uFEFF'

/**
 * Reads a file, which may be missing.
 *
 * @throws {ConfigurationError} If the file cannot be read, or is read-only and can therefore not be replaced.
 */
export async function readConfiguration(path: string): Promise<ConfigurationFile> {
  try {
    const fileOrLink = await lstat(path).catch(ignoreMissing)
    if (!fileOrLink) return { path, realPath: path, text: '', bytes: undefined, mode: undefined }
    const realPath = await realpath(path).catch(ignoreMissing)
    if (realPath === undefined) {
      throw new ConfigurationError(
        `"${path}" is a link to a missing file: create it, or remove the link`,
      )
    }
    const { mode, size, isFile } = await statOf(realPath)
    if (!isFile) throw new ConfigurationError(`"${path}" is not a file`)
    const isReadOnly = (mode & 0o200) === 0
    if (isReadOnly) {
      throw new ConfigurationError(`"${path}" is read-only: make it writable, and try again`)
    }
    if (size > MAX_BYTES) throw new ConfigurationError(`"${path}" is larger than 64 MiB`)
    const bytes = await readFile(realPath)
    return { path, realPath, text: decode(path, bytes), bytes, mode: mode & 0o777 }
  } catch (error) {
    throw failure(`Cannot read "${path}"`, error)
  }
}

/** How a file is replaced. */
export interface ReplaceOptions {
  /** The permissions of a new file. */
  readonly mode: number
}

/**
 * Replaces a file by renaming a new file to it, so that no reader sees an incomplete file. The previous file remains in
 * the same folder, as a backup. The new file also serves as a lock, because only one process can create it.
 *
 * @returns The path of the backup; `undefined` if there was no file.
 * @throws {ConfigurationError} If the file has changed since it was read, or cannot be written.
 */
export async function replaceConfiguration(
  file: ConfigurationFile,
  text: string,
  { mode: newMode }: ReplaceOptions,
): Promise<string | undefined> {
  const { path, realPath, bytes, mode = newMode } = file
  const bom = bytes?.subarray(0, 3).equals(Buffer.from(BOM)) ? BOM : ''
  const newPath = `${realPath}.edgewise-new`
  try {
    await mkdir(dirname(realPath), { recursive: true })
    await create(newPath, bom + text, mode)
  } catch (error) {
    const isLocked = (error as { code?: string }).code === 'EEXIST'
    if (!isLocked) throw failure(`Cannot write "${path}"`, error)
    throw new ConfigurationError(
      `Another program has changed "${path}" meanwhile: nothing was changed, try again. If "${newPath}" remains, remove it`,
    )
  }
  try {
    await requireUnchanged(file)
    if (bytes) await backUp(realPath, bytes, mode)
    // Checked again, because another program may have changed the file during the backup
    await requireUnchanged(file)
    await rename(newPath, realPath)
  } catch (error) {
    await rm(newPath, { force: true })
    throw failure(`Cannot write "${path}"`, error)
  }
  return bytes && backupOf(realPath)
}

function backupOf(path: string): string {
  return `${path}.edgewise-backup`
}

/** Creates a backup. An earlier backup is replaced by renaming, so that it remains if creating the new one fails. */
async function backUp(path: string, bytes: Buffer, mode: number): Promise<void> {
  const copy = `${backupOf(path)}.new`
  await rm(copy, { force: true })
  try {
    await create(copy, bytes, mode)
    await rename(copy, backupOf(path))
  } finally {
    await rm(copy, { force: true })
  }
}

/** Checks that a file has not changed since it was read. */
async function requireUnchanged({ path, realPath, bytes }: ConfigurationFile): Promise<void> {
  const current = await readFile(realPath).catch(ignoreMissing)
  const isSame = bytes && current ? bytes.equals(current) : bytes === current
  if (isSame) return
  throw new ConfigurationError(
    `Another program has changed "${path}" meanwhile: nothing was changed, try again`,
  )
}

/** Creates a file, and waits until its contents are on the disk. */
async function create(path: string, data: string | Buffer, mode: number): Promise<void> {
  const handle = await open(path, 'wx', mode)
  try {
    await handle.writeFile(data)
    await handle.sync()
    // The umask of the process may have removed permissions when the file was created
    await handle.chmod(mode)
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

async function statOf(path: string): Promise<{ mode: number; size: number; isFile: boolean }> {
  const stats = await stat(path)
  return { mode: stats.mode, size: stats.size, isFile: stats.isFile() }
}

function decode(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ConfigurationError(
      `"${path}" is not encoded in UTF-8: save it in UTF-8, and try again`,
    )
  }
}

/** The error of an attempt that failed. */
function failure(attempt: string, error: unknown): Error {
  if (error instanceof ConfigurationError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new ConfigurationError(`${attempt}: ${reason}`, { cause: error })
}

function ignoreMissing(error: unknown): undefined {
  if ((error as { code?: string }).code !== 'ENOENT') throw error
}
