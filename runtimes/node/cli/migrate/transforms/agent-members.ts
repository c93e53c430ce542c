/**
 * Migrates the uses of `this` that remain in handlers after a subclass of `McpAgent` was turned into a module.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import type { GuideSection } from '../guide.ts'
import { clientCalls } from './client-calls.ts'
import { contextNameIn, handlerAround } from './handlers.ts'
import { callOf, entryOf, walk } from './syntax.ts'

/** For members that must be replaced by hand: the section of the guide, and the text of the mark. */
const MANUAL_REPLACEMENTS: Readonly<Record<string, readonly [GuideSection, string]>> = {
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
  if (!file.agent) return
  file.importName('cloudflare:workers', 'DurableObject')
  file.importName('edgewise/cloudflare', 'createWorker')
  walk(file, file.source, (node) => {
    // Classes have a `this` of their own
    if (ts.isClassLike(node)) return false
    if (ts.isAwaitExpression(node) && isAtStart(file, node)) {
      file.mark(
        node,
        'mcpAgent',
        'Workers cannot send requests while they start: move this await into a handler',
      )
    }
    if (!ts.isPropertyAccessExpression(node)) return undefined
    if (node.expression.kind === ts.SyntaxKind.ThisKeyword) migrateMember(file, node)
    return undefined
  })
}

/** Whether code runs when the module is loaded, as the statements of `init` do now. */
function isAtStart({ ts }: FileMigration, node: ts.Node): boolean {
  return ts.findAncestor(node, ts.isFunctionLike) === undefined
}

function migrateMember(file: FileMigration, node: ts.PropertyAccessExpression): void {
  const { ts } = file
  if (file.isDone(node)) return
  const { text: name } = node.name
  const handler = handlerAround(file, node)
  const call = callOf(file, node)
  if (handler && moveToContext(contextNameIn(file, { ...handler, needsContext: true }))) {
    handler.needsContext = true
    return
  }
  if (name === 'env') {
    const type = file.agent?.environment ?? ''
    const env = file.importName('cloudflare:workers', 'env')
    file.replace(node, file.isTyped && type !== '' ? `(${env} as ${type})` : env)
    return
  }
  if (disableCondition(file, node)) return
  const isValue = name === 'state' || name === 'props'
  const [section, message] = entryOf(MANUAL_REPLACEMENTS, name) ?? [
    'mcpAgent',
    `There is no equivalent of this.${name}`,
  ]
  file.giveUp(call && !isValue ? call : node, section, message)

  /** Replaces the member with a member of the handler's context. Returns whether there is an equivalent. */
  function moveToContext(context: string): boolean {
    if (name === 'env') {
      file.replace(node, `${context}.env`)
      return true
    }
    if (call && name === 'elicitInput')
      return clientCalls.elicitInput?.migrate(file, call, context) === true
    const { parent } = node
    if (name !== 'ctx' || !ts.isPropertyAccessExpression(parent)) return false
    if (parent.name.text !== 'waitUntil') return false
    file.replace(node, context)
    return true
  }
}

/**
 * If a node is in a condition that `init` evaluated for each session, disables the code that depends on the condition:
 * the condition becomes `false`. A mark explains what to do instead. Returns whether there is such a condition.
 */
function disableCondition(file: FileMigration, node: ts.Node): boolean {
  const { ts } = file
  if (!isAtStart(file, node)) return false
  const statement = ts.findAncestor(
    node,
    (each): each is ts.IfStatement =>
      ts.isIfStatement(each) && each.expression.pos <= node.pos && node.end <= each.expression.end,
  )
  if (!statement) return false
  const condition = file.text(statement.expression).replaceAll(/\s+/g, ' ')
  const message = `This condition was evaluated for each session. Use it in the option "visible" of the tools, prompts and resources in this block: ${condition}`
  file.mark(statement, 'visible', message)
  file.replace(statement.expression, 'false')
  return true
}
