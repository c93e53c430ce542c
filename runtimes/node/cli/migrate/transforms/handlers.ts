/**
 * Finds handlers, and rewrites their parameters.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import type { Handler } from '../handler.ts'
import { functionOf, isInlineFunction, referencesTo, unwrap, walk } from './syntax.ts'

/** The position of the context among the parameters in the old SDKs. */
function contextIndex(kind: Handler['kind'], hasInput: boolean): number {
  if (kind === 'template') return 2
  return kind === 'resource' || hasInput ? 1 : 0
}

/** Records a handler. Wraps a handler that is defined elsewhere, if its parameters differ. */
export function addHandler(
  file: FileMigration,
  kind: Handler['kind'],
  hasInput: boolean,
  node: ts.Expression,
): void {
  const inner = unwrap(file, node)
  const index = contextIndex(kind, hasInput)
  if (isInlineFunction(file, inner)) {
    const context = inner.parameters[index]
    file.handlers.set(inner, { kind, hasInput, node: inner, context, needsContext: false })
    return
  }
  const declared = functionOf(file, node)
  if (declared && kind === 'tool') file.declaredHandlers.add(declared)
  // A function needs no change if it has no parameters, or its first parameter is the input
  if (declared?.parameters.length === 0) return
  if ((kind === 'tool' || kind === 'prompt') && hasInput) return
  const count = declared?.parameters.length ?? index + 1
  const text = file.migratedText(node)
  const isName = file.ts.isIdentifier(inner) || file.ts.isPropertyAccessExpression(inner)
  const callee = isName ? text : `(${text})`
  if (kind === 'tool' || kind === 'prompt') {
    file.replace(node, `(_args, ctx) => ${callee}(ctx)`)
    return
  }
  const args = ['new URL(uri)', ...(kind === 'template' ? ['variables'] : []), 'ctx'].slice(
    0,
    count,
  )
  const request = args.includes('variables') ? '{ uri, variables }' : '{ uri }'
  const parameters = args.includes('ctx') ? `${request}, ctx` : request
  file.replace(node, `(${parameters}) => ${callee}(${args.join(', ')})`)
}

/**
 * Removes the return type of a handler, which would hide the type of its structured content.
 */
export function removeResultType(file: FileMigration, node: ts.Expression): void {
  const handler = functionOf(file, node)
  const owner = handler && file.migrationOf(handler)
  const type = handler?.type
  if (!owner || !type || !/\bCallToolResult\b/.test(owner.text(type))) return
  const colon = owner.source.text.lastIndexOf(':', type.getStart(owner.source))
  owner.edits.replace(colon, type.end, '')
}

/** The innermost handler that contains a node. */
export function handlerAround(file: FileMigration, node: ts.Node): Handler | undefined {
  for (let outer = node.parent as ts.Node | undefined; outer; outer = outer.parent) {
    const handler = file.handlers.get(outer)
    if (handler) return handler
  }
  return undefined
}

/** The name of the context in a handler. */
export function contextNameIn(
  file: FileMigration,
  { node, context, needsContext }: Handler,
): string {
  const { ts } = file
  const oldName = context && ts.isIdentifier(context.name) ? context.name.text : undefined
  if (oldName !== undefined) {
    const isUnused = oldName.startsWith('_')
    const mayRemain = isUnused ? !needsContext : oldName !== 'extra'
    if (mayRemain) return oldName
  }
  let isTaken = false
  walk(file, node, (each) => {
    isTaken ||= ts.isIdentifier(each) && each.text === 'ctx'
  })
  return isTaken ? (oldName ?? 'context') : 'ctx'
}

/** Rewrites the parameters of all handlers. Must run after all steps that may need a handler's context. */
export function migrateParameters(file: FileMigration): void {
  for (const handler of file.handlers.values()) {
    if (!file.isDone(handler.node)) rewriteParameters(file, handler)
  }
}

/**
 * Rewrites the parameters of a handler. The handler of a tool or a prompt receives the input and the context. The handler
 * of a resource or a template receives an object with the URI and the variables, and the context.
 */
