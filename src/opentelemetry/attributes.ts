/**
 * The names and attributes of the semantic conventions for MCP. They are in the state "Development", so
 * they may change, and `@opentelemetry/semantic-conventions` does not have all of them.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/
 */
import type { Attributes } from '@opentelemetry/api'
import type { Operation, Outcome } from '../protocol/observation.ts'
import type { JsonObject } from '../protocol/types.ts'

/** The attribute for the code of a JSON-RPC error. */
export const STATUS_CODE = 'rpc.response.status_code'

/** Replaces a text that anyone could choose, such as the name of an unknown method. */
const OTHER = '_OTHER'

/** The name of an operation's span; undefined if the operation has none. */
export function spanName(operation: Operation): string | undefined {
  const { type, method, name = '' } = operation
  switch (type) {
    case 'request':
    case 'notification':
    case 'refusal': {
      const methodName = methodOf(operation)
      return isNamed(method) && operation.isKnown ? `${methodName} ${name}` : methodName
    }
    case 'task':
      return `task ${name}`
    case 'delivery':
      return `webhook ${name}`
    case 'authorization':
      return operation.side === 'client' ? 'authorization' : undefined
    case 'session':
    case 'stream':
    case 'subscription':
    default:
      return undefined
  }
}

/** The attributes of an operation that spans and metrics share. */
export function sharedAttributes(operation: Operation): Attributes {
  const { http, isPipe, revision, method, isKnown, name } = operation
  const attributes: Attributes = {}
  const methodName = methodOf(operation)
  if (methodName !== undefined) attributes['mcp.method.name'] = methodName
  if (isNamed(method) && name !== undefined)
    attributes[nameAttribute(method)] = isKnown ? name : OTHER
  if (method === 'tools/call') attributes['gen_ai.operation.name'] = 'execute_tool'
  if (revision !== undefined) attributes['mcp.protocol.version'] = revision
  if (http) {
    attributes['network.transport'] = 'tcp'
    attributes['network.protocol.name'] = 'http'
  }
  if (isPipe) attributes['network.transport'] = 'pipe'
  if (operation.side === 'client' && operation.direction !== 'received') {
    Object.assign(attributes, serverAttributes(operation.url))
  }
  return attributes
}

/** How much of a text that the other side chose is recorded, in UTF-16 units. */
const MAX_LENGTH = 1_024

function truncate(text: string): string {
  return text.slice(0, MAX_LENGTH)
}

/** The attributes of a span that are known when an operation begins. */
export function spanAttributes(operation: Operation, shared: Attributes): Attributes {
  const { id, method, name, uri, taskId } = operation
  // `Object.assign`, because on Node 20, adding members to an object made by spreading takes microseconds
  const attributes = Object.assign({}, shared)
  // Unlike metrics, spans may contain any name, because they make no time series
  if (isNamed(method) && name !== undefined) attributes[nameAttribute(method)] = truncate(name)
  if (id !== undefined) attributes['jsonrpc.request.id'] = truncate(String(id))
  if (uri !== undefined) attributes['mcp.resource.uri'] = truncate(uri)
  if (taskId !== undefined) attributes['edgewise.task.id'] = taskId
  return attributes
}

/** How many arguments of a prompt are recorded. By default, a span has at most 128 attributes. */
const MAX_VARIABLES = 100

/** The attributes for the result of an operation if it is given, and otherwise for its arguments. */
export function contentAttributes({ method, params }: Operation, result?: JsonObject): Attributes {
  const { arguments: args } = params?.() ?? {}
  if (method === 'tools/call') {
    // Attributes cannot be objects yet
    if (result) return { 'gen_ai.tool.call.result': JSON.stringify(result) }
    return args === undefined ? {} : { 'gen_ai.tool.call.arguments': JSON.stringify(args) }
  }
  if (method !== 'prompts/get' || result) return {}
  const attributes: Attributes = {}
  for (const [key, value] of Object.entries(args ?? {}).slice(0, MAX_VARIABLES)) {
    // The server refuses prompt arguments that are not texts, but only after the span has begun
    attributes[`gen_ai.prompt.variable.${key}`] =
      typeof value === 'string' ? value : JSON.stringify(value)
  }
  return attributes
}

/**
 * The codes of errors that the requester has caused. The responder does not count them as errors of its
 * own.
 */
const REQUESTER_ERRORS: readonly unknown[] = [-32700, -32600, -32601, -32602, -32002]

/** The attributes of an operation that failed; undefined for any other operation. */
export function errorAttributes(
  operation: Operation,
  { outcome, error, status }: Outcome,
): Attributes | undefined {
  if (outcome === 'complete' || outcome === 'input_required') return undefined
  const attributes: Attributes = {}
  const code = error?.code
  if (typeof code === 'number') attributes[STATUS_CODE] = String(code)
  const isResponder = operation.direction === 'received' || operation.type === 'refusal'
  if (outcome === 'cancelled') attributes['error.type'] = 'cancelled'
  else if (outcome === 'failed' && (operation.type === 'request' || operation.type === 'task'))
    attributes['error.type'] = 'tool_error'
  else if (outcome === 'failed' || outcome === 'given_up')
    attributes['error.type'] = status === undefined ? errorType(error) : String(status)
  else if (outcome === 'error' && !(isResponder && REQUESTER_ERRORS.includes(code))) {
    attributes['error.type'] = errorType(error)
  }
  return attributes
}

function errorType({ code, status }: NonNullable<Outcome['error']> = { message: '' }): string {
  if (code === 'TIMEOUT') return 'timeout'
  if (code === 'NETWORK' || code === 'CLOSED' || code === 'SESSION_LOST') return 'connection_lost'
  if (typeof code === 'number') return String(code)
  // A response with the status 200 may still be unusable, for example because of its content type
  const failedStatus = status === 200 ? undefined : status
  return String(failedStatus || code || OTHER)
}

function methodOf({ method, isKnown }: Operation): string | undefined {
  return isKnown || isNamed(method) ? method : method && OTHER
}

/** Whether requests of a method name a tool or a prompt. For them, `isKnown` is about that name. */
function isNamed(method: string | undefined): boolean {
  return method === 'tools/call' || method === 'prompts/get'
}

function nameAttribute(method: string | undefined): string {
  return method === 'tools/call' ? 'gen_ai.tool.name' : 'gen_ai.prompt.name'
}

/** The last URL and its attributes are cached, because parsing takes more time than the rest of a span. */
let lastUrl: string | undefined
let lastAttributes: Attributes = {}

/** The address of the server that a client is connected to. */
function serverAttributes(url: string | undefined): Attributes {
  if (url === undefined) return {}
  if (url !== lastUrl) {
    const { hostname, port, protocol } = new URL(url)
    lastUrl = url
    lastAttributes = {
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'http:' ? 80 : 443),
    }
  }
  return lastAttributes
}
