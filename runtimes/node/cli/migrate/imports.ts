/**
 * Removes the imports of an SDK that are no longer used, and adds the imports of Edgewise.
 */
import type ts from 'typescript'
import { parseSource, type Compiler } from './compiler.ts'
import { Edits } from './edits.ts'
import { formatMark } from './guide.ts'
import { NOT_MIGRATED, type FileMigration } from './file-migration.ts'
import { isTest } from './project-files.ts'
import { protocolTypes } from './protocol-types.ts'
import { findSdk } from './sdk-modules.ts'

/** The declaration of the function whose calls replace code without an equivalent. */
function notMigratedText(isTyped: boolean, semicolon: string): string {
  const [parameter, result] = isTyped ? ['code: string', ': any'] : ['code', '']
  return `
// ${formatMark('Replace all calls of this function, then delete it', 'handlers')}
function ${NOT_MIGRATED}(${parameter})${result} {
  throw new Error(\`Not migrated to Edgewise: \${code}\`)${semicolon}
}
`
}

/** Completes the imports in the text of a migrated source file. */
export function completeImports(compiler: Compiler, file: FileMigration, text: string): string {
  if (text === file.source.text && !importsSdk(compiler, file.source)) return text
  const source = parseSource(compiler, file.path, text)
  const statements = source.statements.filter((each) => compiler.isImportDeclaration(each))
  const namesAfter = usedNames(compiler, source)
  const namesBefore = usedNames(compiler, file.source)
  const edits = new Edits()
  const addedImports = new Map([...file.imports].map(([module, names]) => [module, new Map(names)]))
  const addedNames = new Set([...file.imports.values()].flatMap((names) => [...names.values()]))
  let firstSdkImport: number | undefined
  for (const statement of statements) {
    const specifier = statement.moduleSpecifier
    const sdkModule = compiler.isStringLiteral(specifier) ? findSdk(specifier.text) : undefined
    const bindings = statement.importClause?.namedBindings
    if (!bindings || !compiler.isNamedImports(bindings)) continue
    const kept = bindings.elements.filter(({ name, propertyName }) => {
      // Names of other modules are removed only if the migration removed their last use
      if (!sdkModule) return namesAfter.has(name.text) || !namesBefore.has(name.text)
      if (addedNames.has(name.text) || !namesAfter.has(name.text)) return false
      // The types of the protocol are imported from Edgewise instead
      const original = (propertyName ?? name).text
      if (!protocolTypes.has(original)) return true
      addImport(addedImports, 'edgewise', `type ${original}`, name.text)
      return false
    })
    // Clients are not migrated, so the names of their modules may remain
    const isForServers =
      sdkModule &&
      compiler.isStringLiteral(specifier) &&
      !/\/client|\/inMemory/.test(specifier.text)
    if (kept.length > 0 && isForServers && !isTest(file.path)) {
      const names = kept.map(({ name }) => `"${name.text}"`).join(', ')
      edits.insert(
        statement.getStart(source),
        `// ${formatMark(`Edgewise does not have ${names}`, 'handlers')}\n`,
      )
    }
    if (kept.length === bindings.elements.length) continue
    if (sdkModule) firstSdkImport ??= statement.getStart(source)
    const defaultName = statement.importClause?.name
    if (kept.length > 0) {
      const names = kept.map((each) => each.getText(source)).join(', ')
      edits.replace(bindings.getStart(source), bindings.end, `{ ${names} }`)
    } else if (defaultName) {
      edits.replace(defaultName.end, bindings.end, '')
    } else {
      removeLine(edits, source, statement)
    }
  }
  const firstImport = statements[0]
  const hasDoubleQuotes = firstImport?.moduleSpecifier.getText(source).startsWith('"') ?? false
  const quote = hasDoubleQuotes ? '"' : "'"
  const semicolon = firstImport?.getText(source).endsWith(';') ? ';' : ''
  const lines = [...addedImports].flatMap(([module, names]) => {
    // A later step may have removed the code that needed a name
    const needed = [...names].filter(([, local]) => namesAfter.has(local))
    return importLines(module, new Map(needed), quote, semicolon)
  })
  const insertAt = firstSdkImport ?? firstImport?.getStart(source) ?? endOfHeader(text)
  // Without other imports, an empty line separates the imports from the code
  const separator = firstImport || lines.length === 0 ? '' : '\n'
  edits.insert(insertAt, lines.map((line) => `${line}\n`).join('') + separator)
  if (file.usesNotMigrated) {
    const newline = text.endsWith('\n') ? '' : '\n'
    edits.insert(text.length, newline + notMigratedText(file.isTyped, semicolon))
  }
  return edits.apply(text)
}

