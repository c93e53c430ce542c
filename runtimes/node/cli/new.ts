/**
 * `edgewise new`: a project to start from.
 */
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { print } from './print.ts'
import { UsageError } from './usage.ts'

const folder = new URL('../../../templates/', import.meta.url)

/** The names in the templates that become the project's own. */
const placeholder = /\bmy-(server|client)\b/g

/**
 * Copies a template into a folder that is empty or not there yet.
 *
 * @throws {UsageError} when there is no such template, or the folder holds something.
 */
export async function createProject([
  template,
  target,
  ...others
]: readonly string[]): Promise<number> {
  const known = (await readdir(folder)).toSorted()
  if (template === undefined || !known.includes(template) || others.length > 0) {
    throw new UsageError(`Choose one of ${known.join(', ')}, and a folder`)
  }
  if (target === undefined) throw new UsageError('Name a folder for the project')
  const path = resolve(target)
  await mkdir(path, { recursive: true })
  if ((await readdir(path)).length > 0) throw new UsageError(`The folder "${target}" is not empty`)
  await cp(fileURLToPath(new URL(template, folder)), path, { recursive: true })
  const files = await readdir(path, { recursive: true })
  // npm leaves files of that name out of packages.
  if (files.includes('gitignore')) await rename(join(path, 'gitignore'), join(path, '.gitignore'))
  const name = nameOf(path)
  for (const file of files.filter((each) => /\.(json|toml|md|ts|html)$/.test(each))) {
    const text = await readFile(join(path, file), 'utf8')
    await writeFile(join(path, file), text.replaceAll(placeholder, name))
  }
  print(`Made ${target}; its README.md says how to go on`)
  return 0
}

/** The name of a folder as a package may be named. */
function nameOf(path: string): string {
  const name = basename(path)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return name === '' ? 'my-project' : name
}
