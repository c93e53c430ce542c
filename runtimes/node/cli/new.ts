/**
 * `edgewise new`: creates a project from a template.
 */
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { print } from './print.ts'
import { UsageError } from './usage.ts'

const templatesFolder = new URL('../../../templates/', import.meta.url)

/** The names in the templates that are replaced by the project's own. */
const placeholder = /\bmy-(server|client)\b/g

/** The files that the folder of a new project may already contain, such as a repository. */
const allowedNames: ReadonlySet<string> = new Set(['.git', '.DS_Store'])

/** The maximum length of a Worker's name, in characters. Names of packages may be longer. */
const MAX_NAME_LENGTH = 63

/**
 * Copies a template into a folder that is missing, or empty except for `.git`.
 *
 * @throws {UsageError} If there is no such template, or the folder is not empty.
 */
export async function createProject([
  template,
  target,
  ...others
]: readonly string[]): Promise<number> {
  const templates = (await readdir(templatesFolder)).toSorted()
  if (template === undefined || !templates.includes(template) || others.length > 0) {
    throw new UsageError(`Specify a template (${templates.join(', ')}) and a folder`)
  }
  if (target === undefined || target === '')
    throw new UsageError('Specify a folder for the project')
  const path = resolve(target)
  await mkdir(path, { recursive: true })
  if ((await readdir(path)).some((name) => !allowedNames.has(name))) {
    throw new UsageError(`The folder "${target}" is not empty`)
  }
  const source = fileURLToPath(new URL(template, templatesFolder))
  await cp(source, path, { recursive: true })
  const files = await readdir(source, { recursive: true })
  // npm omits files named ".gitignore" from packages
  if (files.includes('gitignore')) await rename(join(path, 'gitignore'), join(path, '.gitignore'))
  const name = await nameOf(path)
  const textFiles = files.filter((file) => /\.(json|toml|md|ts|html)$/.test(file))
  for (const file of textFiles) {
    const text = await readFile(join(path, file), 'utf8')
    await writeFile(join(path, file), text.replaceAll(placeholder, name))
  }
  print(`Created ${target}; see its README.md for the next steps`)
  return 0
}

/** The name of a project's folder, converted to a valid name for a package and a Worker. */
async function nameOf(path: string): Promise<string> {
  const name = basename(path)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX_NAME_LENGTH)
    .replace(/-+$/, '')
  // npm does not install a package into a package of the same name
  const manifest = await readFile(join(path, 'package.json'), 'utf8').catch(() => '{}')
  const { dependencies, devDependencies } = JSON.parse(manifest) as Record<string, object>
  if (Object.hasOwn({ ...dependencies, ...devDependencies }, name)) return `my-${name}`
  return name === '' ? 'my-project' : name
}
