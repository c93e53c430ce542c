/**
 * The other members of servers: notifications, requests to the client, and what has no equivalent.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import type { Subject } from '../guide.ts'
import {
  migrateLog,
  migrateNotification,
  migrateRequest,
  requestElicitation,
  requestRoots,
  requestSampling,
} from './client-calls.ts'
import { contextNameIn, handlerAround } from './handlers.ts'
import { isMethodCall } from './servers.ts'
import { membersOf, stringOf, unwrap, valueOf, walk } from './syntax.ts'

/** The notifications of changes, by the method that sent them. */
const CHANGES: Readonly<Record<string, string>> = {
  sendToolListChanged: 'toolsListChanged',
  sendPromptListChanged: 'promptsListChanged',
  sendResourceListChanged: 'resourcesListChanged',
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
}

/** What to do about members without an equivalent. */
const REPLACED: Readonly<Record<string, readonly [Subject, string]>> = {
  setRequestHandler: [
    'handlers',
    'Handle the request with server.use, or remove this if Edgewise does it',
  ],
  setNotificationHandler: [
    'handlers',
    'Servers do not receive this notification: use ctx in a handler',
  ],
  fallbackRequestHandler: ['handlers', 'Handle the request with server.use'],
  getClientCapabilities: [
    'sharedState',
    'Use ctx.client.capabilities in a handler, or "visible" for what only some clients see',
  ],
  getClientVersion: ['sharedState', 'Use ctx.client.info in a handler'],
  oninitialized: [
    'sharedState',
    'One server serves all clients: do this when the server starts, or in a handler',
  ],
  onclose: ['sharedState', 'One server serves all clients, and does not close with a connection'],
  onerror: ['handlers', 'Pass "onError" to createServer'],
  close: [
    'server',
    'serveStdio ends on SIGINT, SIGTERM, and when the client closes stdin; close what serve returns',
  ],
  connect: [
    'http',
    'Serve the server with serve, createHandler or serveStdio instead of a transport',
  ],
  sendLoggingMessage: ['handlers', 'Use ctx.log in a handler: the server has no client of its own'],
  createMessage: ['handlers', 'Use ctx.sample in a handler: the server has no client of its own'],
  elicitInput: ['handlers', 'Use ctx.elicit or ctx.elicitUrl in a handler'],
  listRoots: ['handlers', 'Use ctx.roots in a handler: the server has no client of its own'],
  notification: ['handlers', 'Use ctx.progress or ctx.log in a handler, or server.notify'],
  request: ['handlers', 'Use ctx.sample, ctx.elicit or ctx.roots in a handler'],
  isConnected: ['sharedState', 'One server serves all clients, and has no connection of its own'],
  transport: ['sharedState', 'One server serves all clients, and has no transport of its own'],
  experimental: ['names', 'Add tasks with server.extend(tasks()) of edgewise/tasks'],
}

const SUBSCRIPTIONS =
  'Edgewise stores subscriptions, and notifies only the clients that subscribed: announce every change'

/** What Edgewise does about requests that projects often handle themselves. */
const BUILT_IN: Readonly<Record<string, string>> = {
  SubscribeRequestSchema: SUBSCRIPTIONS,
  UnsubscribeRequestSchema: SUBSCRIPTIONS,
  "'resources/subscribe'": SUBSCRIPTIONS,
  "'resources/unsubscribe'": SUBSCRIPTIONS,
  SetLevelRequestSchema: 'Edgewise sends only log messages of the level that the client sets',
  "'logging/setLevel'": 'Edgewise sends only log messages of the level that the client sets',
}

/** The methods of the old SDK that register something. */
const REGISTRATIONS: Readonly<Record<string, string>> = {
  registerTool: 'tool',
  registerPrompt: 'prompt',
  registerResource: 'resource or resourceTemplate',
}

/** Migrates all members of servers that are not registrations. */
export function migrateServerMembers(file: FileMigration): void {
  const { ts } = file
  walk(file, file.source, (node) => {
    if (!ts.isPropertyAccessExpression(node) || file.isHandled(node)) return
    const server = serverOf(file, node.expression)
    // The member is looked at when `server.server` is
    if (!server || (server === node.expression && node.name.text === 'server' && isInner(node)))
      return
    migrateServerMember(file, node, server)
  })

  function isInner(node: ts.PropertyAccessExpression): boolean {
    return ts.isPropertyAccessExpression(node.parent) && node.parent.expression === node
  }
}

