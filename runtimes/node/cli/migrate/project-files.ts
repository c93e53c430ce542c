/**
 * Reads the files of a project, and creates the compiler's program for them. This program knows what the names in
 * the files refer to.
 */
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, posix, relative, sep } from 'node:path'
import type ts from 'typescript'
import type { Compiler } from './compiler.ts'
import { findSdk, sdkDeclarations, type SdkName } from './sdk-modules.ts'

/** Folders without sources. Folders whose names begin with a dot are skipped too. */
const SKIPPED: ReadonlySet<string> = new Set([
  'node_modules',
  'dist',
  'build',
  'out',
  'coverage',
  'vendor',
])

const SOURCE = /\.[cm]?[jt]sx?$/
const DECLARATION = /\.d\.[cm]?ts$/

/** The files that a migration reads, by their paths with slashes, relative to the project. */
export type ProjectFiles = ReadonlyMap<string, string>

/** Reads the sources, the manifests, and the configuration of Workers and the compiler below a folder. */
export async function readProject(folder: string): Promise<ProjectFiles> {
  const files = new Map<string, string>()
  const visit = async (path: string): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true })
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const { name } = entry
      if (entry.isDirectory()) {
        if (!SKIPPED.has(name) && !name.startsWith('.')) await visit(join(path, name))
      } else if (entry.isFile() && isNeeded(name)) {
        const key = relative(folder, join(path, name)).split(sep).join('/')
        files.set(key, await readFile(join(path, name), 'utf8'))
      }
    }
  }
  await visit(folder)
  return files
}

function isNeeded(name: string): boolean {
  return (
    isSource(name) ||
    /^(?:package\.json|tsconfig.*\.json|wrangler\.(?:toml|jsonc?)|deno\.jsonc?|bunfig\.toml)$/.test(
      name,
    )
  )
}

/** Whether a file is a source that can be migrated. */
export function isSource(path: string): boolean {
  return SOURCE.test(path) && !DECLARATION.test(path)
}

/** Whether a source is a test. */
export function isTest(path: string): boolean {
  return /(?:^|\/)(?:__tests__|tests?|spec)\/|\.(?:test|spec)\.[cm]?[jt]sx?$/.test(path)
}

/** The compiler's program with all source files of a project. */
export interface Sources {
  readonly checker: ts.TypeChecker
  /** The source files, by their paths. */
  readonly files: ReadonlyMap<string, ts.SourceFile>
  /** The SDK that contains a declaration; `undefined` for all other declarations. */
  sdkOf(declaration: ts.Declaration): SdkName | undefined
}

/** The folder of the project within the compiler's program. */
const ROOT = '/project/'

/** The parsed libraries of the compiler, which all programs share. */
const libraryFiles = new Map<string, ts.SourceFile>()

/** Creates the program of a project. Reads no files except the compiler's own libraries. */
export function createSources(compiler: Compiler, project: ProjectFiles): Sources {
  const texts = new Map<string, string>()
  for (const [path, text] of project) if (isSource(path)) texts.set(ROOT + path, text)
  const rootNames = [...texts.keys()]
  for (const [sdk, text] of Object.entries(sdkDeclarations)) texts.set(declarationsOf(sdk), text)
  const { ScriptTarget, ModuleKind, ModuleResolutionKind, JsxEmit } = compiler
  const options: ts.CompilerOptions = {
    allowJs: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    target: ScriptTarget.ES2022,
    module: ModuleKind.ESNext,
    moduleResolution: ModuleResolutionKind.Bundler,
    jsx: JsxEmit.Preserve,
    lib: ['lib.es2022.d.ts'],
    types: [],
  }
  const libraries = dirname(compiler.getDefaultLibFilePath(options))
  const readText = (name: string): string | undefined =>
    texts.get(name) ?? compiler.sys.readFile(join(libraries, basename(name)))
  const host: ts.CompilerHost = {
    fileExists: (name) => texts.has(name),
    readFile: readText,
    getSourceFile: (name, languageVersion) => {
      const parsed = libraryFiles.get(name)
      if (parsed) return parsed
      const text = readText(name)
      if (text === undefined) return undefined
      const setParentNodes = true
      const file = compiler.createSourceFile(name, text, languageVersion, setParentNodes)
      if (!texts.has(name)) libraryFiles.set(name, file)
      return file
    },
    getDefaultLibFileName: () => `/lib/lib.es2022.d.ts`,
    getDefaultLibLocation: () => '/lib',
    writeFile: () => {},
    getCurrentDirectory: () => '/',
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
    resolveModuleNameLiterals: (literals, importing) =>
      literals.map(({ text }) => ({ resolvedModule: resolveModule(text, importing, texts) })),
  }
  const program = compiler.createProgram({ rootNames, options, host })
  const files = new Map<string, ts.SourceFile>()
  for (const name of rootNames) {
    const file = program.getSourceFile(name)
    if (file) files.set(name.slice(ROOT.length), file)
  }
  return {
    checker: program.getTypeChecker(),
    files,
    sdkOf(declaration) {
      const { fileName } = declaration.getSourceFile()
      return (['v1', 'v2', 'agents'] as const).find((sdk) => fileName === declarationsOf(sdk))
    },
  }
}

/** The path of an SDK's declarations within the compiler's program. */
function declarationsOf(sdk: string): string {
  return `/sdk/${sdk}.d.ts`
}

/** Finds the module that a specifier names: a source file of the project, or the declarations of an SDK. */
export function resolveModule(
  specifier: string,
  importing: string,
  texts: ReadonlyMap<string, string>,
): ts.ResolvedModuleFull | undefined {
  const sdkModule = findSdk(specifier)
  if (sdkModule) return { resolvedFileName: declarationsOf(sdkModule.sdk), extension: '.d.ts' }
  if (!specifier.startsWith('.')) return undefined
  const path = posix.join(posix.dirname(importing), specifier)
  const bare = path.replace(/\.([cm]?)jsx?$/, '')
  const candidates = [
    path,
    ...['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs'].flatMap((extension) => [
      `${bare}.${extension}`,
      `${path}.${extension}`,
      `${path}/index.${extension}`,
    ]),
  ]
  const resolvedFileName = candidates.find((name) => texts.has(name))
  if (resolvedFileName === undefined) return undefined
  return { resolvedFileName, extension: posix.extname(resolvedFileName) }
}
