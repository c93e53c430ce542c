/**
 * One request from the caller's view: gated, kept, repeated where the protocol says so, and
 * carried on until the server has all the input that it asks for.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import {
  HEADER_MISMATCH,
  McpError,
  ProtocolError,
  UNSUPPORTED_PROTOCOL_VERSION,
} from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { findMethod, methods, type MethodFacts } from '../protocol/methods.ts'
import type { InputRequiredResult, Result, Tool } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import { sleep } from './delay.ts'
import { answerInputs } from './input.ts'
import type { RequestOptions } from './options.ts'
import { chooseVersion, mismatch, supportedBy } from './versions.ts'

/** The member that a result must have as an array. */
const arrays = new Map([
  ['tools/list', 'tools'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
  ['prompts/list', 'prompts'],
  ['resources/read', 'contents'],
  ['prompts/get', 'messages'],
])

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
  params: JsonObject | undefined,
  options: RequestOptions = {},
): Promise<Result> {
  const facts = gate(connection, method)
  const principal = facts?.cacheable ? await keeper(connection, params) : undefined
  if (principal !== undefined && !options.fresh) {
    const kept = connection.cache.get(method, params ?? {}, principal)
    if (kept) return kept
  }
  const maxRounds = connection.options.maxRounds ?? 10
  let asked = params
  let pauses = 0
  for (let round = 0; ; round++) {
    const result: Result = await roundTrip(connection, method, asked, options, facts)
    if ((result.resultType ?? 'complete') === 'complete') {
      check(connection, method, result)
      if (principal !== undefined && round === 0) {
        connection.cache.set(method, params ?? {}, result, principal)
      }
      return result
    }
    if (!facts?.asks || !isInputRequired(result)) throw invalid(method, result)
    if (options.input === 'manual') return result
    if (round >= maxRounds) {
      throw new McpError('LIMIT_EXCEEDED', `"${method}" was asked for input ${maxRounds} times`)
    }
    if (!result.inputRequests) {
      await sleep(Math.min(PAUSE_MS * 2 ** pauses++, MAX_PAUSE_MS), options.signal)
    }
    asked = await inputParams(connection, method, params, result, options)
  }
}

/** The facts of a method that may be called now; nothing for a method that is not the core's. */
function gate(connection: Connection, method: string): MethodFacts | undefined {
  const { revision, serverCapabilities } = connection
  const facts = findMethod(method, revision)
  if (!facts || method === 'initialize' || method === 'subscriptions/listen') {
    if (!methods.has(method)) return undefined
    throw new McpError(
      'UNSUPPORTED',
      `"${method}" cannot be requested in revision "${revision.version}"`,
    )
  }
  if (!facts.capability || !serverCapabilities || facts.capability(serverCapabilities)) return facts
  // 2024-11-05 has completions, but no capability to tell of them
  if (method === 'completion/complete' && !revision.audio) return facts
  throw new McpError('CAPABILITY_MISSING', `The server does not offer "${method}"`)
}

/** Whose results are to be kept; nobody's when the request is not one that repeats. */
async function keeper(
  connection: Connection,
  params: JsonObject | undefined,
): Promise<string | undefined> {
  if (params && ('requestState' in params || 'inputResponses' in params)) return undefined
  return (await connection.channel.principal?.()) ?? ''
}

/** Sends a request once, or twice when the first failure can be mended. */
async function roundTrip(
  connection: Connection,
  method: string,
  params: JsonObject | undefined,
  options: RequestOptions,
  facts: MethodFacts | undefined,
): Promise<JsonObject> {
  for (let attempt = 0; ; attempt++) {
    if (connection.channel.lost) await connection.restore?.()
    const call = connection.start(method, params, options, paramHeaders(connection, method, params))
    try {
      const result = await call.result
      connection.reprobe = undefined
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
  params: JsonObject | undefined,
): Readonly<Record<string, string>> | undefined {
  if (method !== 'tools/call' || !connection.mirrors || !params) return undefined
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
  if (connection.reprobe && (await connection.reprobe(error))) return true
  if (error instanceof McpError) {
    if (error.code === 'SESSION_LOST' && connection.restore) {
      await connection.restore()
      return true
    }
    // An answer that was lost on its way; only what changes nothing is asked for again
    return error.code === 'NETWORK' && error.data !== undefined && facts?.cacheable === true
  }
  if (!(error instanceof ProtocolError)) return false
  if (error.code === HEADER_MISMATCH && call.message.method === 'tools/call') {
    await connection.refreshTools?.(options)
    return connection.mirrors
  }
  return error.code === UNSUPPORTED_PROTOCOL_VERSION && changeVersion(connection, error)
}

/** Goes on with another version that both sides know. */
function changeVersion(connection: Connection, error: ProtocolError): boolean {
  const { versions, revision } = connection
  const { modern } = versions
  if (!modern.includes(revision)) return false
  const left = modern.filter((facts) => facts !== revision)
  const next = chooseVersion(left, supportedBy(error))
  if (!next) throw mismatch(modern, supportedBy(error), error)
  connection.speak(next)
  return true
}

function isInputRequired(result: Result): result is InputRequiredResult {
  const { inputRequests, requestState } = result
  return (
    result.resultType === 'input_required' &&
    (inputRequests === undefined || isObject(inputRequests)) &&
    (requestState === undefined || typeof requestState === 'string') &&
    (inputRequests ?? requestState) !== undefined
  )
}

/** The original params with the answers of this round, and only these. */
async function inputParams(
  connection: Connection,
  method: string,
  params: JsonObject | undefined,
  result: InputRequiredResult,
  { signal }: RequestOptions,
): Promise<JsonObject> {
  const { inputRequests, requestState } = result
  const { inputResponses: _, requestState: __, ...original } = params ?? {}
  return {
    ...original,
    ...(inputRequests && {
      inputResponses: await answerInputs(connection, method, inputRequests, signal),
    }),
    ...(requestState !== undefined && { requestState }),
  }
}

/** Refuses a complete result without what its method promises. */
function check(connection: Connection, method: string, result: Result): void {
  const member = arrays.get(method)
  if (member && !Array.isArray(result[member])) throw invalid(method, result)
  if (method === 'completion/complete') {
    const { completion } = result
    if (!isObject(completion) || !Array.isArray(completion.values)) throw invalid(method, result)
  }
  if (method === 'tools/list') result.tools = visibleTools(connection, result.tools as Tool[])
}

/** The tools that can be called; HTTP clients of 2026-07-28 leave out those with bad annotations. */
function visibleTools(connection: Connection, tools: readonly Tool[]): Tool[] {
  if (!connection.mirrors) return connection.tools.remember(tools)
  return connection.tools.remember(tools, (name, fault) => {
    connection.problem(new McpError('INVALID_MESSAGE', `Tool "${name}" is hidden: ${fault}`))
  })
}

function invalid(method: string, result: Result): McpError {
  return new McpError('INVALID_MESSAGE', `"${method}" got a result that it cannot have`, {
    data: result,
  })
}
