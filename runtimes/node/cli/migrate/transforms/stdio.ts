/**
 * Migrates servers over stdio.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import { functionOf, isInlineFunction, referencesTo, unwrap, walk } from './syntax.ts'

/** Migrates `server.connect(new StdioServerTransport())`, and `serveStdio(factory)` of v2. */
export function migrateStdio(file: FileMigration): void {
  const { ts } = file
  walk(file, file.source, (node) => {
    if (!ts.isCallExpression(node)) return
    const { expression } = node
    if (ts.isIdentifier(expression) && file.sdkNameOf(expression)?.name === 'serveStdio') {
      migrateServeStdio(file, node)
    } else if (ts.isPropertyAccessExpression(expression) && expression.name.text === 'connect') {
      migrateConnect(file, node, expression.expression)
    }
  })
}

/** Migrates `server.connect(transport)`, if the transport is stdio. */
function migrateConnect(file: FileMigration, call: ts.CallExpression, server: ts.Expression): void {
  const { ts } = file
  const [transport] = call.arguments
  if (!transport || file.sdkTypeOf(server) !== 'McpServer') return
  if (file.sdkTypeOf(transport) !== 'StdioServerTransport') return
  const serveStdio = file.importName(`edgewise/${file.runtime}`, 'serveStdio')
  const { parent } = call
  const statement = ts.isAwaitExpression(parent) ? parent.parent : undefined
  // The promise of `serveStdio` resolves when the connection ends, so later statements must not wait for it
  if (statement && ts.isExpressionStatement(statement) && !isLast(file, statement)) {
    file.replace(parent, `void ${serveStdio}(${file.migratedText(server)})`)
  } else {
    file.replace(call, `${serveStdio}(${file.migratedText(server)})`)
  }
  removeTransport(file, transport)
}

/** Whether a statement is the last one of its module or function. */
function isLast({ ts }: FileMigration, statement: ts.Statement): boolean {
  const { parent } = statement
  if (!ts.isBlock(parent) && !ts.isSourceFile(parent)) return true
  if (parent.statements.at(-1) !== statement) return false
  // In a `try` block, the `try` statement must be the last one too
  return !ts.isTryStatement(parent.parent) || isLastInParent(parent.parent)

  function isLastInParent(outer: ts.Statement): boolean {
    const block = outer.parent
    return !ts.isBlock(block) || block.statements.at(-1) === outer
  }
}

/** Marks the arguments of a transport. If nothing else uses the transport, removes its declaration. */
function removeTransport(file: FileMigration, transport: ts.Expression): void {
  const { ts } = file
  const declaration = ts.isIdentifier(transport) ? file.declarationOf(transport) : undefined
  const creation =
    declaration && ts.isVariableDeclaration(declaration) ? declaration.initializer : transport
  if (creation && ts.isNewExpression(creation) && (creation.arguments?.length ?? 0) > 0) {
    file.mark(
      creation,
      'server',
      'The transport had arguments: serveStdio always uses the streams of the process',
    )
  }
  if (!declaration || !ts.isVariableDeclaration(declaration)) return
  const otherUses = referencesTo(file, declaration).filter((each) => each !== transport)
  const statement = declaration.parent.parent
  if (otherUses.length === 0 && ts.isVariableStatement(statement)) file.remove(statement)
}

/** Migrates `serveStdio(factory, options)` of v2. */
function migrateServeStdio(file: FileMigration, call: ts.CallExpression): void {
  const [factory] = call.arguments
  if (!factory) return
  file.replace(call.expression, file.importName(`edgewise/${file.runtime}`, 'serveStdio'))
  callFactory(file, factory)
  const options = call.arguments[1]
  if (options) {
    file.mark(options, 'officialV2', 'serveStdio of Edgewise has other options')
    file.edits.replace(factory.end, options.end, '')
  }
}

/**
 * Replaces a function that creates a server, such as `factory`, with its call, `factory()`: in Edgewise, one server
 * serves all requests.
 */
export function callFactory(file: FileMigration, factory: ts.Expression): void {
  const { ts } = file
  const inner = unwrap(file, factory)
  const declared = functionOf(file, factory)
  if (declared && declared.parameters.length > 0 && !declared.parameters.every(isOptional)) {
    file.mark(factory, 'officialV2', 'The function received a context: use ctx in handlers instead')
  }
  markSharedState(file, declared)
  const isAsync = declared?.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword)
  const prefix = isAsync ? 'await ' : ''
  const args = declared?.parameters.some((each) => !isOptional(each)) ? contextPlaceholder() : ''
  if (isInlineFunction(file, inner) && !ts.isBlock(inner.body) && inner.parameters.length === 0) {
    // `() => createServer()` becomes `createServer()`
    file.edits.replace(inner.getStart(file.source), inner.body.getStart(file.source), prefix)
  } else if (isInlineFunction(file, inner)) {
    // `() => { … }` becomes `(() => { … })()`
    file.insertBefore(factory, `${prefix}(`)
    file.insertAfter(factory, `)(${args})`)
  } else {
    // `createServer` becomes `createServer()`
    if (prefix !== '') file.insertBefore(factory, prefix)
    file.insertAfter(factory, `(${args})`)
  }

  function isOptional(parameter: ts.ParameterDeclaration): boolean {
    return parameter.questionToken !== undefined || parameter.initializer !== undefined
  }

  /** The argument in place of the context, which Edgewise does not pass. */
  function contextPlaceholder(): string {
    file.usesNotMigrated = true
    return `notMigrated(${file.quote('context')})`
  }
}

/**
 * Marks the variables in a server factory that hold state. After the migration, the factory runs only once, so all
 * callers share these variables.
 */
export function markSharedState(
  file: FileMigration,
  factory: ts.FunctionLikeDeclaration | undefined,
): void {
  const { ts } = file
  const body = factory?.body
  const migration = factory && file.migrationOf(factory)
  if (!migration || !body || !ts.isBlock(body)) return
  for (const statement of body.statements) {
    if (!ts.isVariableStatement(statement)) continue
    const { declarations, flags } = statement.declarationList
    const isConst = (flags & ts.NodeFlags.Const) !== 0
    const createsCollection = declarations.some(
      ({ initializer }) =>
        initializer !== undefined &&
        ts.isNewExpression(initializer) &&
        /^(?:Map|Set|WeakMap|Array)$/.test(migration.text(initializer.expression)),
    )
    if (!isConst || createsCollection)
      migration.mark(
        statement,
        'sharedState',
        'All callers share this variable, because they share the server',
      )
  }
}
