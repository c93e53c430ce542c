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
import { passDirectly, type ExtensionRequest } from './extension.ts'
import { withCallerMeta } from './request-meta.ts'
import type { RequestOptions } from './request-options.ts'
import { recover } from './recover.ts'
import { restoreSession } from './restore-session.ts'

/**
 * The delay, in milliseconds, before a request is repeated for the first time because the server returned
 * only a `requestState`, without input requests. It grows with each further repetition.
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
export function request(
  connection: Connection,
  method: string,
  params: JsonObject = {},
  options: RequestOptions = {},
): Promise<Result> {
  const { client } = connection
  // The caller's `_meta` is added before the middleware, which can change it
  const exchange = { client, method, params: withCallerMeta(params, options.meta), options }
  return connection.pass === passDirectly
    ? send(connection, exchange, check)
    : passThrough(connection, exchange)
}

/** Sends a request through the middleware, which may change its result. */
async function passThrough(connection: Connection, exchange: ExtensionRequest): Promise<Result> {
  // The exchange is both the message and its context
  const result = await connection.pass(exchange, exchange, (passed) => send(connection, passed))
  // Middleware may return nothing
  return check(connection, exchange, result ?? {})
}

/** Checks the result that the caller receives. */
function check(
  connection: Connection,
  { method, params, options }: ExtensionRequest,
  result: Result,
): Result {
  if (isComplete(result)) return checkResult(connection, method, result, params)
  if (options.input === 'manual') return result
  throw invalidResult(method, result)
}

/**
 * Sends a request that has passed through the middleware. The result is complete, unless the caller
 * provides input itself, or the result has the type of an extension.
 *
 * @param checkLast Checks the result. Omitted if middleware may still change the result.
 */
async function send(
  connection: Connection,
  exchange: ExtensionRequest,
  checkLast?: typeof check,
): Promise<Result> {
  const { method, params, options } = exchange
  const facts = requireMethod(connection, method)
  const lookup = facts?.cacheable
    ? await connection.cache?.lookup(exchange, connection.channel)
    : undefined
  if (lookup?.result) return lookup.result
  const sendRound = (roundParams: JsonObject): Promise<Result> =>
    connection.request(options, (roundOptions) =>
      roundTrip(connection, method, roundParams, roundOptions, facts),
    )
  const { maxRounds = 10 } = connection.options
  let result = await sendRound(params)
  let round = 0
  for (; facts?.mayAsk && isInputRequired(result); round++) {
    const { inputRequests, requestState } = result
    const { signal, input } = options
    if (input === 'manual') return result
    if (round >= maxRounds) {
      const openRequests = JSON.stringify(Object.keys(inputRequests ?? {}))
      const message = `"${method}" reached "maxRounds" (${maxRounds}): the server asks for ${openRequests}`
      throw new SdkError('LIMIT_EXCEEDED', message, { data: result })
    }
    if (!inputRequests) await sleep(backoffMs(round, INITIAL_DELAY_MS, MAX_DELAY_MS), signal)
    const inputResponses = inputRequests
      ? await connection.inputHandlers.answerInputs(
          method,
          inputRequests,
          signal,
          options,
          exchange,
        )
      : undefined
    // Each round sends the original params, and only the responses to the latest input requests
    result = await sendRound({ ...params, inputResponses, requestState })
  }
  // Results that depend on input are not cached
  if (isComplete(result) && round === 0) {
    lookup?.store(checkResult(connection, method, result, params))
  }
  return checkLast ? checkLast(connection, exchange, result) : result
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
    const alternative = method === 'initialize' ? 'connect' : 'client.listen'
    const problem = facts
      ? `cannot be requested: use "${alternative}"`
      : `is not a request of revision "${revision.version}"`
    throw new SdkError('UNSUPPORTED', `"${method}" ${problem}`)
  }
  if (!serverCapabilities || offers(serverCapabilities, facts)) return facts
  // 2024-11-05 has completions, but no capability for them
  if (method === 'completion/complete' && !supports(revision, COMPLETIONS_CAPABILITY)) return facts
  throw new SdkError('CAPABILITY_MISSING', `The server does not offer "${method}"`)
}

/** Sends a request. If it fails and the client can recover from the failure, sends it a second time. */
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
  if (method !== 'tools/call' || !connection.isModernHttp) return undefined
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
