/**
 * The messages of a server as operations, for its observer.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import {
  COMPLETE,
  errorEnd,
  resultEnd,
  runObserved,
  targetOf,
  type OngoingOperation,
  type OperationEnd,
} from '../patterns/guard-observer.ts'
import { methods } from '../protocol/methods.ts'
import type { Operation } from '../protocol/observation.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import { readTrace, withTrace } from '../protocol/trace-context.ts'
import type {
  InputRequest,
  JsonObject,
  JsonRpcNotification,
  JsonRpcResponse,
  RequestId,
} from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { Ask } from './request/ask-mode.ts'
import type { Caller, Exchange } from './request/exchange.ts'

/** An operation of a server. */
export type ServerOperation = Omit<Operation, 'side'>

/** Begins an operation of a server. */
export type BeginServerOperation = (operation: ServerOperation) => OngoingOperation

/** The names that a server knows. */
export interface KnownNames {
  readonly tools: { entries(): ReadonlyMap<string, unknown> }
  readonly prompts: { entries(): ReadonlyMap<string, unknown> }
  /** The notifications that extensions handle. */
  readonly notifications?: { has(name: string): boolean }
  readonly extensions?: { method(name: string, revision: RevisionFacts): object | undefined }
}

/** What is known about a message, apart from its content. */
export interface MessageFacts {
  readonly caller: Caller
  readonly revision?: RevisionFacts | undefined
  /** Whether the message travels over HTTP. By default, it does if the caller has a `request`. */
  readonly http?: boolean
}

/** A request, or a notification, which has no id. */
interface Received extends JsonRpcNotification {
  readonly id?: RequestId
}

/** The operation of a request or notification of the client. */
export function receivedOperation(
  known: KnownNames,
  { method, id, params }: Received,
  facts: MessageFacts,
): ServerOperation {
  const { name, uri } = targetOf(params)
  const { caller, revision } = facts
  // A single object literal, which is fast, because every observed call creates it
  return {
    type: id === undefined ? 'notification' : 'request',
    direction: 'received',
    method,
    id,
    name,
    uri,
    isKnown: isKnown(known, method, params, facts),
    revision: revision?.version,
    principal: caller.principal,
    // Not `caller.request`, because reading it may create a copy
    http: 'request' in caller,
    isPipe: caller.isPipe,
    trace: readTrace(params),
    params: () => params,
  }
}

/** The operation of a request or notification of the server. */
function sentOperation(
  type: 'request' | 'notification',
  { method, params }: InputRequest | JsonRpcNotification,
  { caller, revision, http = 'request' in caller }: MessageFacts,
): ServerOperation {
  const { principal, isPipe } = caller
  const { name, uri } = targetOf(params)
  return {
    type,
    direction: 'sent',
    method,
    name,
    uri,
    isKnown: true,
    revision: revision?.version,
    principal,
    http,
    isPipe,
    params: () => params,
  }
}

/** The notifications that clients send. */
const NOTIFICATIONS = /^notifications\/(?:initialized|cancelled|progress|roots\/list_changed)$/

/** Whether the server has the method, and the tool or prompt that the message names. */
function isKnown(
  { tools, prompts, notifications, extensions }: KnownNames,
  method: string,
  params: JsonObject | undefined,
  { revision }: MessageFacts,
): boolean {
  const { name = '' } = targetOf(params)
  if (method === 'tools/call') return tools.entries().has(name)
  if (method === 'prompts/get') return prompts.entries().has(name)
  if (methods.has(method) || NOTIFICATIONS.test(method)) return true
  if (notifications?.has(method)) return true
  return revision !== undefined && extensions?.method(method, revision) !== undefined
}

/** Reads the message of a refused body, if it contains one. */
export function readMessage(text: string): Received | undefined {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(message) || typeof message.method !== 'string') return undefined
  const { method, id, params } = message
  return {
    jsonrpc: '2.0',
    method,
    ...((typeof id === 'string' || typeof id === 'number') && { id }),
    ...(isObject(params) && { params }),
  }
}

/** The outcome of a request that was answered. */
export function responseEnd(response: JsonRpcResponse, isCancelled: boolean): OperationEnd {
  const end = 'error' in response ? errorEnd(response.error) : resultEnd(response.result)
  return isCancelled ? { ...end, outcome: 'cancelled' } : end
}

/** Wraps an exchange, so that its notifications to the client are observed. */
export function observeSending(exchange: Exchange, begin: BeginServerOperation): Exchange {
  const send: Exchange['send'] = (message) => exchange.send(message)
  return { ...exchange, send: observeNotifications(send, exchange, begin) }
}

/** Wraps a function that sends notifications, so that they are observed. */
export function observeNotifications(
  send: Exchange['send'],
  facts: MessageFacts,
  begin: BeginServerOperation,
): Exchange['send'] {
  return (message) => {
    const ongoing = begin(sentOperation('notification', message, facts))
    const { trace } = ongoing
    const traced = trace ? { ...message, params: { ...withTrace(message.params, trace) } } : message
    let sending: ReturnType<Exchange['send']>
    try {
      sending = ongoing.run(() => send(traced))
    } catch (error) {
      ongoing.end(errorEnd(error))
      throw error
    }
    if (!sending) return ongoing.end(COMPLETE)
    return runObserved(ongoing, () => sending, sendingEnd)
  }
}

/** The outcome of sending a notification. `failure` is what the promise of `send` resolved with: an error, or nothing. */
function sendingEnd(failure: unknown): OperationEnd {
  return failure ? errorEnd(failure) : COMPLETE
}

/** Wraps a function that sends requests to the client, so that they are observed. */
export function observeAsk(ask: Ask, facts: MessageFacts, begin: BeginServerOperation): Ask {
  return (message, signal, onIdAssigned) => {
    let id: RequestId | undefined
    const ongoing = begin(sentOperation('request', message, facts))
    const { method, params } = message
    const traced = withTrace(params, ongoing.trace)
    const request: InputRequest = { method, ...(traced && { params: traced }) }
    const work = (): Promise<JsonObject> =>
      ask(request, signal, (sentId) => {
        id = sentId
        onIdAssigned?.(sentId)
      })
    // The id is known once the request was sent, even if it fails
    const withId = { ...ongoing, end: (end: OperationEnd) => ongoing.end({ ...end, id }) }
    return runObserved(withId, work, resultEnd)
  }
}
