/**
 * Migrates handlers of Web requests: `createMcpHandler` of the official SDK v2 and of Cloudflare's package, and the
 * companion packages of v2.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import { callFactory } from './stdio.ts'
import { callOf, functionOf, membersOf, stringOf, unwrap, valueOf, walk } from './syntax.ts'
import { oneLine } from './tools.ts'

/** Migrates the functions that create handlers, the functions that use handlers, and handlers that are exported. */
export function migrateWebHandlers(file: FileMigration): void {
  const { ts } = file
  walk(file, file.source, (node) => {
    if (ts.isCallExpression(node)) migrateCall(file, node)
    else if (ts.isPropertyAccessExpression(node)) migrateAccess(file, node)
    else if (ts.isExportAssignment(node) && file.sdkTypeOf(node.expression) === 'McpHttpHandler') {
      const parameter = file.isTyped ? '(request: Request)' : '(request)'
      file.insertBefore(node.expression, `{ fetch: ${parameter} => `)
      file.insertAfter(node.expression, `(request) }`)
    }
  })
}

function migrateCall(file: FileMigration, call: ts.CallExpression): void {
  const { ts } = file
  const { expression } = call
  if (!ts.isIdentifier(expression)) return
  const imported = file.sdkNameOf(expression)
  if (imported?.name === 'createMcpHandler') {
    if (imported.sdk === 'agents') migrateAgentsHandler(file, call)
    else migrateHandler(file, call)
  } else if (imported?.name === 'toNodeHandler') {
    file.replace(expression, file.importName('edgewise/node', 'toNodeListener'))
    const [handler, options] = call.arguments
    if (handler && options) file.edits.replace(handler.end, options.end, '')
  } else if (imported?.name === 'createMcpExpressApp') {
    replaceApp(file, call, file.importName('express', 'default express'))
  } else if (imported?.name === 'createMcpHonoApp') {
    replaceApp(file, call, `new ${file.importName('hono', 'Hono')}`)
  } else if (file.sdkTypeOf(expression) === 'NodeHandler') {
    // The listener of Edgewise finds the parsed body in the request, so the argument is removed
    const [, response, body] = call.arguments
    if (response && body) file.edits.replace(response.end, body.end, '')
  }
}

/** Replaces a companion package's function that creates an app with that of the framework, such as `express`. */
function replaceApp(file: FileMigration, call: ts.CallExpression, createApp: string): void {
  file.replace(call, `${createApp}()`)
  const message =
    'Edgewise checks origins itself. To check hosts too, pass "allowedHosts" to createHandler'
  file.mark(call, 'officialV2', message)
}

/** Migrates `createMcpHandler(factory)` of v2. */
function migrateHandler(file: FileMigration, call: ts.CallExpression): void {
  const { ts } = file
  const [factory, options] = call.arguments
  if (!factory) return
  file.replace(call.expression, file.importName('edgewise/server', 'createHandler'))
  callFactory(file, factory)
  if (!options) return
  const literal = unwrap(file, options)
  const members = ts.isObjectLiteralExpression(literal) ? membersOf(file, literal) : undefined
  const legacy = stringOf(file, valueOf(file, members?.get('legacy')))
  // The option `legacy: 'stateless'` is not needed, because older revisions are handled without sessions by default
  if (members?.size !== 1 || legacy !== 'stateless') {
    file.mark(
      options,
      'officialV2',
      `createHandler has different options. The options were: ${oneLine(file.text(options))}`,
    )
  }
  file.edits.replace(factory.end, options.end, '')
}

/** Migrates `createMcpHandler(server)` of Cloudflare's package. */
function migrateAgentsHandler(file: FileMigration, call: ts.CallExpression): void {
  const { ts } = file
  const [server, options] = call.arguments
  if (!server) return
  file.replace(call.expression, file.importName('edgewise/cloudflare', 'createWorker'))
  const isFactory = file.sdkTypeOf(server) !== 'McpServer' && functionOf(file, server) !== undefined
  if (isFactory) callFactory(file, server)
  const createsServer = isFactory || ts.isCallExpression(server) || ts.isNewExpression(server)
  if (createsServer && ts.findAncestor(call, (node) => ts.isFunctionLike(node))) {
    file.mark(call, 'mcpAgent', 'Create the server and the Worker once, outside of the function')
  }
  if (options) {
    const message = `createWorker has different options. The options were: ${oneLine(file.text(options))}`
    file.mark(options, 'mcpAgent', message)
    file.edits.replace(server.end, options.end, '')
  }
  file.insertAfter(server, ', { stateless: true }')
  file.insertAfter(call, '.fetch')
}

/** Migrates uses of a handler's members. In Edgewise, a handler is a function. */
function migrateAccess(file: FileMigration, node: ts.PropertyAccessExpression): void {
  if (file.sdkTypeOf(node.expression) !== 'McpHttpHandler') return
  const { text } = node.name
  if (text === 'fetch') {
    file.edits.replace(node.expression.end, node.end, '')
    const options = callOf(file, node)?.arguments[1]
    if (options) file.mark(options, 'officialV2', 'The second argument of a handler is the caller')
    return
  }
  const message = text === 'notify' ? 'Use server.notify' : `Handlers have no member "${text}"`
  file.giveUp(node, 'officialV2', message)
}
