/**
 * Requests that a client sends, so that the checks of their responses apply to every transport.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#requests
 */
import type { Client } from '../client/client.ts'
import { ProtocolError, SdkError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { MAYBE_SLOW } from './endpoint.ts'

/** Sends a request. Returns the members of the response, or the reason why there is none. */
export async function send(
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

/** The code of an error response; undefined for a result. */
export function codeOf({ error }: JsonObject): unknown {
  return isObject(error) ? error.code : undefined
}

/** Describes a response, such as `the error -32602`. */
export function describeResponse(answer: JsonObject): string {
  const code = codeOf(answer)
  return code === undefined ? 'a result' : `the error ${JSON.stringify(code)}`
}
