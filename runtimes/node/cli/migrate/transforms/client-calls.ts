/**
 * Migrates the requests and notifications that a handler sends to the client. They become calls of methods of the
 * handler's context.
 */
import type ts from 'typescript'
import type { FileMigration } from '../file-migration.ts'
import { handlerAround } from './handlers.ts'
import {
  membersOf,
  removeMembers,
  renameMember,
  stringOf,
  unwrap,
  valueOf,
  walk,
} from './syntax.ts'

/** How one member of a server or a context is migrated. */
interface ClientCall {
  /**
   * Replaces a call in a handler.
   *
   * @param context The name of the handler's context.
   * @returns Whether the call was replaced.
   */
  readonly migrate: (file: FileMigration, call: ts.CallExpression, context: string) => boolean
  /** What the author should do about a call that was not replaced. */
  readonly instead: string
}

const request: ClientCall = {
  migrate: migrateRequest,
  instead: 'Use ctx.sample, ctx.elicit or ctx.roots in a handler',
}
const notification: ClientCall = {
  migrate: migrateNotification,
  instead: 'Use ctx.progress or ctx.log in a handler, or server.notify',
}
const sampling: ClientCall = { migrate: migrateSampling, instead: 'Use ctx.sample in a handler' }
const elicitation: ClientCall = {
  migrate: migrateElicitation,
  instead: 'Use ctx.elicit or ctx.elicitUrl in a handler',
}
const roots: ClientCall = { migrate: migrateRoots, instead: 'Use ctx.roots in a handler' }

/** The members that send a request or a notification to the client. */
export const clientCalls: Readonly<Record<string, ClientCall>> = {
  // Members of a server or an `McpAgent`
  request,
  notification,
  createMessage: sampling,
  elicitInput: elicitation,
  listRoots: roots,
  sendLoggingMessage: { migrate: migrateLogParams, instead: 'Use ctx.log in a handler' },
  // Members of the context in v1
  sendRequest: request,
  sendNotification: notification,
  // Members of the context in v2
  'mcpReq.send': request,
  'mcpReq.notify': notification,
  'mcpReq.requestSampling': sampling,
  'mcpReq.elicitInput': elicitation,
  'mcpReq.log': { migrate: migrateLog, instead: 'Use ctx.log' },
}

/** Migrates a notification that is passed as an object. */
function migrateNotification(
  file: FileMigration,
  call: ts.CallExpression,
  context: string,
): boolean {
  const { ts } = file
  const literal = call.arguments[0] && unwrap(file, call.arguments[0])
  if (!literal || !ts.isObjectLiteralExpression(literal)) return false
  const members = membersOf(file, literal)
  const paramsValue = valueOf(file, members.get('params'))
  const params = paramsValue && unwrap(file, paramsValue)
  if (!params || !ts.isObjectLiteralExpression(params)) return false
  const values = membersOf(file, params)
  const hasUnnamedMembers = values.size !== params.properties.length
  if (hasUnnamedMembers) return false
  const textOf = (name: string): string | undefined => {
    const value = valueOf(file, values.get(name))
    return value && valueText(file, value)
  }
  const method = stringOf(file, valueOf(file, members.get('method')))
  if (method === 'notifications/message') return replaceLog(file, call, context, textOf)
  if (method !== 'notifications/progress') return false
  const progress = textOf('progress')
  if (progress === undefined) return false
  const options = optionsText({ total: textOf('total'), message: textOf('message') })
  file.replace(call, `${context}.progress(${progress}${options})`)
  return true
}

/** Migrates `log(level, data, logger)`. */
function migrateLog(file: FileMigration, call: ts.CallExpression, context: string): boolean {
  const [level, data, logger] = call.arguments
  if (!level || !data) return false
  file.replace(call.expression, `${context}.log`)
  if (logger) file.replace(logger, `{ logger: ${file.text(logger)} }`)
  return true
}

/** Migrates `sendLoggingMessage({ level, data, logger })`. */
function migrateLogParams(file: FileMigration, call: ts.CallExpression, context: string): boolean {
  const { ts } = file
  const params = call.arguments[0] && unwrap(file, call.arguments[0])
  if (!params || !ts.isObjectLiteralExpression(params)) return false
  const values = membersOf(file, params)
  return replaceLog(file, call, context, (name) => {
    const value = valueOf(file, values.get(name))
    return value && valueText(file, value)
  })
}

/**
 * The text of a value for use in the new call. The text of a name is returned as it is, because `optionsText` may turn
 * it into a shorthand member.
 */
function valueText(file: FileMigration, value: ts.Expression): string {
  return file.ts.isIdentifier(value) ? file.text(value) : file.migratedText(value)
}

/** Replaces a call that sends a log message. Returns whether the call was replaced. */
function replaceLog(
  file: FileMigration,
  call: ts.CallExpression,
  context: string,
  textOf: (name: string) => string | undefined,
): boolean {
  const [level, data] = [textOf('level'), textOf('data')]
  if (level === undefined || data === undefined) return false
  file.replace(
    call,
    `${context}.log(${level}, ${data}${optionsText({ logger: textOf('logger') })})`,
  )
  return true
}

