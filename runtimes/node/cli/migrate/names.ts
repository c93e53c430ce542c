/**
 * Finds the identifiers that a source file imports or declares, and the chains of calls and members that begin
 * with an expression.
 */
import type ts from 'typescript'
import type { Compiler } from './compiler.ts'
import { findSdk } from './sdk-modules.ts'

/** The local name of an export that a source file already imports. */
export function importedName(
  compiler: Compiler,
  source: ts.SourceFile,
  module: string,
  name: string,
): string | undefined {
  for (const statement of source.statements) {
    if (!compiler.isImportDeclaration(statement)) continue
    const { moduleSpecifier: specifier, importClause: clause } = statement
    if (!clause || !compiler.isStringLiteral(specifier) || specifier.text !== module) continue
    if (clause.name?.text === name) return name
    const { namedBindings: bindings } = clause
    if (!bindings || !compiler.isNamedImports(bindings)) continue
    const imported = bindings.elements.find(
      (each) => (each.propertyName ?? each.name).text === name,
    )
    if (imported) return imported.name.text
  }
  return undefined
}

/** Whether a source file declares a name, apart from imports from an SDK. */
export function declaresName(compiler: Compiler, source: ts.SourceFile, name: string): boolean {
  const visit = (node: ts.Node): boolean => {
    if (compiler.isImportDeclaration(node) && compiler.isStringLiteral(node.moduleSpecifier)) {
      if (findSdk(node.moduleSpecifier.text)) return false
    }
    if (declaredName(compiler, node) === name) return true
    return compiler.forEachChild(node, (child) => visit(child) || undefined) ?? false
  }
  return visit(source)
}

/** The name that a node declares; `undefined` if the node is not a declaration. */
function declaredName(compiler: Compiler, node: ts.Node): string | undefined {
  const isDeclaration =
    compiler.isVariableDeclaration(node) ||
    compiler.isBindingElement(node) ||
    compiler.isParameter(node) ||
    compiler.isFunctionDeclaration(node) ||
    compiler.isClassDeclaration(node) ||
    compiler.isInterfaceDeclaration(node) ||
    compiler.isTypeAliasDeclaration(node) ||
    compiler.isEnumDeclaration(node) ||
    compiler.isImportSpecifier(node) ||
    compiler.isImportClause(node) ||
    compiler.isNamespaceImport(node)
  if (!isDeclaration || !node.name) return undefined
  return compiler.isIdentifier(node.name) ? node.name.text : undefined
}

/** The whole chain of calls and members that begins with an expression. */
export function outermostChain(compiler: Compiler, node: ts.Expression): ts.Expression {
  let outer = node
  for (;;) {
    const { parent } = outer
    const isLink =
      compiler.isPropertyAccessExpression(parent) ||
      compiler.isElementAccessExpression(parent) ||
      compiler.isCallExpression(parent) ||
      compiler.isNonNullExpression(parent)
    if (!isLink || parent.expression !== outer) return outer
    outer = parent
  }
}
