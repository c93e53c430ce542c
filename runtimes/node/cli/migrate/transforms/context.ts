/**
 * Migrates the context that handlers receive: `extra` of the official SDK v1, and `ctx` of v2.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import type { GuideSection } from '../guide.ts'
import { contextNameIn } from './handlers.ts'
import { clientCalls } from './client-calls.ts'
import { callOf, entryOf, stringOf, walk } from './syntax.ts'

/** The new names of the members that are renamed, by the paths of the members in the old context. */
const RENAMED: Readonly<Record<string, string>> = {
  signal: 'signal',
  _meta: 'meta',
  requestId: 'id',
  'mcpReq.signal': 'signal',
  'mcpReq.id': 'id',
  'mcpReq._meta': 'meta',
  'mcpReq.method': 'method',
  'mcpReq.inputResponses': 'inputResponses',
  'http.req': 'request',
}

/**
 * For members that cannot be migrated, by their paths: the section of the guide, and what the author must do instead.
 */
const MANUAL_REPLACEMENTS: Readonly<Record<string, readonly [GuideSection, string]>> = {
  sessionId: [
    'sharedState',
    'Revision 2026-07-28 has no sessions: use ctx.principal or an id of your own',
  ],
  authInfo: ['tokens', 'Use ctx.auth, whose members differ'],
  'http.authInfo': ['tokens', 'Use ctx.auth, whose members differ'],
  'mcpReq.requestState': ['asking', 'Await ctx.elicit instead, or read ctx.requestState'],
  requestInfo: ['handlers', 'Use ctx.request, which is the Request of the Web platform'],
}

/** The members of `authInfo` that `ctx.auth` has too. */
const AUTH_MEMBERS: ReadonlySet<string> = new Set(['clientId', 'scopes'])

/** Migrates all uses of contexts. */
export function migrateContexts(file: FileMigration): void {
  const { ts } = file
  const contexts = new Map<ts.Node, string>()
  for (const handler of file.handlers.values()) {
    if (handler.context) contexts.set(handler.context, contextNameIn(file, handler))
  }
  walk(file, file.source, (node) => {
    if (!ts.isIdentifier(node) || isName(file, node)) return
    const declaration = file.declarationOf(node)
    if (!declaration) return
    if (ts.isBindingElement(declaration)) {
      const parameter = declaration.parent.parent
      const name = contexts.get(parameter)
      if (name === undefined) return
      const member = (declaration.propertyName ?? declaration.name) as ts.Identifier
      migrateMember(file, node, name, member.text)
      return
    }
    const handlerName = contexts.get(declaration)
    const isTyped = ts.isParameter(declaration) && isContextType(file.sdkTypeOf(node))
    if (handlerName === undefined && !isTyped) return
    migrateUse(file, node, handlerName ?? node.text)
  })
}

function isContextType(name: string | undefined): boolean {
  return name === 'RequestHandlerExtra' || name === 'ServerContext'
}

/** Whether an identifier is the name of a declaration or of a member, and not a reference. */
function isName({ ts }: FileMigration, node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node
  if (ts.isBindingElement(parent) || ts.isParameter(parent) || ts.isPropertyAssignment(parent)) {
    return parent.name === node || (ts.isBindingElement(parent) && parent.propertyName === node)
  }
  return false
}

/**
 * Migrates the use of a context.
 *
 * @param name The new name of the context.
 */
function migrateUse(file: FileMigration, node: ts.Identifier, name: string): void {
  const { ts } = file
  let access: ts.Expression = node
  let path = ''
  while (ts.isPropertyAccessExpression(access.parent) || ts.isNonNullExpression(access.parent)) {
    if (access.parent.expression !== access) break
    access = access.parent
    if (!ts.isPropertyAccessExpression(access)) continue
    path = path === '' ? access.name.text : `${path}.${access.name.text}`
    // The context of v2 has groups of members
    if (path !== 'mcpReq' && path !== 'http') break
  }
  if (path !== '') migrateMember(file, access, name, path)
  else if (isPassedToSdk(file, node)) {
    file.giveUp(
      node.parent,
      'asking',
      'This function needs the old context: use the new context instead',
    )
  } else if (name !== node.text) {
    const isShorthand = ts.isShorthandPropertyAssignment(node.parent)
    file.replace(node, isShorthand ? `${node.text}: ${name}` : name)
  }
}

/** Whether a context is passed to a function of the old SDK, which cannot take the new context. */
function isPassedToSdk(file: FileMigration, node: ts.Identifier): node is PassedContext {
  const { ts } = file
  const call = node.parent
  if (!ts.isCallExpression(call) || call.expression === node) return false
  const { expression } = call
  if (ts.isIdentifier(expression)) return file.sdkNameOf(expression) !== undefined
  if (!ts.isPropertyAccessExpression(expression)) return false
  return file.sdkTypeOf(expression.expression) !== undefined
}

/** A context that is an argument of a call. */
type PassedContext = ts.Identifier & { readonly parent: ts.CallExpression }

/**
 * Migrates the use of one member.
 *
 * @param name The new name of the context.
 * @param path The name of the member. If the member is in a group, the name of the group precedes it, such as
 *   `mcpReq.signal`.
 */
function migrateMember(file: FileMigration, node: ts.Expression, name: string, path: string): void {
  const { ts } = file
  if (file.isDone(node)) return
  const renamed = entryOf(RENAMED, path)
  const isShorthand = ts.isShorthandPropertyAssignment(node.parent)
  const prefix = isShorthand ? `${file.text(node)}: ` : ''
  if (renamed !== undefined) {
    file.replace(node, `${prefix}${name}.${renamed}`)
    return
  }
  const call = callOf(file, node)
  const clientCall = entryOf(clientCalls, path)
  if (call && clientCall?.migrate(file, call, name)) return
  if (path === 'authInfo' || path === 'http.authInfo') {
    const next = node.parent
    if (ts.isPropertyAccessExpression(next) && AUTH_MEMBERS.has(next.name.text)) {
      file.replace(node, `${name}.auth`)
      return
    }
  }
  if (path === 'requestInfo' && migrateHeader(file, node, name)) return
  const fallbackMessage = clientCall?.instead ?? `The context has no member "${path}"`
  const [section, message] = entryOf(MANUAL_REPLACEMENTS, path) ?? ['handlers', fallbackMessage]
  file.giveUp(call ?? node, section, message)
}

/** Migrates `requestInfo.headers['name']`. */
function migrateHeader(file: FileMigration, node: ts.Expression, name: string): boolean {
  const { ts } = file
  let headers: ts.Node = node.parent
  while (ts.isNonNullExpression(headers)) headers = headers.parent
  if (!ts.isPropertyAccessExpression(headers) || headers.name.text !== 'headers') return false
  const access = headers.parent
  const isAccess = ts.isElementAccessExpression(access) || ts.isPropertyAccessExpression(access)
  if (!isAccess || access.expression !== headers) return false
  const header = ts.isPropertyAccessExpression(access)
    ? access.name.text
    : stringOf(file, access.argumentExpression)
  if (header === undefined) return false
  file.replace(access, `(${name}.request?.headers.get(${file.quote(header)}) ?? undefined)`)
  return true
}
