/**
 * Reads and edits syntax for the transforms.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'

/** A function that is written where it is used. Other functions are used by their name. */
export type InlineFunction = ts.ArrowFunction | ts.FunctionExpression

/** Returns an expression without its parentheses, type assertions and `await`. */
export function unwrap({ ts }: FileMigration, node: ts.Expression): ts.Expression {
  let inner = node
  while (
    ts.isParenthesizedExpression(inner) ||
    ts.isAsExpression(inner) ||
    ts.isSatisfiesExpression(inner) ||
    ts.isNonNullExpression(inner) ||
    ts.isAwaitExpression(inner)
  ) {
    inner = inner.expression
  }
  return inner
}

/** Whether a node is a function that is written where it is used. */
export function isInlineFunction(
  { ts }: FileMigration,
  node: ts.Node | undefined,
): node is InlineFunction {
  return node !== undefined && (ts.isArrowFunction(node) || ts.isFunctionExpression(node))
}

/** Returns the function of an expression: the expression itself, or the function in the project that it names. */
export function functionOf(
  file: FileMigration,
  node: ts.Expression,
): ts.FunctionLikeDeclaration | undefined {
  const { ts } = file
  const inner = unwrap(file, node)
  if (isInlineFunction(file, inner)) return inner
  const declaration = file.declarationOf(ts.isPropertyAccessExpression(inner) ? inner.name : inner)
  if (!declaration) return undefined
  if (ts.isFunctionDeclaration(declaration) || ts.isMethodDeclaration(declaration))
    return declaration
  if (!ts.isVariableDeclaration(declaration) && !ts.isPropertyDeclaration(declaration))
    return undefined
  const { initializer } = declaration
  return initializer && isInlineFunction(file, initializer) ? initializer : undefined
}

/**
 * Returns an expression if it is an object literal. If it is the name of a constant of the same source file, and the
 * constant is used only there, returns the object literal that is the value of the constant.
 */
export function objectLiteralOf(
  file: FileMigration,
  node: ts.Expression,
): ts.ObjectLiteralExpression | undefined {
  const { ts } = file
  const inner = unwrap(file, node)
  if (ts.isObjectLiteralExpression(inner)) return inner
  if (!ts.isIdentifier(inner)) return undefined
  const declaration = file.declarationOf(inner)
  if (!declaration || !ts.isVariableDeclaration(declaration)) return undefined
  if (declaration.getSourceFile() !== file.source || !declaration.initializer) return undefined
  if (referencesTo(file, declaration).length !== 1) return undefined
  const value = unwrap(file, declaration.initializer)
  return ts.isObjectLiteralExpression(value) ? value : undefined
}

/** The members of an object literal by their names. Spreads and members with computed names are left out. */
export function membersOf(
  { ts }: FileMigration,
  literal: ts.ObjectLiteralExpression,
): Map<string, ts.ObjectLiteralElementLike> {
  const members = new Map<string, ts.ObjectLiteralElementLike>()
  for (const property of literal.properties) {
    const { name } = property
    if (name && (ts.isIdentifier(name) || ts.isStringLiteral(name)))
      members.set(name.text, property)
  }
  return members
}

/** The value of a member of an object literal. */
export function valueOf(
  { ts }: FileMigration,
  member: ts.ObjectLiteralElementLike | undefined,
): ts.Expression | undefined {
  if (!member) return undefined
  if (ts.isPropertyAssignment(member)) return member.initializer
  return ts.isShorthandPropertyAssignment(member) ? member.name : undefined
}

/** The value of a node that is a string literal. */
export function stringOf({ ts }: FileMigration, node: ts.Node | undefined): string | undefined {
  return node && ts.isStringLiteralLike(node) ? node.text : undefined
}

/** The call of an expression, if the expression is called. */
export function callOf({ ts }: FileMigration, node: ts.Expression): ts.CallExpression | undefined {
  const { parent } = node
  return ts.isCallExpression(parent) && parent.expression === node ? parent : undefined
}

/**
 * Returns the entry of a table for a name. The name comes from the project, so it may be the name of an inherited
 * member, such as `constructor`, for which there is no entry.
 */
export function entryOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/**
 * Calls a function for a node and all its descendants. If the function returns `false` for a node, the descendants of
 * this node are skipped.
 */
export function walk(
  { ts }: FileMigration,
  node: ts.Node,
  visit: (node: ts.Node) => boolean | void,
): void {
  const visitAll = (each: ts.Node): void => {
    if (visit(each) !== false) ts.forEachChild(each, visitAll)
  }
  visitAll(node)
}

/** The identifiers of the source that refer to a declaration. */
export function referencesTo(file: FileMigration, declaration: ts.Declaration): ts.Identifier[] {
  const { ts } = file
  const { name } = declaration as ts.NamedDeclaration
  if (!name || !ts.isIdentifier(name)) return []
  const found: ts.Identifier[] = []
  walk(file, file.source, (node) => {
    if (!ts.isIdentifier(node) || node.text !== name.text || node === name) return
    if (file.symbolOf(node)?.declarations?.includes(declaration)) found.push(node)
  })
  return found
}

/** Renames a member of an object literal. */
export function renameMember(
  file: FileMigration,
  member: ts.ObjectLiteralElementLike,
  name: string,
): void {
  const { ts } = file
  if (ts.isShorthandPropertyAssignment(member)) file.insertBefore(member, `${name}: `)
  else if (member.name) file.replace(member.name, name)
}

/** Inserts members at the beginning of an object literal, formatted like its other members. */
export function addMembers(
  file: FileMigration,
  literal: ts.ObjectLiteralExpression,
  members: readonly string[],
): void {
  const [firstProperty] = literal.properties
  if (!firstProperty) {
    file.replace(literal, `{ ${members.join(', ')} }`)
    return
  }
  const start = firstProperty.getStart(file.source)
  const textBefore = file.source.text.slice(literal.getStart(file.source) + 1, start)
  const separator = textBefore.includes('\n') ? textBefore.slice(textBefore.lastIndexOf('\n')) : ' '
  file.insertBefore(firstProperty, members.map((member) => `${member},${separator}`).join(''))
}

/** Removes members of an object literal, with their commas. */
export function removeMembers(
  { source, edits }: FileMigration,
  { properties }: ts.ObjectLiteralExpression,
  removed: readonly ts.ObjectLiteralElementLike[],
): void {
  const lastKept = properties.findLastIndex((each) => !removed.includes(each))
  // Before the last remaining member, a member is removed with the comma after it
  for (const [index, member] of properties.entries()) {
    if (index > lastKept || !removed.includes(member)) continue
    const next = properties[index + 1]
    if (next) edits.replace(member.getStart(source), next.getStart(source), '')
  }
  // After the last remaining member, everything is removed
  const start = properties[lastKept]?.end ?? properties[0]?.getStart(source)
  const end = properties.at(-1)?.end
  if (lastKept < properties.length - 1 && start !== undefined && end !== undefined) {
    edits.replace(start, end, '')
  }
}
