/**
 * `edgewise new`: creates a project from a template.
 */
import { print } from './print.ts'
import { createProject, resolveNewFolder, requireTemplate } from './project.ts'
import { requireNoArguments } from './usage.ts'

const templatesFolder = new URL('../../../templates/', import.meta.url)

/**
 * `edgewise new`: creates a project in a folder that is missing, or empty except for `.git`.
 *
 * @throws {UsageError} If there is no such template, or the folder is not empty.
 */
export async function newProject([word, target, ...others]: readonly string[]): Promise<number> {
  const template = requireTemplate(word)
  requireNoArguments(others)
  await createProject(template, await resolveNewFolder(target, process.cwd()), templatesFolder)
  print(`Created ${target}; see its README.md for the next steps`)
  return 0
}
