/**
 * Migrates schemas. The old SDKs accept the members of an object schema, whereas Edgewise needs the schema itself.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import { unwrap } from './syntax.ts'

/**
 * What an expression is, as far as the source shows: `shape` is an object with the members of a
 * schema, `object` is an object schema, and `schema` is a schema of another kind.
 */
export type SchemaKind = 'shape' | 'object' | 'schema' | 'unknown'

/** Decides whether an expression is a schema, or an object with the members of a schema. */
export function schemaKindOf(file: FileMigration, node: ts.Expression): SchemaKind {
  const { ts } = file
  const inner = unwrap(file, node)
  if (ts.isObjectLiteralExpression(inner)) return 'shape'
  if (ts.isPropertyAccessExpression(inner)) {
    return inner.name.text === 'shape' ? 'shape' : declaredKind(file, inner.name)
  }
  if (ts.isCallExpression(inner)) return calledKind(file, inner)
  return ts.isIdentifier(inner) ? declaredKind(file, inner) : 'unknown'
}

/** The kind of the value that a name was declared with. */
function declaredKind(file: FileMigration, name: ts.Node): SchemaKind {
  const { ts } = file
  const declaration = file.declarationOf(name)
  if (!declaration) return 'unknown'
  const isValue = ts.isVariableDeclaration(declaration) || ts.isPropertyAssignment(declaration)
  if (!isValue || !declaration.initializer) return 'unknown'
  return schemaKindOf(file, declaration.initializer)
}

/** The kind of a call's result, if the call is a function of zod or a method of a schema. */
function calledKind(file: FileMigration, { expression }: ts.CallExpression): SchemaKind {
  const { ts } = file
  if (!ts.isPropertyAccessExpression(expression)) return 'unknown'
  let root: ts.Expression = expression.expression
  if (isZod(file, root)) return expression.name.text === 'object' ? 'object' : 'schema'
  while (ts.isPropertyAccessExpression(root) || ts.isCallExpression(root)) root = root.expression
  if (isZod(file, root)) return 'schema'
  const kind = ts.isIdentifier(root) ? declaredKind(file, root) : 'unknown'
  return kind === 'object' || kind === 'schema' ? 'schema' : 'unknown'
}

/** The module that a name is imported from. */
export function moduleOf({ ts, checker }: FileMigration, node: ts.Node): string | undefined {
  let declaration: ts.Node | undefined = checker.getSymbolAtLocation(node)?.declarations?.[0]
  while (declaration && !ts.isImportDeclaration(declaration)) declaration = declaration.parent
  const specifier = declaration?.moduleSpecifier
  return specifier && ts.isStringLiteral(specifier) ? specifier.text : undefined
}

/** Matches the specifiers of the modules of zod. */
const ZOD = /^(?:npm:)?zod(?:@[^/]+)?(?:\/v4|\/mini)?$/

function isZod(file: FileMigration, node: ts.Node): boolean {
  return file.ts.isIdentifier(node) && ZOD.test(moduleOf(file, node) ?? '')
}

/** The name under which the source file imports zod. Adds the import if it is missing. */
export function zodName(file: FileMigration): string {
  const { ts, source } = file
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier))
      continue
    const { importClause: clause } = statement
    if (!clause || clause.isTypeOnly || !ZOD.test(statement.moduleSpecifier.text)) continue
    const { name, namedBindings: bindings } = clause
    if (bindings && ts.isNamespaceImport(bindings)) return bindings.name.text
    const z = bindings?.elements.find((each) => (each.propertyName ?? each.name).text === 'z')
    if (z && !z.isTypeOnly) return z.name.text
    if (name) return name.text
  }
  return file.importName('zod', '* as z')
}

/**
 * Converts the members of an object schema to the schema.
 *
 * @param owner The tool or prompt that the schema belongs to, for the text of a mark.
 */
export function migrateSchema(file: FileMigration, node: ts.Expression, owner: string): void {
  const { ts } = file
  const kind = schemaKindOf(file, node)
  if (kind === 'object' || kind === 'schema') return
  const inner = unwrap(file, node)
  if (kind === 'unknown') {
    file.mark(
      node,
      'server',
      `Check that the schema of ${owner} is complete: a shape must become z.object(shape)`,
    )
    return
  }
  if (ts.isPropertyAccessExpression(inner) && inner === node) {
    // The members belong to an object schema that already exists, so this schema is used
    if (schemaKindOf(file, inner.expression) === 'object') {
      file.edits.replace(inner.expression.end, inner.end, '')
      return
    }
  }
  file.insertBefore(node, `${zodName(file)}.object(`)
  file.insertAfter(node, ')')
}
