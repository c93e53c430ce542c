/**
 * Lets a server send a request to a client of 2025-11-25 as a task, if the client supports such tasks. The
 * request then need not stay open until the user has answered.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import { samplingFault } from '../protocol/sampling.ts'
import type {
  CreateMessageParams,
  CreateMessageResult,
  InputRequest,
  JsonObject,
} from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { requireAskable } from '../server/request/ask.ts'
import type { Context } from '../server/request/context.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { Exchange } from '../server/request/exchange.ts'
import type { Ask } from '../server/request/ask-mode.ts'
import { sleep } from '../patterns/abort.ts'
import { invalidAnswer } from '../patterns/input.ts'

/** The poll interval if the client suggests none, in milliseconds. */
const DEFAULT_POLL_MS = 1_000
/** The longest poll interval that a client can suggest, in milliseconds. */
const MAX_POLL_MS = 60_000

/**
 * Requests sampling as a task, if the client supports such tasks. Otherwise behaves like `ctx.sample`.
 *
 * @param ttlMs How long the client should store the task, in milliseconds.
 * @throws {ProtocolError} The error in the client's response.
 * @throws {SdkError} `CAPABILITY_MISSING` if the client cannot sample.
 * @throws {TypeError} If the params are invalid.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export async function sampleAsTask(
  ctx: Context,
  params: CreateMessageParams,
  ttlMs?: number,
): Promise<CreateMessageResult> {
  const { exchange } = ctx as RequestContext
  const { askMode } = exchange
  if (askMode.kind !== 'push' || !supportsSamplingTasks(exchange)) return ctx.sample(params)
  const taskParams: JsonObject = { ...params }
  const fault = samplingFault(taskParams)
  if (fault) throw new TypeError(`Cannot sample: ${fault}`)
  const request: InputRequest = { method: 'sampling/createMessage', params: taskParams }
  requireAskable(request, exchange)
  const answer: unknown = await pollTask(askMode.ask, ctx.signal, request, ttlMs)
  if (isObject(answer) && typeof answer.model === 'string' && typeof answer.content === 'object') {
    const message: unknown = answer
    return message as CreateMessageResult
  }
  throw invalidAnswer(request)
}

function supportsSamplingTasks({ revision, client }: Exchange): boolean {
  if (revision.tasks !== 'core') return false
  const requests = client.capabilities.tasks?.requests
  return isObject(requests) && isObject(requests.sampling) && 'createMessage' in requests.sampling
}

/** Sends a request as a task, and polls the task until it finishes. Resolves with the result. */
async function pollTask(
  ask: Ask,
  signal: AbortSignal,
  { method, params }: InputRequest,
  ttlMs: number | undefined,
): Promise<JsonObject> {
  const send = (message: { method: string; params: JsonObject }, abortSignal = signal) =>
    ask(message as InputRequest, abortSignal)
  const taskParam = ttlMs === undefined ? {} : { ttl: ttlMs }
  const created = await send({ method, params: { ...params, task: taskParam } })
  // A client may respond with the result immediately, although a task was requested
  if (!isObject(created.task)) return created
  const { taskId } = created.task
  try {
    for (let state: JsonObject = created.task; state.status === 'working';) {
      const { pollInterval } = state
      const delayMs =
        typeof pollInterval === 'number' && pollInterval > 0 ? pollInterval : DEFAULT_POLL_MS
      await sleep(Math.min(delayMs, MAX_POLL_MS), signal)
      state = await send({ method: 'tasks/get', params: { taskId } })
    }
    return await send({ method: 'tasks/result', params: { taskId } })
  } catch (error) {
    // Not awaited, because the caller has aborted. The new signal never aborts
    if (signal.aborted) {
      send({ method: 'tasks/cancel', params: { taskId } }, new AbortController().signal).catch(
        () => {},
      )
    }
    throw error
  }
}
