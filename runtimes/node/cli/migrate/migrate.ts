/**
 * `edgewise migrate`: converts servers of other SDKs.
 */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { LocalInvocation } from '../arguments.ts'
import { print, printNotice } from '../print.ts'
import { requireNoArguments } from '../usage.ts'
import { loadCompiler } from './compiler.ts'
import { unifiedDiff } from './diff.ts'
import { MigrationError } from './migration-error.ts'
import { migrateProject, type Migration } from './migrate-project.ts'
import { readProject, type ProjectFiles } from './project-files.ts'

/**
 * `edgewise migrate`: converts the servers of a project, and prints what remains to be done.
 *
 * @param version The version of Edgewise.
 * @throws {MigrationError} If the folder has uncommitted changes, or no server of another SDK, or if there is
 *   no compiler.
 */
export async function migrate(
  { commandArguments, options }: LocalInvocation,
  version: string,
): Promise<number> {
  const [target = '.', ...others] = commandArguments
  requireNoArguments(others)
  const folder = resolve(target)
  const compiler = loadCompiler(folder)
  const project = await readProject(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
      throw new MigrationError(`"${target}" is not a folder`)
    }
    throw error
  })
  if (!options.dryRun && !options.force) await requireCleanTree(folder, target)
  const migration = migrateProject(compiler, project, version)
  if (migration.changed.size === 0) {
    throw new MigrationError(
      `"${target}" has no server of @modelcontextprotocol/sdk, @modelcontextprotocol/server or McpAgent`,
    )
  }
  if (options.dryRun) printDiff(project, migration)
  else {
    for (const [path, text] of migration.changed) await writeFile(join(folder, path), text)
  }
  printSummary(migration, options.dryRun)
  return 0
}

/**
 * Checks that all files are committed, so that the changes can be reviewed and undone.
 *
 * @throws {MigrationError} If a file has uncommitted changes, or the folder is not in a Git repository.
 */
async function requireCleanTree(folder: string, target: string): Promise<void> {
  const status = await promisify(execFile)('git', ['status', '--porcelain', '.'], {
    cwd: folder,
  }).catch(() => undefined)
  if (!status) {
    throw new MigrationError(
      `"${target}" is not in a Git repository, so the changes could not be undone: commit it first, or pass "--force"`,
    )
  }
  if (status.stdout !== '') {
    throw new MigrationError(
      `"${target}" has changes that are not committed: commit them first, or pass "--force"`,
    )
  }
}

function printDiff(project: ProjectFiles, { changed }: Migration): void {
  for (const [path, text] of changed) print(unifiedDiff(path, project.get(path) ?? '', text))
}

/** Prints the changed files, the marks and the notes to standard error, so that they are not part of the diff. */
function printSummary({ changed, marks, notes }: Migration, isDry: boolean): void {
  const count = (number: number, noun: string): string =>
    `${number} ${noun}${number === 1 ? '' : 's'}`
  const verb = isDry ? 'Would change' : 'Changed'
  printNotice(`${verb} ${count(changed.size, 'file')}, with ${count(marks.length, 'mark')} for you`)
  for (const path of changed.keys()) printNotice(`  ${path}`)
  if (marks.length > 0) printNotice('Marks')
  for (const { path, line, text } of marks) printNotice(`  ${path}:${line}  ${text}`)
  if (notes.length > 0) printNotice('Notes')
  for (const note of notes) printNotice(`  ${note}`)
  if (!isDry) printNotice('Next: install the packages, check the types, and run your tests')
}
