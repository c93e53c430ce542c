/**
 * Answers to what a server asks of the client, whichever way it asks: elicitation, sampling, roots.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client
 */
import { missingCapabilities } from '../protocol/capabilities.ts'
import { INVALID_PARAMS, McpError, METHOD_NOT_FOUND, ProtocolError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { CreateMessageParams, ElicitParams, InputRequest } from '../protocol/types.ts'
import { samplingFault } from '../protocol/sampling.ts'
import { isObject } from '../protocol/validate.ts'
import type { Connection } from './connection.ts'
import { abortable } from './delay.ts'
import { elicit, elicitationFault } from './elicitation.ts'
import { listRoots } from './roots.ts'
import { sample } from './sampling.ts'

/**
 * Answers every request of one `input_required` result, all at once.
 *
 * @throws {McpError} `INVALID_MESSAGE` when the server asks for what was not declared, or wrongly;
 *   `DENIED` when the user refused what the wire has no refusal for; `ABORTED`.
 */
export async function answerInputs(
  connection: Connection,
  method: string,
  requests: Readonly<Record<string, unknown>>,
  signal: AbortSignal | undefined,
): Promise<JsonObject> {
  const inputs = Object.entries(requests).map(([key, value]): [string, InputRequest] => {
    try {
      return [key, readInput(connection, value)]
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : ''
      throw new McpError('INVALID_MESSAGE', `"${method}" asked wrongly for input (${reason})`)
    }
  })
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  try {
    const answers = inputs.map(async ([key, input]): Promise<[string, JsonObject]> => {
      return [key, await answerInput(connection, input, controller.signal)]
    })
    return Object.fromEntries(await abortable(Promise.all(answers), signal))
  } catch (error) {
    controller.abort(error)
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/**
 * Checks a request of the server's.
 *
 * @throws {ProtocolError} `METHOD_NOT_FOUND` when nothing here answers it; `INVALID_PARAMS` when it
 *   asks for more than was declared, or its params are wrong.
 */
export function readInput(connection: Connection, value: unknown): InputRequest {
  const { method, params = {} } = isObject(value) ? value : {}
  const { options, capabilities, revision } = connection
  const known =
    (method === 'elicitation/create' && options.onElicit) ||
    (method === 'sampling/createMessage' && options.onSample) ||
    (method === 'roots/list' && options.roots)
  if (!known) throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${String(method)}`)
  if (!isObject(params)) throw new ProtocolError(INVALID_PARAMS, '"params" must be an object')

  const request = { method, params } as InputRequest
  const fault =
    method === 'elicitation/create'
      ? elicitationFault(params)
      : method === 'sampling/createMessage'
        ? samplingFault(params)
        : undefined
  if (fault) throw new ProtocolError(INVALID_PARAMS, fault)
  const missing = missingCapabilities(request, capabilities, revision)
  if (missing) {
    const what = JSON.stringify(missing)
    throw new ProtocolError(INVALID_PARAMS, `The client did not declare ${what}`)
  }
  return request
}

/**
 * Answers one request that {@link readInput} has checked.
 *
 * @throws {McpError} `DENIED`; anything that a handler throws.
 */
export async function answerInput(
  connection: Connection,
  { method, params = {} }: InputRequest,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { options, server } = connection
  const context = { signal, server }
  const elicits = method === 'elicitation/create'
  if (options.approve && !(await options.approve({ method, params, server }))) {
    if (elicits) return { action: 'decline' }
    throw new McpError('DENIED', `"${method}" was not approved`)
  }
  const checked: unknown = params
  if (elicits) return elicit(options.onElicit, checked as ElicitParams, context)
  if (method === 'sampling/createMessage') {
    return sample(options.onSample, checked as CreateMessageParams, context)
  }
  return listRoots(options.roots, context)
}
