/**
 * Migrates errors. In Edgewise, the message of an error reaches the model only in a `ToolError`, and the client only in
 * a `ProtocolError`.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import { functionOf, walk } from './syntax.ts'

/**
 * Migrates the errors that the tools of a source file throw, directly or in functions that they
 * call.
 */
export function migrateToolErrors(file: FileMigration): void {
  const visited = new Set<ts.Node>()
  for (const declared of file.declaredHandlers)
    visitThrows(file, declared, migrateToolError, visited)
  for (const { kind, node } of file.handlers.values()) {
    if (kind === 'tool') visitThrows(file, node, migrateToolError, visited)
  }
}

/**
 * Migrates the errors that the handlers of prompts and resources throw. Call it after
 * {@link migrateToolErrors} has run for all source files. Tools may call the same functions, and the errors of
 * these functions must then become a `ToolError`.
 */
export function migratePromptAndResourceErrors(file: FileMigration): void {
  const visited = new Set<ts.Node>()
  for (const { kind, node } of file.handlers.values()) {
    if (kind !== 'tool') visitThrows(file, node, migratePromptOrResourceError, visited)
  }
}

/** Visits the `throw` statements of a function, and of the functions of the project that this function calls. */
function visitThrows(
  file: FileMigration,
  root: ts.Node,
  migrate: (owner: FileMigration, statement: ts.ThrowStatement) => void,
  visited: Set<ts.Node>,
): void {
  if (visited.has(root)) return
  visited.add(root)
  const owner = file.migrationOf(root)
  if (!owner) return
  walk(owner, root, (node) => {
    if (owner.ts.isThrowStatement(node)) migrate(owner, node)
    const called = owner.ts.isCallExpression(node) ? functionOf(owner, node.expression) : undefined
    if (called?.body) visitThrows(file, called, migrate, visited)
  })
}

/** If a statement throws an `Error` or an error of the SDK, makes it throw a `ToolError`. */
function migrateToolError(file: FileMigration, statement: ts.ThrowStatement): void {
  const { ts } = file
  const error = statement.expression
  if (!ts.isNewExpression(error) || file.isDone(error)) return
  const args = error.arguments ?? []
  if (isGlobalError(file, error.expression) && args.length === 1) {
    file.setDone(error)
    file.replace(error.expression, file.importName('edgewise/server', 'ToolError'))
    return
  }
  // Only the message is kept, because the old SDK sent only the message to the model
  const message = args[1]
  if (isSdkError(file, error.expression) && message) {
    file.setDone(error)
    file.edits.replace(
      error.expression.getStart(file.source),
      message.getStart(file.source),
      `${file.importName('edgewise/server', 'ToolError')}(`,
    )
    file.edits.replace(message.end, error.end, ')')
  }
}

/** If a statement throws an `Error`, makes it throw a `ProtocolError`. */
function migratePromptOrResourceError(file: FileMigration, statement: ts.ThrowStatement): void {
  const { ts } = file
  const error = statement.expression
  if (!ts.isNewExpression(error) || file.isDone(error)) return
  const [message, ...others] = error.arguments ?? []
  if (!isGlobalError(file, error.expression) || !message || others.length > 0) return
  file.setDone(error)
  file.replace(error.expression, file.importName('edgewise', 'ProtocolError'))
  file.insertBefore(message, `${file.importName('edgewise', 'ErrorCode')}.INTERNAL_ERROR, `)
}

/** Whether an expression refers to the global class `Error`. */
function isGlobalError(file: FileMigration, node: ts.Expression): boolean {
  if (!file.ts.isIdentifier(node) || node.text !== 'Error') return false
  const declaration = file.declarationOf(node)
  // The declaration of the global `Error` is in the libraries of the compiler
  return declaration?.getSourceFile().fileName.startsWith('/lib/') ?? false
}

function isSdkError(file: FileMigration, node: ts.Node): boolean {
  const name = file.sdkNameOf(node)?.name
  return name === 'McpError' || name === 'ProtocolError'
}

/** Migrates the remaining uses of the SDK's error class and error codes. */
export function migrateProtocolErrors(file: FileMigration): void {
  const { ts } = file
  walk(file, file.source, (node) => {
    if (ts.isImportDeclaration(node)) return false
    if (!ts.isIdentifier(node) || file.isDone(node)) return undefined
    const isName = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node
    if (isName) return undefined
    const name = file.sdkNameOf(node)?.name
    if (name === 'McpError' || name === 'ProtocolError') {
      file.replace(node, file.importName('edgewise', 'ProtocolError'))
    } else if (name === 'ErrorCode' || name === 'ProtocolErrorCode') {
      migrateCode(file, node)
    }
    return undefined
  })
}

/** The members of Edgewise's `ErrorCode` that the old SDK also has, under other names. */
const ERROR_CODES: ReadonlySet<string> = new Set([
  'PARSE_ERROR',
  'INVALID_REQUEST',
  'METHOD_NOT_FOUND',
  'INVALID_PARAMS',
  'INTERNAL_ERROR',
  'URL_ELICITATION_REQUIRED',
])

/** Migrates `ErrorCode.InvalidParams`. */
function migrateCode(file: FileMigration, node: ts.Identifier): void {
  const { ts } = file
  const access = node.parent
  if (!ts.isPropertyAccessExpression(access)) return
  const code = access.name.text.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()
  if (!ERROR_CODES.has(code)) {
    file.giveUp(access, 'handlers', `Error codes have no member "${access.name.text}"`)
    return
  }
  file.replace(access, `${file.importName('edgewise', 'ErrorCode')}.${code}`)
}
