/**
 * Checks how a server answers a request with an unknown method, a call of an unknown tool, and a ping. The requests are
 * sent by a client, so these checks apply to every transport.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#error-handling
 */
import type { Client } from '../client/client.ts'
import { ProtocolError, SdkError } from '../protocol/errors.ts'
import { findRevision } from '../protocol/revisions.ts'
import type { JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { MAYBE_SLOW } from './endpoint.ts'
import { finding, rules, type Finding } from './rules.ts'

/** A method that no server has. */
export const UNKNOWN_METHOD = 'edgewise/unknown'
/** The parameters of a call of a tool that no server has. */
export const UNKNOWN_CALL = { name: 'edgewise-unknown-tool', arguments: {} }

/** Checks the answer to an unknown method. */
export async function* checkUnknownMethod(
  client: Client,
  signal?: AbortSignal,
): AsyncGenerator<Finding> {
  const answer = await send(client, UNKNOWN_METHOD, {}, signal)
  if (typeof answer === 'string') yield finding('no-response', answer)
  else if (codeOf(answer) !== -32601) yield unknownMethodFinding(describe(answer))
}

/** Checks the answer to a call of an unknown tool, if the server has tools. */
export async function* checkUnknownTool(
  client: Client,
  signal?: AbortSignal,
): AsyncGenerator<Finding> {
  if (!client.serverCapabilities?.tools) return
  const answer = await send(client, 'tools/call', UNKNOWN_CALL, signal)
  if (typeof answer === 'string') yield finding('no-response', answer)
  else if (codeOf(answer) !== -32602) yield unknownToolFinding(answer, describe(answer))
}

/** Checks the answer to a ping, in the revisions that have it. */
export async function* checkPing(client: Client, signal?: AbortSignal): AsyncGenerator<Finding> {
  if (findRevision(client.revision)?.era !== 'legacy') return
  const answer = await send(client, 'ping', {}, signal)
  if (typeof answer === 'string') yield finding('no-response', answer)
  else yield* pingFindings(answer, describe(answer))
}

/** The finding that an unknown method was not answered with the right error. */
export function unknownMethodFinding(actual: string): Finding {
  return finding('unknown-method', `The method "${UNKNOWN_METHOD}" was answered with ${actual}`)
}

/**
 * The finding that a call of an unknown tool was not answered with the right error.
 *
 * @param answer The JSON-RPC response, if there is one.
 * @param description Describes the answer.
 */
export function unknownToolFinding(answer: JsonObject | undefined, description: string): Finding {
  const { result, error } = answer ?? {}
  const isError = isObject(result) && result.isError === true
  const actual = isError ? 'a result with "isError": true' : description
  const message = `"tools/call" was sent with the name "${UNKNOWN_CALL.name}", which no tool has. It was answered with ${actual}, instead of the error -32602`
  // Clients notice other errors too
  const severity = isError || error ? 'note' : rules['unknown-tool'].severity
  return finding('unknown-tool', message, undefined, severity)
}

/**
 * The finding that a ping was not answered with an empty result, if it was not.
 *
 * @param answer The JSON-RPC response, if there is one.
 * @param description Describes the answer.
 */
export function* pingFindings(
  answer: JsonObject | undefined,
  description: string,
): Generator<Finding> {
  const result = answer?.result
  if (!isObject(result)) return yield finding('ping', `"ping" was answered with ${description}`)
  // Every result may have metadata
  const members = Object.keys(result).filter((name) => name !== '_meta')
  if (members.length === 0) return
  const message = `The result of "ping" has ${members.map((name) => JSON.stringify(name)).join(', ')}`
  // Clients ignore the members
  yield finding('ping', message, undefined, 'note')
}

/** Sends a request. Returns the members of the response, or the reason why there is none. */
async function send(
  client: Client,
  method: string,
  params: JsonObject,
  signal: AbortSignal | undefined,
): Promise<JsonObject | string> {
  try {
    return { result: await client.request(method, params, signal ? { signal } : {}) }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof ProtocolError) return { error: { code: error.code } }
    const reason = error instanceof Error ? error.message : String(error)
    const isTimeout = error instanceof SdkError && error.code === 'TIMEOUT'
    return `${JSON.stringify(method)}: ${reason}${isTimeout ? `. ${MAYBE_SLOW}` : ''}`
  }
}

function codeOf({ error }: JsonObject): unknown {
  return isObject(error) ? error.code : undefined
}

function describe(answer: JsonObject): string {
  const code = codeOf(answer)
  return code === undefined ? 'a result' : `the error ${JSON.stringify(code)}`
}