/** Whether a source file imports a module of an SDK. */
function importsSdk(compiler: Compiler, source: ts.SourceFile): boolean {
  return source.statements.some((statement) => {
    if (!compiler.isImportDeclaration(statement)) return false
    const specifier = statement.moduleSpecifier
    return compiler.isStringLiteral(specifier) && findSdk(specifier.text) !== undefined
  })
}

/** Adds a name to the imports of a module. */
function addImport(
  imports: Map<string, Map<string, string>>,
  module: string,
  name: string,
  local: string,
): void {
  const names = imports.get(module) ?? new Map<string, string>()
  imports.set(module, names.set(name, local))
}

/** The names that occur in a source file outside of its imports. */
function usedNames(compiler: Compiler, source: ts.SourceFile): Set<string> {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (compiler.isImportDeclaration(node)) return
    if (compiler.isIdentifier(node)) {
      const { parent } = node
      const isMember =
        (compiler.isPropertyAccessExpression(parent) && parent.name === node) ||
        (compiler.isPropertyAssignment(parent) && parent.name === node)
      if (!isMember) names.add(node.text)
    }
    compiler.forEachChild(node, visit)
  }
  visit(source)
  return names
}

/** Removes a node. If nothing follows it on its line, removes the end of the line too. */
function removeLine(edits: Edits, source: ts.SourceFile, node: ts.Node): void {
  const { text } = source
  const newline = text.indexOf('\n', node.end)
  const lineEnd = newline === -1 ? text.length : newline
  const isRestEmpty = text.slice(node.end, lineEnd).trim() === ''
  const end = isRestEmpty ? Math.min(lineEnd + 1, text.length) : node.end
  edits.replace(node.getStart(source), end, '')
}

/** The declarations that import names from a module. */
function importLines(
  module: string,
  names: ReadonlyMap<string, string>,
  quote: string,
  semicolon: string,
): string[] {
  const from = `from ${quote}${module}${quote}${semicolon}`
  const lines: string[] = []
  const named: string[] = []
  for (const [name, local] of [...names].toSorted(([a], [b]) => compareNames(a, b))) {
    if (name.startsWith('* as ')) lines.push(`import * as ${local} ${from}`)
    else if (name.startsWith('default ')) lines.push(`import ${local} ${from}`)
    else named.push(local === name.replace(/^type /, '') ? name : `${name} as ${local}`)
  }
  if (named.length === 0) return lines
  const areTypes = named.every((name) => name.startsWith('type '))
  const list = named.map((name) => (areTypes ? name.slice('type '.length) : name)).join(', ')
  return [...lines, `import ${areTypes ? 'type ' : ''}{ ${list} } ${from}`]
}

function compareNames(a: string, b: string): number {
  const bare = (name: string): string => name.replace(/^type /, '').toLowerCase()
  return bare(a) < bare(b) ? -1 : 1
}

/** The position after the first line if that line names an interpreter, such as `#!/usr/bin/env node`. Otherwise 0. */
function endOfHeader(text: string): number {
  return text.startsWith('#!') ? text.indexOf('\n') + 1 : 0
}
