/**
 * One request from the caller's point of view. The request is checked, answered from the cache, retried
 * if the protocol requires that, and repeated until the server has all the input that it needs.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { sleep } from '../patterns/abort.ts'
import { backoffMs } from '../patterns/backoff.ts'
import { SdkError } from '../protocol/errors.ts'
import { findMethod, methods, offers, type MethodFacts } from '../protocol/methods.ts'
import { COMPLETIONS_CAPABILITY, supports } from '../protocol/revision-features.ts'
import type { InputRequiredResult, Result, JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { checkResult, invalidResult, isComplete } from './check-result.ts'
import type { Connection } from './connection.ts'
import type { ExtensionRequest } from './extension.ts'
import type { RequestOptions } from './request-options.ts'
import { recover } from './recover.ts'
import { restoreSession } from './restore-session.ts'

/**
 * The initial delay before a request is repeated because the server returned only a `requestState`,
 * without any input requests, in milliseconds.
 */
const INITIAL_DELAY_MS = 50
/** The maximum of this delay, in milliseconds. */
const MAX_DELAY_MS = 5_000

/**
 * Sends a request and waits for its complete result.
 *
 * @throws {SdkError} `UNSUPPORTED` or `CAPABILITY_MISSING` before anything is sent; `INVALID_MESSAGE` if
 *   the result does not match its method; `LIMIT_EXCEEDED` if the server asks for input too often.
 * @throws {ProtocolError} The error that the server responded with.
 */
export async function request(
  connection: Connection,
  method: string,
  params: JsonObject = {},
  options: RequestOptions = {},
): Promise<Result> {
  const facts = requireMethod(connection, method)
  const extensionRequest = { client: connection.client, method, params, options }
  const execution = askExtensions(connection, extensionRequest)
  if (execution) return execution
  const lookup = facts?.cacheable
    ? await connection.cache?.lookup(extensionRequest, connection.channel)
    : undefined
  if (lookup?.result) return lookup.result
  const send = (roundParams: JsonObject): Promise<Result> =>
    connection.request(options, (roundOptions) =>
      roundTrip(connection, method, roundParams, roundOptions, facts),
    )
  const { maxRounds = 10 } = connection.options
  let result = await send(params)
  let round = 0
  for (; facts?.mayAsk && isInputRequired(result); round++) {
    if (options.input === 'manual') return result
    const { inputRequests, requestState } = result
    if (round >= maxRounds) {
      const openRequests = JSON.stringify(Object.keys(inputRequests ?? {}))
      const message = `"${method}" reached "maxRounds" (${maxRounds}): the server asks for ${openRequests}`
      throw new SdkError('LIMIT_EXCEEDED', message, { data: result })
    }
    if (!inputRequests)
      await sleep(backoffMs(round, INITIAL_DELAY_MS, MAX_DELAY_MS), options.signal)
    const { signal } = options
    const { inputHandlers } = connection
    const inputResponses =
      inputRequests &&
      (await inputHandlers.answerInputs(method, inputRequests, signal, options, extensionRequest))
    // The original params with this round's responses only
    result = await send({ ...params, inputResponses, requestState })
  }
  if (isComplete(result)) {
    checkResult(connection, method, result, params)
    // Results that depend on input are not cached
    if (round === 0) lookup?.store(result)
    return result
  }
  const completion = askExtensions(connection, extensionRequest, result)
  if (!completion) throw invalidResult(method, result)
  return checkResult(connection, method, await completion, params)
}

/**
 * Offers a request to the extensions. Before the request is sent, an extension may execute it instead.
 * When a result has the type of an extension, that extension completes the result. Undefined if no
 * extension does either.
 */
function askExtensions(
  { options: { extensions = [] } }: Connection,
  request: ExtensionRequest,
  result?: Result,
): Promise<Result> | undefined {
  for (const extension of extensions) {
    const followed = extension.follow(request, result)
    if (followed) return followed
  }
}

/**
 * Checks that a method can be requested, and returns its facts; undefined for methods outside the core
 * protocol.
 *
 * @throws {SdkError} `UNSUPPORTED` or `CAPABILITY_MISSING`.
 */
function requireMethod(connection: Connection, method: string): MethodFacts | undefined {
  const { revision, serverCapabilities } = connection
  const facts = findMethod(method, revision)
  if (!facts || method === 'initialize' || method === 'subscriptions/listen') {
    if (!methods.has(method)) return undefined
    if (facts) {
      const sender = method === 'initialize' ? 'connect' : 'client.listen'
      throw new SdkError('UNSUPPORTED', `"${method}" cannot be requested: use "${sender}"`)
    }
    throw new SdkError(
      'UNSUPPORTED',
      `"${method}" is not a request of revision "${revision.version}"`,
    )
  }
  if (!serverCapabilities || offers(serverCapabilities, facts)) return facts
  // 2024-11-05 has completions, but no capability for them
  if (method === 'completion/complete' && !supports(revision, COMPLETIONS_CAPABILITY)) return facts
  throw new SdkError('CAPABILITY_MISSING', `The server does not offer "${method}"`)
}

/** Sends a request once, or twice after a failure that the client can recover from. */
async function roundTrip(
  connection: Connection,
  method: string,
  params: JsonObject,
  options: RequestOptions,
  facts: MethodFacts | undefined,
): Promise<JsonObject> {
  for (let attempt = 0; ; attempt++) {
    if (connection.channel.lost) await restoreSession(connection)
    const call = connection.start(method, params, options, paramHeaders(connection, method, params))
    try {
      const result = await call.result
      connection.confirm()
      return result
    } catch (error) {
      if (attempt > 0 || !(await recover(connection, method, error, facts, options))) throw error
    }
  }
}

/** The headers that repeat arguments of a tool call. */
function paramHeaders(
  connection: Connection,
  method: string,
  params: JsonObject,
): Readonly<Record<string, string>> | undefined {
  if (method !== 'tools/call' || !connection.repeatsInHeaders) return undefined
  const { name, arguments: args } = params
  return connection.tools.headers(String(name), isObject(args) ? args : {})
}

/** Whether a result asks for input before the request can be completed. */
function isInputRequired(result: Result): result is InputRequiredResult {
  const { inputRequests, requestState } = result
  return (
    result.resultType === 'input_required' &&
    (inputRequests === undefined || isObject(inputRequests)) &&
    (requestState === undefined || typeof requestState === 'string') &&
    (inputRequests !== undefined || requestState !== undefined)
  )
}
