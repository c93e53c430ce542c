/**
 * Migrates the texts of a project's files. Reads and writes no files itself.
 */
import type ts from 'typescript'
import { unwrapAgent, type UnwrappedAgent } from './agent-class.ts'
import type { Compiler } from './compiler.ts'
import { FileMigration } from './file-migration.ts'
import { formatMark, MARK } from './guide.ts'
import { completeImports } from './imports.ts'
import { migrateManifest } from './manifest.ts'
import { createSources, isSource, type ProjectFiles } from './project-files.ts'
import { sdkPackages } from './sdk-modules.ts'
import { migrateAgentMembers } from './transforms/agent-members.ts'
import { migrateContexts } from './transforms/context.ts'
import {
  migrateProtocolErrors,
  migrateReaderErrors,
  migrateToolErrors,
} from './transforms/errors.ts'
import { migrateParameters } from './transforms/handlers.ts'
import { migrateHttpRoutes } from './transforms/http-routes.ts'
import { migrateServerMembers } from './transforms/server-members.ts'
import { migrateServers } from './transforms/servers.ts'
import { migrateStdio } from './transforms/stdio.ts'
import { migrateWebHandlers } from './transforms/web-handlers.ts'
import { migrateWrangler } from './wrangler.ts'

/** A mark is a `TODO` comment for the author of the project, about something that the migration could not do. */
export interface Mark {
  readonly path: string
  /** The line in the migrated file, from 1. */
  readonly line: number
  readonly text: string
}

/** What a migration changes. */
export interface Migration {
  /** The new texts of the files that change, by their paths. */
  readonly changed: ReadonlyMap<string, string>
  readonly marks: readonly Mark[]
  /** Notes for the author that do not belong to a line of a source file. */
  readonly notes: readonly string[]
}

/** This is a note instead of marks, because any call may throw. */
const ERROR_NOTE =
  'The messages of errors that the project does not create itself, such as those of the file system, no longer reach the model'

/**
 * The steps in the order in which they run. Routes come first, because they contain transports. Parameters come last,
 * because only then is it known which handlers need a context.
 */
const transforms: readonly ((file: FileMigration) => void)[] = [
  migrateHttpRoutes,
  migrateServers,
  migrateStdio,
  migrateWebHandlers,
  migrateServerMembers,
  migrateAgentMembers,
  migrateContexts,
  migrateParameters,
]

/**
 * Migrates a project.
 *
 * @param version The version of Edgewise that the project should depend on.
 */
export function migrateProject(
  compiler: Compiler,
  project: ProjectFiles,
  version: string,
): Migration {
  const { texts, classNames, agents, unsupported } = unwrapAgents(compiler, project)
  const sources = createSources(compiler, texts)
  const runtime = runtimeOf(project)
  const peers = new Map<ts.SourceFile, FileMigration>()
  for (const [path, source] of sources.files) {
    if (unsupported.has(path)) continue
    const agent = agents.get(path)
    peers.set(source, new FileMigration(compiler, sources, path, source, runtime, peers, agent))
  }
  const files = [...peers.values()]
  for (const transform of transforms) files.forEach(transform)
  files.forEach(migrateToolErrors)
  files.forEach(migrateReaderErrors)
  files.forEach(migrateProtocolErrors)

  const changed = new Map<string, string>()
  const added = new Set<string>()
  const notes: string[] = []
  if (files.some(({ handlers }) => handlers.size > 0)) notes.push(ERROR_NOTE)
  for (const file of files) {
    file.insertMarks()
    const text = applyEdits(file)
    if (text === undefined) {
      notes.push(`${file.path}: Unchanged, because two of its changes overlap: migrate it by hand`)
      continue
    }
    const completed = completeImports(compiler, file, text)
    for (const module of file.imports.keys()) added.add(module)
    if (completed !== project.get(file.path)) changed.set(file.path, completed)
  }
  for (const path of unsupported) {
    const message = 'This file is unchanged: turn the class into a server and a Worker'
    changed.set(path, `// ${formatMark(message, 'mcpAgent')}\n${project.get(path) ?? ''}`)
  }
  const imported = new Set(
    [...project].flatMap(([path, text]) => packagesIn(changed.get(path) ?? text)),
  )
  const manifests = [...project.keys()].filter((path) => /(?:^|\/)package\.json$/.test(path))
  const isRequired = added.size > 0 && manifests.length === 1
  for (const [path, text] of project) {
    if (/(?:^|\/)wrangler\.(?:toml|jsonc?)$/.test(path)) {
      const migrated = migrateWrangler(path, text, classNames)
      if (migrated !== undefined) changed.set(path, migrated)
    } else if (manifests.includes(path)) {
      const migrated = migrateManifest(text, { imported, added, version, isRequired })
      if (!migrated) continue
      changed.set(path, migrated.text)
      notes.push(...migrated.notes.map((note) => `${path}: ${note}`))
    } else if (/(?:^|\/)deno\.jsonc?$/.test(path) && text.includes('@modelcontextprotocol/')) {
      notes.push(`${path}: Add "edgewise": "npm:edgewise@^${version}" to "imports"`)
    }
  }
  return { changed, marks: findMarks(changed), notes }
}

/** The changed text; `undefined` if two transforms changed the same code in different ways. */
function applyEdits(file: FileMigration): string | undefined {
  try {
    return file.edits.apply(file.source.text)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

interface UnwrappedAgents {
  /** The texts of all files. */
  readonly texts: Map<string, string>
  readonly classNames: string[]
  /** The classes that were turned into modules, by the paths of the modules. */
  readonly agents: Map<string, UnwrappedAgent>
  /** The paths of the files whose classes must be migrated by hand. */
  readonly unsupported: Set<string>
}

function unwrapAgents(compiler: Compiler, project: ProjectFiles): UnwrappedAgents {
  const texts = new Map(project)
  const classNames: string[] = []
  const agents = new Map<string, UnwrappedAgent>()
  const unsupported = new Set<string>()
  for (const [path, text] of project) {
    if (!isSource(path) || !text.includes('McpAgent')) continue
    const unwrapped = unwrapAgent(compiler, texts, path, texts.get(path) ?? text)
    if (unwrapped === 'unsupported') unsupported.add(path)
    else if (unwrapped) {
      for (const [changed, newText] of unwrapped.texts) texts.set(changed, newText)
      classNames.push(unwrapped.className)
      agents.set(path, unwrapped)
    }
  }
  return { texts, classNames, agents, unsupported }
}

/**
 * The packages of the SDKs that a source file imports, or that a configuration of the compiler
 * extends.
 */
function packagesIn(text: string): string[] {
  return sdkPackages.filter((name) =>
    new RegExp(
      String.raw`(?:\bfrom|\bimport|\brequire|"extends")[\s(:[]*["'](?:npm:/?)?${name}["'/@]`,
    ).test(text),
  )
}

/** Finds out the runtime of a project, from whose entry point the serving functions are imported. */
function runtimeOf(project: ProjectFiles): string {
  const names = [...project.keys()]
  if (names.some((name) => /^deno\.jsonc?$/.test(name))) return 'deno'
  return names.includes('bunfig.toml') ? 'bun' : 'node'
}

function findMarks(changed: ReadonlyMap<string, string>): Mark[] {
  return [...changed].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const start = line.indexOf(MARK)
      return start === -1 ? [] : [{ path, line: index + 1, text: line.slice(start + MARK.length) }]
    }),
  )
}
