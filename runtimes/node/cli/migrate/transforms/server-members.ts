/**
 * Migrates the members of servers that are not registrations: notifications, requests to the client, and members without
 * an equivalent.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import type { GuideSection } from '../guide.ts'
import { clientCalls } from './client-calls.ts'
import { contextNameIn, handlerAround } from './handlers.ts'
import { isMethodCall } from './servers.ts'
import { callOf, entryOf, membersOf, stringOf, unwrap, valueOf, walk } from './syntax.ts'

/** The functions of `server.notify`, by the old method or notification that announced the change. */
const CHANGES: Readonly<Record<string, string>> = {
  sendToolListChanged: 'toolsListChanged',
  sendPromptListChanged: 'promptsListChanged',
  sendResourceListChanged: 'resourcesListChanged',
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
}

/** For members without an equivalent: the section of the guide, and what the author should do instead. */
const MANUAL_REPLACEMENTS: Readonly<Record<string, readonly [GuideSection, string]>> = {
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
  isConnected: ['sharedState', 'One server serves all clients, and has no connection of its own'],
  transport: ['sharedState', 'One server serves all clients, and has no transport of its own'],
  experimental: ['officialV2', 'Add tasks with server.extend(tasks()) of edgewise/tasks'],
}

const SUBSCRIPTIONS =
  'Edgewise stores subscriptions, and notifies only the clients that subscribed: announce every change'

/**
 * What Edgewise does about requests that projects often handle themselves. The keys are the text of the first argument
 * of `setRequestHandler`.
 */
const BUILT_IN: Readonly<Record<string, string>> = {
  SubscribeRequestSchema: SUBSCRIPTIONS,
  UnsubscribeRequestSchema: SUBSCRIPTIONS,
  "'resources/subscribe'": SUBSCRIPTIONS,
  "'resources/unsubscribe'": SUBSCRIPTIONS,
  SetLevelRequestSchema: 'Edgewise sends only log messages of the level that the client sets',
  "'logging/setLevel'": 'Edgewise sends only log messages of the level that the client sets',
}

/** The members of the context that replace members of the server. */
const CONTEXT_MEMBERS: Readonly<Record<string, string>> = {
  getClientCapabilities: 'client.capabilities',
  getClientVersion: 'client.info',
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
    if (!ts.isPropertyAccessExpression(node) || file.isDone(node)) return
    const server = serverOf(file, node.expression)
    if (!server) return
    // `server.server.member` is migrated as a whole, so its part `server.server` is skipped
    const isPart = server === node.expression && node.name.text === 'server' && isInner(node)
    if (!isPart) migrateServerMember(file, node, server)
  })

  function isInner(node: ts.PropertyAccessExpression): boolean {
    return ts.isPropertyAccessExpression(node.parent) && node.parent.expression === node
  }
}

/**
 * Finds the high-level server that an expression refers to. The expression may be this server itself, or its low-level
 * `server.server`.
 */
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
  const call = callOf(file, node)
  if (call && (announceChange(file, call, server, name) || moveToContext(file, call, name))) {
    file.setDone(node)
    return
  }
  const statement = call?.parent
  if (name === 'registerCapabilities' && statement && ts.isExpressionStatement(statement)) {
    file.remove(statement)
    return
  }
  const schema = call?.arguments[0]
  const builtIn =
    name === 'setRequestHandler' && schema ? entryOf(BUILT_IN, file.text(schema)) : undefined
  if (builtIn !== undefined) {
    file.giveUp(call ?? node, 'handlers', builtIn)
    return
  }
  const [section, message] = entryOf(MANUAL_REPLACEMENTS, name) ?? [
    'handlers',
    fallbackMessage(name),
  ]
  file.giveUp(call ?? node, section, message)
}

/** Migrates an announcement of a change. Returns whether the call was replaced. */
function announceChange(
  file: FileMigration,
  call: ts.CallExpression,
  server: ts.Expression,
  name: string,
): boolean {
  const { ts } = file
  // The new functions return no promise, so `.catch(…)` is removed. A call with any other chained call cannot be
  // migrated
  const { parent } = call
  const isCaught = isMethodCall(file, parent.parent) && parent.parent.expression === parent
  const isChained = ts.isPropertyAccessExpression(parent)
  if (isChained && !(isCaught && parent.name.text === 'catch')) return false
  const announce = (change: string): true => {
    file.replace(isChained ? parent.parent : call, `${file.migratedText(server)}.notify.${change}`)
    return true
  }
  const change = entryOf(CHANGES, name)
  if (change !== undefined) return announce(`${change}()`)
  const argument = call.arguments[0] && unwrap(file, call.arguments[0])
  if (!argument || !ts.isObjectLiteralExpression(argument)) return false
  const members = membersOf(file, argument)
  const method = stringOf(file, valueOf(file, members.get('method'))) ?? ''
  const notified = name === 'notification' ? entryOf(CHANGES, method) : undefined
  if (notified !== undefined) return announce(`${notified}()`)
  const isUpdate = name === 'notification' && method === 'notifications/resources/updated'
  if (!isUpdate && name !== 'sendResourceUpdated') return false
  const params = isUpdate ? valueOf(file, members.get('params')) : argument
  if (!params || !ts.isObjectLiteralExpression(params)) return false
  const uri = valueOf(file, membersOf(file, params).get('uri'))
  return uri !== undefined && announce(`resourceUpdated(${file.migratedText(uri)})`)
}

/** Replaces a call of the server with a member of the context, if the call is in a handler. Returns whether it did. */
function moveToContext(file: FileMigration, call: ts.CallExpression, name: string): boolean {
  const handler = handlerAround(file, call)
  if (!handler) return false
  const neededContext = handler.needsContext
  // Set before `contextNameIn`, because the name depends on it
  handler.needsContext = true
  const context = contextNameIn(file, handler)
  const member = entryOf(CONTEXT_MEMBERS, name)
  if (member !== undefined) file.replace(call, `${context}.${member}`)
  const isMigrated =
    member !== undefined || entryOf(clientCalls, name)?.migrate(file, call, context) === true
  handler.needsContext = neededContext || isMigrated
  return isMigrated
}

/** The text of a mark for a member without an equivalent. */
function fallbackMessage(name: string): string {
  const instead = entryOf(clientCalls, name)?.instead
  if (instead !== undefined) return instead
  const renamed = entryOf(REGISTRATIONS, name)
  return renamed === undefined
    ? `Servers have no member "${name}"`
    : `The method is now ${renamed}, and its arguments differ`
}
