/**
 * Answers to what a server asks of the client, whichever way it asks: elicitation, sampling, roots.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import { INVALID_PARAMS, McpError, METHOD_NOT_FOUND, ProtocolError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { samplingFault, toolChoiceFault } from '../protocol/sampling.ts'
import type {
  ClientCapabilities,
  CreateMessageParams,
  ElicitParams,
  InputRequest,
} from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { Connection } from './connection.ts'
import { abortable } from './delay.ts'
import { elicitationFault, elicitResult } from './elicitation.ts'
import { rootsResult } from './roots.ts'

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
      throw new McpError('INVALID_MESSAGE', `"${method}" asks wrongly`, { cause })
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
  const { options, capabilities } = connection
  const { onElicit, onSample, roots } = options
  const elicits = onElicit && method === 'elicitation/create'
  const samples = onSample && method === 'sampling/createMessage'
  if (!elicits && !samples && !(roots && method === 'roots/list')) {
    throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${String(method)}`)
  }
  const fault = !isObject(params)
    ? '"params" must be an object'
    : elicits
      ? elicitationFault(params, capabilities)
      : samples
        ? (samplingFault(params) ?? toolsFault(params, capabilities))
        : undefined
  if (fault) throw new ProtocolError(INVALID_PARAMS, fault)
  return { method, params } as InputRequest
}

/** Why a model may not be given tools. */
function toolsFault(
  { tools, toolChoice }: JsonObject,
  { sampling }: ClientCapabilities,
): string | undefined {
  return (tools ?? toolChoice) && !sampling?.tools ? 'Tools were not declared' : undefined
}

/**
 * Answers one request that {@link readInput} has checked.
 *
 * @throws {McpError} `DENIED`; anything that a handler throws.
 */
export async function answerInput(
  { options, server }: Connection,
  { method, params = {} }: InputRequest,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { approve, onElicit, onSample, roots = [] } = options
  const context = { signal, server }
  const checked: unknown = params
  const elicits = onElicit && method === 'elicitation/create'
  if (approve && !(await approve({ method, params, server }))) {
    if (elicits) return { action: 'decline' }
    throw new McpError('DENIED', `"${method}" was not approved`)
  }
  if (elicits) {
    const asked = checked as ElicitParams
    return elicitResult(asked, await onElicit(asked, context))
  }
  if (onSample && method === 'sampling/createMessage') {
    const asked = checked as CreateMessageParams
    const answer = await onSample(asked, context)
    const fault = toolChoiceFault(asked, answer)
    if (fault) throw new McpError('INVALID_USE', fault)
    return { ...answer }
  }
  return rootsResult(typeof roots === 'function' ? await roots(context) : roots)
}
