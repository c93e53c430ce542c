/**
 * Migrates the calls `Class.serve(…)`, which serve a subclass of `McpAgent`, in all source files of the project. They
 * are replaced with the Worker that `createWorker` returns.
 */
import type ts from 'typescript'
import { parseSource, type Compiler } from './compiler.ts'
import { Edits } from './edits.ts'
import { isSource, resolveModule, type ProjectFiles } from './project-files.ts'

/** The name of the constant that contains the Worker. */
export const WORKER = 'worker'

/** The calls in a source file that serve a class. */
export interface ServeCalls {
  /** The options of `createWorker`, as members of an object literal. */
  readonly options: ReadonlySet<string>
  /** The first statement of the source file with such a call; `undefined` if there is none. */
  readonly statement: ts.Statement | undefined
  /** The number of calls. */
  readonly count: number
}

/** Replaces the calls that serve a class with the name of the Worker. Returns what the calls contained. */
export function replaceServe(
  compiler: Compiler,
  source: ts.SourceFile,
  edits: Edits,
  className: string,
): ServeCalls {
  const options = new Set<string>()
  let statement: ts.Statement | undefined
  let count = 0
  const visit = (node: ts.Node): void => {
    const callee = compiler.isCallExpression(node) ? node.expression : undefined
    const isServe =
      callee &&
      compiler.isPropertyAccessExpression(callee) &&
      compiler.isIdentifier(callee.expression) &&
      callee.expression.text === className &&
      /^(?:serve|serveSSE|mount)$/.test(callee.name.text)
    if (!isServe || !compiler.isCallExpression(node)) {
      compiler.forEachChild(node, visit)
      return
    }
    const [path] = node.arguments
    const option = callee.name.text === 'serve' ? 'path' : 'ssePath'
    const text = path?.getText(source) ?? ''
    // The default path need not be an option
    if (path && !(option === 'path' && /^["']\/mcp["']$/.test(text))) {
      options.add(`${option}: ${text}`)
    }
    edits.replace(node.getStart(source), node.end, WORKER)
    statement ??= compiler.findAncestor(node, (each) => each.parent === source) as ts.Statement
    count++
  }
  visit(source)
  return { options, statement, count }
}

/** The other source files that serve a class. */
export interface ServingSources {
  /** The new texts of the source files, by their paths. */
  readonly texts: ReadonlyMap<string, string>
  /** The options of `createWorker` that the calls in these source files require. */
  readonly options: ReadonlySet<string>
}

/**
 * Migrates the source files that import a class and serve it. They then import the Worker instead. They also
 * export the Durable Objects of the Worker, because one of these files is the entry point.
 *
 * @param path The path of the source file with the class.
 */
export function migrateServing(
  compiler: Compiler,
  project: ProjectFiles,
  path: string,
  className: string,
): ServingSources {
  const texts = new Map<string, string>()
  const options = new Set<string>()
  for (const [other, text] of project) {
    if (other === path || !isSource(other) || !text.includes(className)) continue
    const source = parseSource(compiler, other, text)
    for (const statement of source.statements) {
      if (!compiler.isImportDeclaration(statement)) continue
      const { moduleSpecifier: from } = statement
      if (!compiler.isStringLiteral(from)) continue
      if (resolveModule(from.text, other, project)?.resolvedFileName !== path) continue
      const specifier = namedImport(compiler, statement, className)
      if (!specifier) continue
      const edits = new Edits()
      const calls = replaceServe(compiler, source, edits, specifier.name.text)
      if (!calls.statement) continue
      for (const option of calls.options) options.add(option)
      const isUsedOtherwise = countUses(compiler, source, specifier.name.text) > calls.count
      if (isUsedOtherwise) edits.insert(specifier.end, `, ${WORKER}`)
      else edits.replace(specifier.getStart(source), specifier.end, WORKER)
      const semicolon = statement.getText(source).endsWith(';') ? ';' : ''
      const exported = `export { McpSession, McpHub } from ${from.getText(source)}${semicolon}`
      edits.insert(statement.end, `\n${exported}`)
      texts.set(other, edits.apply(text))
    }
  }
  return { texts, options }
}

/** Finds the part of an import that imports a name. */
function namedImport(
  compiler: Compiler,
  { importClause: clause }: ts.ImportDeclaration,
  name: string,
): ts.ImportSpecifier | undefined {
  const bindings = clause?.namedBindings
  if (!bindings || !compiler.isNamedImports(bindings)) return undefined
  return bindings.elements.find((each) => (each.propertyName ?? each.name).text === name)
}

/** How often a source file uses a name, not counting its import. */
function countUses(compiler: Compiler, source: ts.SourceFile, name: string): number {
  let count = 0
  const visit = (node: ts.Node): void => {
    if (compiler.isImportDeclaration(node)) return
    if (compiler.isIdentifier(node) && node.text === name) count++
    compiler.forEachChild(node, visit)
  }
  visit(source)
  return count
}
