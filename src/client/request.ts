/**
 * One request from the caller's view: gated, kept, repeated where the protocol says so, and
 * carried on until the server has all the input that it asks for.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { backoffMs } from '../patterns/backoff.ts'
import { statusOf } from '../patterns/transient.ts'
import {
  HEADER_MISMATCH,
  McpError,
  type ProtocolError,
  UNSUPPORTED_PROTOCOL_VERSION,
} from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { findMethod, methods, offers, type MethodFacts } from '../protocol/methods.ts'
import type { InputRequiredResult, Result, Tool } from '../protocol/types.ts'
import { isObject, memberAt } from '../protocol/validate.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import { sleep } from '../patterns/abort.ts'
import { isLegacyEvidence } from './discover.ts'
import type { FollowedRequest } from './extension.ts'
import type { RequestOptions } from './options.ts'

/** The first pause before a request is sent again that nobody had to be asked for, in ms. */
const PAUSE_MS = 50
const MAX_PAUSE_MS = 5_000

/**
 * Sends a request and waits for its complete result.
 *
 * @throws {McpError} `UNSUPPORTED` or `CAPABILITY_MISSING` before anything is sent;
 *   `INVALID_MESSAGE` when the result is none that the method has; `LIMIT_EXCEEDED` when the server
 *   asks for input too often.
 * @throws {ProtocolError} What the server answered.
 */
export async function request(
  connection: Connection,
  method: string,
  params: JsonObject = {},
  options: RequestOptions = {},
): Promise<Result> {
  const facts = gate(connection, method)
  const { cache, channel, client } = connection
  const followed = { client, method, params, options }
  const other = follow(connection, followed)
  if (other) return other
  const lookup =
    cache && facts?.cacheable
      ? await cache.lookup(method, params, channel.principal?.(), options.fresh)
      : undefined
  if (lookup?.found) return lookup.found
  const send = (sent: JsonObject): Promise<Result> =>
    roundTrip(connection, method, sent, options, facts)
  const { maxRounds = 10 } = connection.options
  let result = await send(params)
  let round = 0
  for (; facts?.asks && isInputRequired(result); round++) {
    if (options.input === 'manual') return result
    const { inputRequests, requestState } = result
    if (round >= maxRounds) {
      const left = JSON.stringify(Object.keys(inputRequests ?? {}))
      const what = `"${method}" refuses ${left} after ${maxRounds} rounds`
      throw new McpError('LIMIT_EXCEEDED', what, { data: result })
    }
    if (!inputRequests) await sleep(backoffMs(round, PAUSE_MS, MAX_PAUSE_MS), options.signal)
    const inputResponses =
      inputRequests &&
      (await connection.answers.inputs(method, inputRequests, options.signal, options, followed))
    // The original params with the answers of this round, and only these
    result = await send({ ...params, inputResponses, requestState })
  }
  if (isComplete(result)) {
    check(connection, method, result, params)
    // What the answer to an input request led to holds for this once
    const once = round > 0 || 'requestState' in params || 'inputResponses' in params
    if (!once) lookup?.keep(result)
    return result
  }
  const complete = follow(connection, followed, result)
  if (!complete) throw invalid(method, result)
  return check(connection, method, await complete, params)
}

/**
 * Lets the extension that adds a type of results make a complete one of it, or that sends such a
 * request in a way of its own do so.
 */
function follow(
  { options: { extensions = [] } }: Connection,
  request: FollowedRequest,
  result?: Result,
): Promise<Result> | undefined {
  for (const extension of extensions) {
    const complete = extension.follow(request, result)
    if (complete) return complete
  }
}

