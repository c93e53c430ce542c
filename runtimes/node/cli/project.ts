/**
 * Creates projects. A project is a copy of a template with its own name.
 */
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { templateNames, isTemplate, type TemplateName } from './templates.ts'
import { UsageError } from './usage.ts'

/** Matches the names in templates that are replaced with the name of the project. */
const placeholder = /\bmy-(server|client)\b/g

/** The names of files and folders that may already exist in the folder of a new project. */
const allowedNames: ReadonlySet<string> = new Set(['.git', '.DS_Store'])

/** The maximum length of a Worker's name, in characters. Names of packages may be longer. */
const MAX_NAME_LENGTH = 63

/** A new project. */
export interface Project {
  /** The absolute path of the project's folder. */
  readonly path: string
  /** The name of the project's package. */
  readonly name: string
}

/**
 * Checks the name of a template.
 *
 * @throws {UsageError} If there is no such template.
 */
export function requireTemplate(word: string | undefined): TemplateName {
  if (isTemplate(word)) return word
  const problem = word === undefined ? '' : `Unknown template: "${word}". `
  throw new UsageError(`${problem}Specify a template (${templateNames}) and a folder`)
}

/**
 * Returns the absolute path of a new project's folder. The folder may be missing or empty.
 *
 * @throws {UsageError} If no folder is given, or the folder contains anything except `.git` and `.DS_Store`.
 */
export async function resolveNewFolder(target: string | undefined, cwd: string): Promise<string> {
  if (target === undefined || target === '')
    throw new UsageError('Specify a folder for the project')
  const path = resolve(cwd, target)
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    if (error.code === 'ENOTDIR') throw new UsageError(`"${target}" is not a folder`)
    throw error
  })
  if (names.some((name) => !allowedNames.has(name))) {
    throw new UsageError(`The folder "${target}" is not empty`)
  }
  return path
}

/**
 * Copies a template into an empty folder.
 *
 * @param templatesFolder The folder that contains the templates.
 */
export async function createProject(
  template: TemplateName,
  path: string,
  templatesFolder: URL,
): Promise<Project> {
  const source = fileURLToPath(new URL(template, templatesFolder))
  await mkdir(path, { recursive: true })
  await cp(source, path, { recursive: true, force: false, errorOnExist: true })
  const files = await readdir(source, { recursive: true })
  // npm omits files named ".gitignore" from packages, so the file of a template is named "gitignore"
  if (files.includes('gitignore')) await rename(join(path, 'gitignore'), join(path, '.gitignore'))
  const name = await nameOf(path)
  const textFiles = files.filter((file) => /\.(json|toml|md|ts|html)$/.test(file))
  for (const file of textFiles) {
    const text = await readFile(join(path, file), 'utf8')
    await writeFile(join(path, file), text.replaceAll(placeholder, name))
  }
  return { path, name }
}

/** The name of a project's folder, converted to a valid name for a package and a Worker. */
async function nameOf(path: string): Promise<string> {
  const name = basename(path)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, MAX_NAME_LENGTH)
    .replace(/-+$/, '')
  // npm does not install a dependency into a package of the same name, so such a name gets a prefix
  const manifest = await readFile(join(path, 'package.json'), 'utf8').catch(() => '{}')
  const { dependencies, devDependencies } = JSON.parse(manifest) as Record<string, object>
  if (Object.hasOwn({ ...dependencies, ...devDependencies }, name)) return `my-${name}`
  return name === '' ? 'my-project' : name
}
