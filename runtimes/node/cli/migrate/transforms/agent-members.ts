/**
 * What remains of the members of an `McpAgent` when its class has become a module: `this` in handlers.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import type { Subject } from '../guide.ts'
import { requestElicitation } from './client-calls.ts'
import { contextNameIn, handlerAround } from './handlers.ts'
import { walk } from './syntax.ts'

const REPLACED: Readonly<Record<string, readonly [Subject, string]>> = {
  state: [
    'state',
    'The state belonged to a session: store it for a user, in an object of your own',
  ],
  setState: [
    'state',
    'The state belonged to a session: store it for a user, in an object of your own',
  ],
  sql: [
    'state',
    'The database belonged to a session: store data for a user, in an object of your own',
  ],
  props: ['mcpAgent', 'Use ctx.auth, which the option "auth" of createWorker sets'],
  addMcpServer: ['mcpAgent', 'Use connect of edgewise/client, or server.mount with fromClient'],
}

/** Migrates the members that handlers use. */
export function migrateAgentMembers(file: FileMigration): void {
  const { ts } = file
  if (!file.isAgent) return
  walk(file, file.source, (node) => {
    // Classes have a `this` of their own
    if (ts.isClassLike(node)) return false
    if (!ts.isPropertyAccessExpression(node)) return undefined
    if (node.expression.kind === ts.SyntaxKind.ThisKeyword) migrateMember(file, node)
    return undefined
  })
}

function migrateMember(file: FileMigration, node: ts.PropertyAccessExpression): void {
  const { ts } = file
  if (file.isHandled(node)) return
  const { text: name } = node.name
  const handler = handlerAround(file, node)
  const call =
    ts.isCallExpression(node.parent) && node.parent.expression === node ? node.parent : undefined
  if (handler && migrate(contextNameIn(file, { ...handler, needsContext: true }))) {
    handler.needsContext = true
    return
  }
  const isState = name === 'state' || name === 'props'
  const [subject, message] = Object.hasOwn(REPLACED, name)
    ? (REPLACED[name] ?? ['mcpAgent', ''])
    : (['mcpAgent', `There is no equivalent of this.${name}`] as const)
  file.giveUp(call && !isState ? call : node, subject, message)

  function migrate(context: string): boolean {
    if (name === 'env') {
      file.replace(node, `${context}.env`)
      return true
    }
    if (call && name === 'elicitInput') return requestElicitation(file, call, context)
    const next = node.parent
    if (name !== 'ctx' || !ts.isPropertyAccessExpression(next)) return false
    if (next.name.text !== 'waitUntil') return false
    file.replace(node, context)
    return true
  }
}
