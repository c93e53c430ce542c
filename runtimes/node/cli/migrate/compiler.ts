/**
 * Loads the TypeScript compiler, which parses the files to migrate. The compiler must be installed in the project, or
 * next to Edgewise. It is not a dependency of Edgewise, because only this command needs it.
 *
 * @see https://github.com/microsoft/TypeScript/wiki/Using-the-Compiler-API
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type ts from 'typescript'
import { MigrationError } from './migration-error.ts'

/** The API of the compiler. */
export type Compiler = typeof ts

/** The command that migrates with a compiler of its own. TypeScript 7 has no API for JavaScript programs. */
const MIGRATE_COMMAND = 'npx --package edgewise --package typescript@6 edgewise migrate'

/**
 * Loads the compiler of a project. If the project has none, loads the compiler that is installed next to Edgewise.
 *
 * @throws {MigrationError} If neither compiler is installed, or neither has the API.
 */
export function loadCompiler(folder: string): Compiler {
  for (const from of [join(folder, 'package.json'), import.meta.url]) {
    const compiler = load(from)
    if (isCompiler(compiler)) return compiler
  }
  throw new MigrationError(
    `Migrating requires TypeScript 5 or 6, which neither the project nor Edgewise has: run "${MIGRATE_COMMAND}"`,
  )
}

/** Parses a source file. Each node of the result has its `parent`. */
export function parseSource(compiler: Compiler, path: string, text: string): ts.SourceFile {
  const setParentNodes = true
  return compiler.createSourceFile(path, text, compiler.ScriptTarget.ES2022, setParentNodes)
}

function load(from: string): unknown {
  try {
    return createRequire(from)('typescript')
  } catch {
    return undefined
  }
}

function isCompiler(loaded: unknown): loaded is Compiler {
  const { createProgram, version = '' } = (loaded ?? {}) as Partial<Compiler>
  return typeof createProgram === 'function' && Number.parseInt(version, 10) >= 5
}
