/**
 * The input that a server may request from the client in any revision: elicitation, sampling, roots.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import { SdkError, ProtocolError } from '../../protocol/errors.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../protocol/error-codes.ts'
import { samplingFault, toolChoiceFault } from '../../protocol/sampling.ts'
import type {
  ClientCapabilities,
  CreateMessageParams,
  ElicitParams,
  JsonObject,
} from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import { elicitationFault, elicitResult } from './elicitation.ts'
import type { ConnectOptions, InputContext } from '../options.ts'
import { rootsResult } from './roots.ts'

const ELICIT = 'elicitation/create'

/**
 * Answers one request from the server.
 *
 * @throws {SdkError} `DENIED`, or anything that a handler throws.
 */
type Answer = (context: InputContext) => Promise<JsonObject>

/**
 * Validates a request from the server and returns the function that answers it.
 *
 * @throws {ProtocolError} `METHOD_NOT_FOUND` if no handler answers it; `INVALID_PARAMS` if it needs
 *   undeclared capabilities or its params are invalid.
 */
export function prepareAnswer(
  request: unknown,
  { approve, onElicit, onSample, roots }: ConnectOptions,
  capabilities: ClientCapabilities,
): Answer {
  const { method, params = {} } = isObject(request) ? request : {}
  if (!isObject(params)) throw new ProtocolError(INVALID_PARAMS, '"params" must be an object')
  const untypedParams: unknown = params
  let fault: string | undefined
  let answer: Answer
  if (onElicit && method === ELICIT) {
    const elicitParams = untypedParams as ElicitParams
    fault = elicitationFault(params, capabilities)
    answer = async (context) => elicitResult(elicitParams, await onElicit(elicitParams, context))
  } else if (onSample && method === 'sampling/createMessage') {
    const samplingParams = untypedParams as CreateMessageParams
    fault = samplingFault(params) ?? toolsFault(params, capabilities)
    answer = async (context) => {
      const result = await onSample(samplingParams, context)
      const resultFault = toolChoiceFault(samplingParams, result)
      if (resultFault) throw new SdkError('INVALID_USE', resultFault)
      return { ...result }
    }
  } else if (roots && method === 'roots/list') {
    answer = async (context) =>
      rootsResult(typeof roots === 'function' ? await roots(context) : roots)
  } else throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${String(method)}`)
  if (fault) throw new ProtocolError(INVALID_PARAMS, fault)
  return async (context) => {
    const { server } = context
    if (!approve || (await approve({ method, params, server }))) return answer(context)
    if (method === ELICIT) return { action: 'decline' }
    throw new SdkError('DENIED', `"${method}" was not approved`)
  }
}

/** Why the tools of a sampling request are not allowed; undefined if they are. */
function toolsFault(
  { tools, toolChoice }: JsonObject,
  { sampling }: ClientCapabilities,
): string | undefined {
  return (tools ?? toolChoice) && !sampling?.tools ? 'Tools were not declared' : undefined
}