/** The facts of a method that may be called now; nothing for a method that is not the core's. */
function gate(connection: Connection, method: string): MethodFacts | undefined {
  const { revision, serverCapabilities } = connection
  const facts = findMethod(method, revision)
  if (!facts || method === 'initialize' || method === 'subscriptions/listen') {
    if (!methods.has(method)) return undefined
    throw new McpError('UNSUPPORTED', `"${method}" is no request of revision "${revision.version}"`)
  }
  if (!serverCapabilities || offers(serverCapabilities, facts)) return facts
  // 2024-11-05 has completions, but no capability to tell of them
  if (method === 'completion/complete' && !revision.audio) return facts
  throw new McpError('CAPABILITY_MISSING', `The server does not offer "${method}"`)
}

/** Sends a request once, or twice when the first failure can be mended. */
async function roundTrip(
  connection: Connection,
  method: string,
  params: JsonObject,
  options: RequestOptions,
  facts: MethodFacts | undefined,
): Promise<JsonObject> {
  for (let attempt = 0; ; attempt++) {
    if (connection.channel.lost) await connection.restore?.()
    const call = connection.start(method, params, options, paramHeaders(connection, method, params))
    try {
      const result = await call.result
      connection.proven = true
      return result
    } catch (error) {
      if (attempt > 0 || !(await mend(connection, call, error, facts, options))) throw error
    }
  }
}

/** The headers that repeat arguments of a tool call. */
function paramHeaders(
  connection: Connection,
  method: string,
  params: JsonObject,
): Readonly<Record<string, string>> | undefined {
  if (method !== 'tools/call' || !connection.mirrors) return undefined
  const { name, arguments: args } = params
  return connection.tools.headers(String(name), isObject(args) ? args : {})
}

/** Whether a request that failed is worth sending again, after what was done about it. */
async function mend(
  connection: Connection,
  call: Call,
  error: unknown,
  facts: MethodFacts | undefined,
  options: RequestOptions,
): Promise<boolean> {
  const { code, data } = error as McpError | ProtocolError
  const disproved = !connection.proven && isLegacyEvidence(error, true) && statusOf(error) !== 200
  if (code === 'SESSION_LOST') await connection.restore?.()
  else if (code === HEADER_MISMATCH && call.message.method === 'tools/call') {
    await connection.refreshTools?.(options)
  } else if (code === UNSUPPORTED_PROTOCOL_VERSION || disproved) await connection.find?.()
  // An answer that was lost on its way; only what changes nothing is asked for again
  else return code === 'NETWORK' && data !== undefined && facts?.cacheable === true
  return true
}

/** Whether a result is the one that its method promises. */
export function isComplete({ resultType = 'complete' }: Result): boolean {
  return resultType === 'complete'
}

/** Whether a server asks for input before it gives the result. */
function isInputRequired(result: Result): result is InputRequiredResult {
  const { inputRequests, requestState } = result
  return (
    result.resultType === 'input_required' &&
    (inputRequests === undefined || isObject(inputRequests)) &&
    (requestState === undefined || typeof requestState === 'string') &&
    (inputRequests ?? requestState) !== undefined
  )
}

/** Refuses a complete result without what its method promises; gives it otherwise. */
function check(
  connection: Connection,
  method: string,
  result: Result,
  { cursor }: JsonObject,
): Result {
  const path = methods.get(method)?.array
  const list = path ? memberAt(result, path) : []
  if (!Array.isArray(list) || !(method === 'completion/complete' || list.every(isObject)))
    throw invalid(method, result)
  if (method === 'tools/list') {
    result.tools = visibleTools(connection, result.tools as Tool[], cursor === undefined)
  }
  return result
}

/** The tools that can be called; HTTP clients of 2026-07-28 leave out those with bad annotations. */
function visibleTools(connection: Connection, tools: readonly Tool[], isFirst: boolean): Tool[] {
  const hide = (name: string, fault: string): void =>
    connection.problem(new McpError('INVALID_MESSAGE', `Tool "${name}" is hidden: ${fault}`))
  return connection.tools.remember(tools, isFirst, connection.mirrors ? hide : undefined)
}

function invalid(method: string, result: Result): McpError {
  return new McpError('INVALID_MESSAGE', `"${method}" got a wrong result`, {
    data: result,
  })
}
