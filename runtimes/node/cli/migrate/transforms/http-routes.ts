/**
 * Migrates the routes of Express and similar frameworks that pass requests to a transport of the official SDK.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import { markSharedState } from './stdio.ts'
import {
  functionOf,
  isInlineFunction,
  membersOf,
  referencesTo,
  unwrap,
  valueOf,
  walk,
} from './syntax.ts'
import { isMethodCall } from './servers.ts'
import type { MethodCall } from './tools.ts'

const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'delete', 'put', 'all', 'use'])

/** The HTTP transports that take requests from `node:http`. */
const TRANSPORT = /(?<!WebStandard)StreamableHTTPServerTransport|SSEServerTransport/

/** A route. */
interface Route {
  readonly call: MethodCall
  readonly app: string
  readonly path: ts.Expression
  readonly middleware: readonly ts.Expression[]
  readonly handler: ts.FunctionLikeDeclaration
  /** The transport that the handler creates. */
  readonly transport: ts.NewExpression | undefined
}

/** Replaces the routes of each endpoint with one route that serves the MCP server. */
export function migrateHttpRoutes(file: FileMigration): void {
  const routes = findRoutes(file)
  // The main route of an endpoint is the route that creates the transport
  for (const main of routes) {
    if (!main.transport) continue
    const kind = file.sdkTypeOf(main.transport) === 'SSEServerTransport' ? 'sse' : 'http'
    const server = serverOf(file, main)
    const statement = statementOf(file, main)
    if (!server || !statement) continue
    const otherRoutes = routes.filter(
      (route) => route !== main && !route.transport && belongsTo(route, main, kind),
    )
    migrateRoute(file, main, kind, server)
    for (const route of otherRoutes) {
      const otherStatement = statementOf(file, route)
      if (otherStatement) removeRoute(file, route, otherStatement)
    }
  }
  removeTransports(file)

  /** Whether a route handles other requests of the endpoint that the main route serves. */
  function belongsTo(route: Route, main: Route, kind: 'sse' | 'http'): boolean {
    if (route.app !== main.app) return false
    const body = route.handler.body ? file.text(route.handler.body) : ''
    if (kind === 'sse') return body.includes('handlePostMessage')
    const isSamePath = file.text(route.path) === file.text(main.path)
    // A route that rejects a method, such as GET, answers 405
    return isSamePath && (body.includes('handleRequest') || body.includes('405'))
  }
}

/** Finds the routes whose handlers are functions in the source file. */
function findRoutes(file: FileMigration): Route[] {
  const { ts } = file
  const routes: Route[] = []
  walk(file, file.source, (node) => {
    if (!isMethodCall(file, node) || !METHODS.has(node.expression.name.text)) return
    const [path, ...rest] = node.arguments
    const handlerArgument = rest.pop()
    const handler = handlerArgument && functionOf(file, handlerArgument)
    if (!path || !handler?.body || handler.getSourceFile() !== file.source) return
    let transport: ts.NewExpression | undefined
    walk(file, handler.body, (inner) => {
      if (!ts.isNewExpression(inner)) return
      const type = file.sdkNameOf(inner.expression)?.name
      if (type !== undefined && TRANSPORT.test(type)) transport = inner
    })
    const app = file.text(node.expression.expression)
    routes.push({ call: node, app, path, middleware: rest, handler, transport })
  })
  return routes
}

/** The text of an expression for the server that a route connects to its transport. */
function serverOf(file: FileMigration, { handler }: Route): string | undefined {
  const { ts } = file
  let text: string | undefined
  walk(file, handler, (node) => {
    if (text !== undefined || !isMethodCall(file, node) || node.expression.name.text !== 'connect')
      return
    const server = node.expression.expression
    if (!ts.isIdentifier(server) || file.sdkTypeOf(server) !== 'McpServer') return
    const declaration = file.declarationOf(server)
    if (!declaration) return
    const isLocal = ts.findAncestor(declaration, (outer) => outer === handler) !== undefined
    if (!isLocal) {
      text = server.text
    } else if (ts.isVariableDeclaration(declaration) && declaration.initializer) {
      text = createdText(declaration.initializer, '')
    } else if (
      ts.isBindingElement(declaration) &&
      ts.isVariableDeclaration(declaration.parent.parent)
    ) {
      const { initializer } = declaration.parent.parent
      const member = (declaration.propertyName ?? declaration.name).getText(file.source)
      if (initializer) text = createdText(initializer, `.${member}`)
    }
  })
  return text

  /**
   * The text of the call that creates the server; `undefined` if the call has arguments, because these may depend on the
   * request. Also marks the state of the called function.
   *
   * @param member The access to the server in the result, such as `.server`; empty if the result is the server.
   */
  function createdText(initializer: ts.Expression, member: string): string | undefined {
    const created = unwrap(file, initializer)
    if (!ts.isCallExpression(created) || created.arguments.length > 0) return undefined
    const factory = functionOf(file, created.expression)
    markSharedState(file, factory)
    const isAwaited = ts.isAwaitExpression(initializer)
    const call = file.text(created)
    if (isAwaited) return member === '' ? `await ${call}` : `(await ${call})${member}`
    return call + member
  }
}

/** The statement that adds a route; `undefined` if the route is added within a larger expression. */
function statementOf({ ts }: FileMigration, { call }: Route): ts.Statement | undefined {
  return ts.isExpressionStatement(call.parent) ? call.parent : undefined
}

