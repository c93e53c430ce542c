/**
 * Checks how a server answers a request with an unknown method, and a call of an unknown tool.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#error-handling
 */
import type { Client } from '../client/client.ts'
import type { JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { codeOf, describeResponse, send } from './client-request.ts'
import { finding, type Finding } from './finding.ts'
import { rules } from './rules.ts'

/** A method that no server has. */
export const UNKNOWN_METHOD = 'edgewise/unknown'
/** The parameters of a call of a tool that no server has. */
export const UNKNOWN_CALL = { name: 'edgewise-unknown-tool', arguments: {} }

/** Checks the answer to an unknown method. */
export async function* checkUnknownMethod(
  client: Client,
  signal?: AbortSignal,
): AsyncGenerator<Finding> {
  const responseOrFailure = await send(client, UNKNOWN_METHOD, {}, signal)
  if (typeof responseOrFailure === 'string') yield finding('no-response', responseOrFailure)
  else if (codeOf(responseOrFailure) !== -32601)
    yield unknownMethodFinding(describeResponse(responseOrFailure))
}

/** Checks the answer to a call of an unknown tool, if the server has tools. */
export async function* checkUnknownTool(
  client: Client,
  signal?: AbortSignal,
): AsyncGenerator<Finding> {
  if (!client.serverCapabilities?.tools) return
  const responseOrFailure = await send(client, 'tools/call', UNKNOWN_CALL, signal)
  if (typeof responseOrFailure === 'string') yield finding('no-response', responseOrFailure)
  else if (codeOf(responseOrFailure) !== -32602)
    yield unknownToolFinding(responseOrFailure, describeResponse(responseOrFailure))
}

/**
 * The finding that an unknown method was not answered with the right error.
 *
 * @param actual The answer in words.
 */
export function unknownMethodFinding(actual: string): Finding {
  return finding('unknown-method', `The method "${UNKNOWN_METHOD}" was answered with ${actual}`)
}

/**
 * The finding that a call of an unknown tool was not answered with the right error.
 *
 * @param answer The JSON-RPC response, if there is one.
 * @param description The answer in words.
 */
export function unknownToolFinding(answer: JsonObject | undefined, description: string): Finding {
  const { result, error } = answer ?? {}
  const isError = isObject(result) && result.isError === true
  const actual = isError ? 'a result with "isError": true' : description
  const message = `"tools/call" was sent with the name "${UNKNOWN_CALL.name}", which no tool has. It was answered with ${actual}, instead of the error -32602`
  // Clients treat any error as a failure, so a wrong code is reported only as a note
  const severity = isError || error ? 'note' : rules['unknown-tool'].severity
  return finding('unknown-tool', message, undefined, severity)
}