/** The high-level server of an expression, which may be the server itself or its low-level server. */
function serverOf(file: FileMigration, node: ts.Expression): ts.Expression | undefined {
  const { ts } = file
  if (file.sdkTypeOf(node) === 'McpServer') return node
  if (!ts.isPropertyAccessExpression(node) || node.name.text !== 'server') return undefined
  return file.sdkTypeOf(node.expression) === 'McpServer' ? node.expression : undefined
}

function migrateServerMember(
  file: FileMigration,
  node: ts.PropertyAccessExpression,
  server: ts.Expression,
): void {
  const { ts } = file
  const { text: name } = node.name
  const call =
    ts.isCallExpression(node.parent) && node.parent.expression === node ? node.parent : undefined
  if (call && (announceChange(file, call, server, name) || callContext(file, call, name))) {
    file.handle(node)
    return
  }
  const statement = call?.parent
  if (name === 'registerCapabilities' && statement && ts.isExpressionStatement(statement)) {
    file.remove(statement)
    return
  }
  const schema = call?.arguments[0]
  const handled = name === 'setRequestHandler' && schema ? (BUILT_IN[file.text(schema)] ?? '') : ''
  if (handled !== '') {
    file.giveUp(call ?? node, 'handlers', handled)
    return
  }
  const [subject, message] = Object.hasOwn(REPLACED, name)
    ? (REPLACED[name] ?? ['handlers', ''])
    : (['handlers', absence(name)] as const)
  file.giveUp(call ?? node, subject, message)
}

/** Migrates an announcement of a change. */
function announceChange(
  file: FileMigration,
  call: ts.CallExpression,
  server: ts.Expression,
  name: string,
): boolean {
  const { ts } = file
  // The new functions return nothing, so that there is no failure to catch
  const { parent } = call
  const isCaught = isMethodCall(file, parent.parent) && parent.parent.expression === parent
  const isChained = ts.isPropertyAccessExpression(parent)
  if (isChained && !(isCaught && parent.name.text === 'catch')) return false
  const announce = (change: string): true => {
    file.replace(isChained ? parent.parent : call, `${file.keep(server)}.notify.${change}`)
    return true
  }
  if (Object.hasOwn(CHANGES, name)) return announce(`${CHANGES[name] ?? ''}()`)
  const argument = call.arguments[0] && unwrap(file, call.arguments[0])
  if (!argument || !ts.isObjectLiteralExpression(argument)) return false
  const members = membersOf(file, argument)
  const method = stringOf(file, valueOf(file, members.get('method'))) ?? ''
  if (name === 'notification' && Object.hasOwn(CHANGES, method))
    return announce(`${CHANGES[method] ?? ''}()`)
  const isUpdate = name === 'notification' && method === 'notifications/resources/updated'
  if (!isUpdate && name !== 'sendResourceUpdated') return false
  const params = isUpdate ? valueOf(file, members.get('params')) : argument
  if (!params || !ts.isObjectLiteralExpression(params)) return false
  const uri = valueOf(file, membersOf(file, params).get('uri'))
  return uri !== undefined && announce(`resourceUpdated(${file.keep(uri)})`)
}

/** Migrates a request or a notification that the context of the handler sends now. */
function callContext(file: FileMigration, call: ts.CallExpression, name: string): boolean {
  const handler = handlerAround(file, call)
  if (!handler) return false
  const hadContext = handler.needsContext
  handler.needsContext = true
  const context = contextNameIn(file, handler)
  const isMigrated = migrate()
  handler.needsContext = hadContext || isMigrated
  return isMigrated

  function migrate(): boolean {
    switch (name) {
      case 'sendLoggingMessage':
        return migrateLog(file, call, context)
      case 'notification':
        return migrateNotification(file, call, context)
      case 'request':
        return migrateRequest(file, call, context)
      case 'createMessage':
        return requestSampling(file, call, context)
      case 'elicitInput':
        return requestElicitation(file, call, context)
      case 'listRoots':
        return requestRoots(file, call, context)
      case 'getClientCapabilities':
        file.replace(call, `${context}.client.capabilities`)
        return true
      case 'getClientVersion':
        file.replace(call, `${context}.client.info`)
        return true
      default:
        return false
    }
  }
}

function absence(name: string): string {
  const renamed = Object.hasOwn(REGISTRATIONS, name) ? REGISTRATIONS[name] : undefined
  return renamed === undefined
    ? `Servers have no member "${name}"`
    : `The method is now ${renamed}, and its arguments differ`
}