/** Replaces the main route of an endpoint with a route that serves the MCP server. */
function migrateRoute(
  file: FileMigration,
  route: Route,
  kind: 'sse' | 'http',
  server: string,
): void {
  const { call, app, path, middleware, transport } = route
  const listener = file.importName('edgewise/node', 'toNodeListener')
  const handler = kind === 'sse' ? 'createSseHandler' : 'createHandler'
  const createHandler = file.importName('edgewise/server', handler)
  const options = kind === 'http' && hasSessions(file, transport) ? sessionsOption(file) : ''
  const args = [
    file.migratedText(path),
    ...middleware.map((each) => file.migratedText(each)),
    `${listener}(${createHandler}(${server}${options}))`,
  ]
  if (middleware.length > 0) {
    file.mark(call, 'tokens', 'Check the middleware: protectedResource replaces requireBearerAuth')
  }
  markTransportOptions(file, call, transport)
  const extra = otherCalls(file, route)
  if (extra.length > 0) {
    file.mark(
      call,
      'http',
      `The old route also called ${extra.join(', ')}: move what is still needed`,
    )
  }
  file.replace(call, `${app}.all(${args.join(', ')})`)
  removeHandler(file, route)
}

function sessionsOption(file: FileMigration): string {
  return `, { sessions: ${file.importName('edgewise/server', 'statefulSessions')}() }`
}

/** The options of a transport, by name; empty if they are not written as an object literal. */
function transportOptions(
  file: FileMigration,
  transport: ts.NewExpression | undefined,
): Map<string, ts.ObjectLiteralElementLike> {
  const options = transport?.arguments?.[0]
  const literal = options && unwrap(file, options)
  const isLiteral = literal && file.ts.isObjectLiteralExpression(literal)
  return isLiteral ? membersOf(file, literal) : new Map()
}

/** Whether a transport was created with sessions. */
function hasSessions(file: FileMigration, transport: ts.NewExpression | undefined): boolean {
  const member = transportOptions(file, transport).get('sessionIdGenerator')
  const value = valueOf(file, member)
  return member !== undefined && !(value && file.text(value) === 'undefined')
}

/** The options of transports that need no mark, because this migration handles them or Edgewise does not need them. */
const COVERED: ReadonlySet<string> = new Set([
  'sessionIdGenerator',
  'onsessioninitialized',
  'onsessionclosed',
  'enableJsonResponse',
])

/** Adds a mark for the options of a transport that this migration does not handle. */
function markTransportOptions(
  file: FileMigration,
  call: MethodCall,
  transport: ts.NewExpression | undefined,
): void {
  const uncovered = [...transportOptions(file, transport).keys()].filter(
    (name) => !COVERED.has(name),
  )
  if (uncovered.length === 0) return
  const names = uncovered.map((name) => `"${name}"`).join(', ')
  file.mark(
    call,
    'http',
    `The transport had the options ${names}: set allowedOrigins, allowedHosts or resumableCalls instead`,
  )
}

/** The names of the functions that the old handler called, without boilerplate and the functions of the SDK. */
function otherCalls(file: FileMigration, { handler }: Route): string[] {
  const { ts } = file
  const calls = new Set<string>()
  const boilerplate =
    /^(?:console|res|req|response|request|transports?|newTransport|server|crypto|Object|JSON|String)\b/
  if (!handler.body) return []
  walk(file, handler.body, (node) => {
    if (!ts.isCallExpression(node)) return
    const { expression } = node
    const text = file.text(expression)
    if (boilerplate.test(text) || /\n/.test(text)) return
    if (/^(?:randomUUID|isInitializeRequest|setTimeout|clearTimeout)$/.test(text)) return
    if (isServerCreation(node) || file.sdkNameOf(expression)) return
    calls.add(text)
  })
  return [...calls]

  function isServerCreation(node: ts.CallExpression): boolean {
    if (file.sdkTypeOf(node) === 'McpServer') return true
    const declaration = node.parent
    return (
      ts.isVariableDeclaration(declaration) &&
      ts.isObjectBindingPattern(declaration.name) &&
      declaration.name.elements.some((each) => file.sdkTypeOf(each.name) === 'McpServer')
    )
  }
}

/** Removes the variables that contained the transports of sessions, if nothing uses them any more. */
function removeTransports(file: FileMigration): void {
  const { ts } = file
  for (const statement of file.source.statements) {
    if (!ts.isVariableStatement(statement)) continue
    const [declaration, ...others] = statement.declarationList.declarations
    if (!declaration || others.length > 0) continue
    const text = file.text(declaration)
    if (!TRANSPORT.test(text) && !/^transports\b/.test(text)) continue
    const references = referencesTo(file, declaration)
    // A variable without references was unused before the migration, and stays as it is
    const mustStay = references.length === 0 || references.some((each) => !file.isDone(each))
    if (!mustStay) file.removeWithComments(statement)
    else if (references.some((each) => file.isDone(each))) {
      file.mark(
        statement,
        'http',
        'Nothing adds transports any longer: delete this variable and its uses',
      )
    }
  }
}

function removeRoute(file: FileMigration, route: Route, statement: ts.Statement): void {
  file.removeWithComments(statement)
  removeHandler(file, route)
}

/** Removes a handler that was declared apart from its route, if nothing else uses it. */
function removeHandler(file: FileMigration, { call, handler }: Route): void {
  const { ts } = file
  const handlerArgument = call.arguments.at(-1)
  if (!handlerArgument || !ts.isIdentifier(handlerArgument)) return
  const declaration = isInlineFunction(file, handler) ? handler.parent : handler
  if (!ts.isVariableDeclaration(declaration) && !ts.isFunctionDeclaration(declaration)) return
  const isShared = referencesTo(file, declaration).some((each) => !file.isDone(each))
  if (isShared) return
  file.removeWithComments(
    ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration,
  )
}
