/**
 * Migrates the texts of a project's files. Reads and writes no files itself.
 */
import type ts from 'typescript'
import { convertAgent, type ConvertedAgent } from './agent-class.ts'
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
  migratePromptAndResourceErrors,
  migrateToolErrors,
} from './transforms/errors.ts'
import { migrateParameters } from './transforms/handlers.ts'
import { migrateHttpRoutes } from './transforms/http-routes.ts'
import { migrateServerMembers } from './transforms/server-members.ts'
import { migrateServers } from './transforms/servers.ts'
import { migrateStdio } from './transforms/stdio.ts'
import { migrateWebHandlers } from './transforms/web-handlers.ts'
import { migrateWrangler } from './wrangler.ts'

/** A mark is a `TODO` comment about code that a developer must finish migrating. */
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
  /** Notes for the developer that do not belong to a line of a source file. */
  readonly notes: readonly string[]
}

/** A note about errors. It does not belong to a line, because any call may throw. */
const ERROR_NOTE =
  'The messages of errors that the project does not create itself, such as those of the file system, no longer reach the model'

/**
 * The steps in the order in which they run. Routes come first, because they contain transports. Parameters come after
 * contexts, because only then is it known which handlers need a context.
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
  migrateToolErrors,
  migratePromptAndResourceErrors,
  migrateProtocolErrors,
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
  const { texts, classNames, agents, unsupported } = convertAgents(compiler, project)
  const sources = createSources(compiler, texts)
  const runtime = runtimeOf(project)
  const migrations = new Map<ts.SourceFile, FileMigration>()
  for (const [path, source] of sources.files) {
    if (unsupported.has(path)) continue
    const agent = agents.get(path)
    migrations.set(
      source,
      new FileMigration(compiler, sources, path, source, runtime, migrations, agent),
    )
  }
  const files = [...migrations.values()]
  for (const transform of transforms) files.forEach(transform)

  const changed = new Map<string, string>()
  const addedModules = new Set<string>()
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
    for (const module of file.imports.keys()) addedModules.add(module)
    if (completed !== project.get(file.path)) changed.set(file.path, completed)
  }
  for (const path of unsupported) {
    const message = 'This file is unchanged: turn the class into a server and a Worker'
    changed.set(path, `// ${formatMark(message, 'mcpAgent')}\n${project.get(path) ?? ''}`)
  }
  const neededSdkPackages = new Set(
    [...project].flatMap(([path, text]) => packagesIn(changed.get(path) ?? text)),
  )
  const manifests = [...project.keys()].filter((path) => /(?:^|\/)package\.json$/.test(path))
  const needsEdgewise = addedModules.size > 0 && manifests.length === 1
  for (const [path, text] of project) {
    if (/(?:^|\/)wrangler\.(?:toml|jsonc?)$/.test(path)) {
      const migrated = migrateWrangler(path, text, classNames)
      if (migrated !== undefined) changed.set(path, migrated)
    } else if (manifests.includes(path)) {
      const needs = { neededSdkPackages, addedModules, version, needsEdgewise }
      const migrated = migrateManifest(text, needs)
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

interface ConvertedAgents {
  /** The texts of all files. */
  readonly texts: Map<string, string>
  /** The names of the classes that were turned into modules. */
  readonly classNames: string[]
  /** The classes that were turned into modules, by the paths of the modules. */
  readonly agents: Map<string, ConvertedAgent>
  /** The paths of the files whose classes must be migrated by hand. */
  readonly unsupported: Set<string>
}

/** Turns the subclasses of `McpAgent` into modules. */
function convertAgents(compiler: Compiler, project: ProjectFiles): ConvertedAgents {
  const texts = new Map(project)
  const classNames: string[] = []
  const agents = new Map<string, ConvertedAgent>()
  const unsupported = new Set<string>()
  for (const [path, text] of project) {
    if (!isSource(path) || !text.includes('McpAgent')) continue
    const converted = convertAgent(compiler, texts, path, texts.get(path) ?? text)
    if (converted === 'unsupported') unsupported.add(path)
    else if (converted) {
      for (const [changed, newText] of converted.texts) texts.set(changed, newText)
      classNames.push(converted.className)
      agents.set(path, converted)
    }
  }
  return { texts, classNames, agents, unsupported }
}

/**
 * The packages of the SDKs that a file refers to: those that a source file imports, or that a `tsconfig.json`
 * extends.
 */
function packagesIn(text: string): string[] {
  return sdkPackages.filter((name) =>
    new RegExp(
      String.raw`(?:\bfrom|\bimport|\brequire|"extends")[\s(:[]*["'](?:npm:/?)?${name}["'/@]`,
    ).test(text),
  )
}

/** The runtime of a project. The functions that serve a server are imported from `edgewise/<runtime>`. */
function runtimeOf(project: ProjectFiles): string {
  const names = [...project.keys()]
  if (names.some((name) => /^deno\.jsonc?$/.test(name))) return 'deno'
  return names.includes('bunfig.toml') ? 'bun' : 'node'
}

/** Finds the marks in the new texts of files. */
function findMarks(changed: ReadonlyMap<string, string>): Mark[] {
  return [...changed].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const start = line.indexOf(MARK)
      return start === -1 ? [] : [{ path, line: index + 1, text: line.slice(start + MARK.length) }]
    }),
  )
}