/** The text of an object with the defined options, as a further argument of a call; empty if there are none. */
function optionsText(options: Readonly<Record<string, string | undefined>>): string {
  const members = Object.entries(options).flatMap(([name, text]) => {
    if (text === undefined) return []
    return [name === text ? name : `${name}: ${text}`]
  })
  return members.length === 0 ? '' : `, { ${members.join(', ')} }`
}

/** Migrates a request that is passed as an object. It is recognized by its method, or by the schema of its result. */
function migrateRequest(file: FileMigration, call: ts.CallExpression, context: string): boolean {
  const { ts } = file
  const [argument, schema] = call.arguments
  const object = argument && unwrap(file, argument)
  if (!object || !argument) return false
  const members = ts.isObjectLiteralExpression(object) ? membersOf(file, object) : undefined
  const resultSchema = schema && ts.isIdentifier(schema) ? schema.text : ''
  const method = members ? stringOf(file, valueOf(file, members.get('method'))) : undefined
  if (method === 'roots/list' || (!members && resultSchema === 'ListRootsResultSchema')) {
    return migrateRoots(file, call, context)
  }
  const isSampling = members
    ? method === 'sampling/createMessage'
    : resultSchema === 'CreateMessageResultSchema'
  const isElicitation = members
    ? method === 'elicitation/create'
    : resultSchema === 'ElicitResultSchema'
  if (!isSampling && !isElicitation) return false
  if (!members) {
    if (!ts.isIdentifier(object)) return false
    markReplay(file, call)
    const { text } = object
    file.replace(
      call,
      isSampling
        ? `${context}.sample(${text}.params)`
        : `${context}.elicit({ message: ${text}.params.message, schema: ${text}.params.requestedSchema })`,
    )
    return true
  }
  const params = valueOf(file, members.get('params'))
  if (!params || (isElicitation && !migrateForm(file, params))) return false
  markReplay(file, call)
  const { source, edits } = file
  edits.replace(
    call.getStart(source),
    params.getStart(source),
    `${context}.${isSampling ? 'sample' : 'elicit'}(`,
  )
  edits.replace(params.end, call.end, ')')
  return true
}

/** Migrates `createMessage(params)`. */
function migrateSampling(file: FileMigration, call: ts.CallExpression, context: string): boolean {
  const [params] = call.arguments
  if (!params) return false
  markReplay(file, call)
  replaceCallee(file, call, params, `${context}.sample`)
  return true
}

/** Migrates `elicitInput(params)`. */
function migrateElicitation(
  file: FileMigration,
  call: ts.CallExpression,
  context: string,
): boolean {
  const [params] = call.arguments
  if (!params || !migrateForm(file, params)) return false
  markReplay(file, call)
  replaceCallee(file, call, params, `${context}.elicit`)
  return true
}

/** Migrates `listRoots()`, whose result is an object. */
function migrateRoots(file: FileMigration, call: ts.CallExpression, context: string): boolean {
  const { ts } = file
  if (!ts.isAwaitExpression(call.parent)) return false
  markReplay(file, call)
  file.replace(call.parent, `{ roots: await ${context}.roots() }`)
  return true
}

/** Marks a call that asks the client for input, if the handler makes calls before it: these calls run again. */
function markReplay(file: FileMigration, call: ts.CallExpression): void {
  const { ts } = file
  const body = handlerAround(file, call)?.node.body
  const start = call.getStart(file.source)
  let hasEarlierCall = false
  if (body) {
    walk(file, body, (node) => {
      hasEarlierCall ||= ts.isCallExpression(node) && node.end < start
    })
  }
  if (!hasEarlierCall) return
  file.mark(
    call,
    'replay',
    'In revision 2026-07-28, the handler runs again when the answer arrives: put what must happen once into ctx.step',
  )
}

/** Replaces the function of a call, and removes the request's options. */
function replaceCallee(
  file: FileMigration,
  call: ts.CallExpression,
  params: ts.Expression,
  callee: string,
): void {
  file.replace(call.expression, callee)
  const lastArgument = call.arguments.at(-1)
  if (lastArgument && lastArgument !== params) {
    file.edits.replace(params.end, lastArgument.end, '')
  }
}

/** Migrates the parameters of an elicitation with a form. Returns false for any other elicitation. */
function migrateForm(file: FileMigration, node: ts.Expression): boolean {
  const { ts } = file
  const params = unwrap(file, node)
  if (!ts.isObjectLiteralExpression(params)) return false
  const members = membersOf(file, params)
  const [mode, schema] = [members.get('mode'), members.get('requestedSchema')]
  if (!schema || (mode && stringOf(file, valueOf(file, mode)) !== 'form')) return false
  if (mode) removeMembers(file, params, [mode])
  renameMember(file, schema, 'schema')
  return true
}