function rewriteParameters(file: FileMigration, handler: Handler): void {
  const { ts } = file
  const { kind, hasInput, node, context, needsContext } = handler
  const name = contextNameIn(file, handler)
  const contextText = context || needsContext ? contextParameter(file, context, name) : undefined
  const { parameters } = node
  if (kind === 'tool' || kind === 'prompt') {
    const argsParameter = hasInput ? parameters[0] : undefined
    if (hasInput && context) {
      file.replace(context, contextText ?? name)
    } else if (contextText !== undefined) {
      const args = argsParameter ? file.text(argsParameter) : '_args'
      setParameters(file, node, `${args}, ${contextText}`)
    }
    return
  }
  const [uri, variables] = parameters
  if (!uri) {
    if (contextText !== undefined) setParameters(file, node, `_request, ${contextText}`)
    return
  }
  const members: string[] = []
  if (!migrateUri(file, uri, members)) return
  if (kind === 'template' && variables) {
    const text = file.text(variables.name)
    if (ts.isObjectBindingPattern(variables.name)) members.push(`variables: ${text}`)
    else if (referencesTo(file, variables).length > 0)
      members.push(text === 'variables' ? text : `variables: ${text}`)
  }
  const request = members.length > 0 ? `{ ${members.join(', ')} }` : '_request'
  const contextPart = contextText === undefined ? '' : `, ${contextText}`
  const hasParameters = members.length > 0 || contextPart !== ''
  setParameters(file, node, hasParameters ? request + contextPart : '')
}

/**
 * Adapts the handler of a resource, which received a `URL` and now receives the URI as a string. Adds the URI to
 * `members`, the members that the handler reads from its first parameter. Returns false if the handler must be migrated
 * by hand.
 */
function migrateUri(file: FileMigration, uri: ts.ParameterDeclaration, members: string[]): boolean {
  const { ts } = file
  if (!ts.isIdentifier(uri.name)) {
    file.mark(
      uri,
      'handlers',
      'The handler receives { uri, variables }, in which the URI is a string',
    )
    return false
  }
  const references = referencesTo(file, uri)
  if (references.length === 0) return true
  const name = uri.name.text
  members.push(name === 'uri' ? name : `uri: ${name}`)
  for (const reference of references) {
    const { parent } = reference
    const isAccess = ts.isPropertyAccessExpression(parent) && parent.expression === reference
    const member = isAccess ? parent.name.text : undefined
    if (isAccess && member === 'href') {
      file.replace(parent, name)
    } else if (isAccess && member === 'toString' && ts.isCallExpression(parent.parent)) {
      file.replace(parent.parent, name)
    } else if (!ts.isTemplateSpan(parent)) {
      const text = `new URL(${name})`
      file.replace(reference, ts.isShorthandPropertyAssignment(parent) ? `${name}: ${text}` : text)
    }
  }
  return true
}

function contextParameter(
  file: FileMigration,
  context: ts.ParameterDeclaration | undefined,
  name: string,
): string {
  if (!context?.type) return name
  return `${name}: ${file.importName('edgewise/server', 'type Context')}`
}

/** Whether the parameters of a function are in parentheses. */
function hasParentheses(file: FileMigration, node: ts.FunctionLikeDeclaration): boolean {
  const firstParameter = node.parameters[0]
  if (!firstParameter) return true
  return /\(\s*$/.test(
    file.source.text.slice(node.getStart(file.source), firstParameter.getStart(file.source)),
  )
}

/** Replaces all parameters of a function. */
function setParameters(file: FileMigration, node: ts.FunctionLikeDeclaration, text: string): void {
  const { source } = file
  const [firstParameter] = node.parameters
  const lastParameter = node.parameters.at(-1)
  if (firstParameter && lastParameter) {
    const isBare = !hasParentheses(file, node)
    const newText = isBare ? `(${text})` : text
    file.edits.replace(firstParameter.getStart(source), lastParameter.end, newText)
    return
  }
  const parenthesis = source.text.indexOf('(', node.getStart(source))
  file.edits.insert(parenthesis + 1, text)
}
