/**
 * Migrates the creation of servers, the types that describe them, and all registrations.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import { migratePrompt, migrateRegisterPrompt } from './prompts.ts'
import { migrateResource } from './resources.ts'
import { membersOf, removeMembers, unwrap, valueOf, walk } from './syntax.ts'
import { migrateType } from './types.ts'
import { migrateRegisterTool, migrateTool, oneLine, type MethodCall } from './tools.ts'

/** The functions that migrate registrations, by the name of the method that registers. */
const registrations: Readonly<Record<string, (file: FileMigration, call: MethodCall) => void>> = {
  registerTool: migrateRegisterTool,
  tool: migrateTool,
  registerPrompt: migrateRegisterPrompt,
  prompt: migratePrompt,
  registerResource: migrateResource,
  resource: migrateResource,
}

/** Migrates the creation of servers, their types, and all registrations. */
export function migrateServers(file: FileMigration): void {
  const { ts } = file
  walk(file, file.source, (node) => {
    if (ts.isNewExpression(node)) migrateCreation(file, node)
    else if (ts.isTypeReferenceNode(node)) migrateType(file, node)
    else if (isMethodCall(file, node) && Object.hasOwn(registrations, node.expression.name.text)) {
      const { expression, name } = node.expression
      if (file.sdkTypeOf(expression) === 'McpServer') registrations[name.text]?.(file, node)
    }
  })
}

/** Whether a node calls a method. */
export function isMethodCall({ ts }: FileMigration, node: ts.Node): node is MethodCall {
  return ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
}

/** Migrates `new McpServer(info, options)`. Marks a low-level server. */
function migrateCreation(file: FileMigration, node: ts.NewExpression): void {
  const sdkName = file.sdkNameOf(node.expression)?.name
  if (sdkName === 'Server') {
    file.mark(
      node,
      'handlers',
      'This low-level server is unchanged: register tools with createServer(…).tool, or handle requests with server.use',
    )
  }
  if (sdkName !== 'McpServer') return
  const [info, options] = node.arguments ?? []
  const { typeArguments: types, expression } = node
  const typesText = types ? `<${types.map((each) => file.text(each)).join(', ')}>` : ''
  const parenthesis = file.source.text.indexOf('(', types?.end ?? expression.end)
  const createServer = file.importName('edgewise/server', 'createServer')
  const start = node.getStart(file.source)
  file.edits.replace(start, parenthesis === -1 ? node.end : parenthesis, createServer + typesText)
  if (info && options) migrateOptions(file, info, options)
}

/** Removes the options that `createServer` does not have, and marks them. */
function migrateOptions(file: FileMigration, info: ts.Expression, options: ts.Expression): void {
  const { ts } = file
  const literal = unwrap(file, options)
  if (!ts.isObjectLiteralExpression(literal)) {
    file.mark(options, 'handlers', 'Check the options: capabilities are derived from registrations')
    return
  }
  const unsupported: ts.ObjectLiteralElementLike[] = []
  for (const [name, member] of membersOf(file, literal)) {
    if (name === 'instructions') continue
    if (name === 'capabilities') {
      migrateCapabilities(file, literal, member)
      continue
    }
    unsupported.push(member)
    const text = oneLine(file.text(valueOf(file, member) ?? member))
    file.mark(
      literal.parent,
      'handlers',
      `createServer has no option "${name}". The option was: ${text}`,
    )
  }
  if (unsupported.length === literal.properties.length) {
    file.edits.replace(info.end, options.end, '')
  } else {
    removeMembers(file, literal, unsupported)
  }
}

/** Removes the capability `tasks`, which an extension declares. All other capabilities may remain. */
function migrateCapabilities(
  file: FileMigration,
  options: ts.ObjectLiteralExpression,
  member: ts.ObjectLiteralElementLike,
): void {
  const value = valueOf(file, member)
  const capabilities = value && unwrap(file, value)
  if (!capabilities || !file.ts.isObjectLiteralExpression(capabilities)) return
  const tasks = membersOf(file, capabilities).get('tasks')
  if (!tasks) return
  removeMembers(file, capabilities, [tasks])
  file.mark(options.parent, 'officialV2', 'Add tasks with server.extend(tasks()) of edgewise/tasks')
}
