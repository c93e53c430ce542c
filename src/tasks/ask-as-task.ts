/**
 * Questions that a server asks as tasks, of clients of 2025-11-25 that declare it: an answer that
 * takes its time then holds no request open.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import { samplingFault } from '../protocol/sampling.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { CreateMessageParams, CreateMessageResult, InputRequest } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { requireAskable } from '../server/request/ask.ts'
import type { Context } from '../server/request/context.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { Exchange } from '../server/request/exchange.ts'
import type { Ask } from '../server/request/ask-mode.ts'
import { sleep } from '../patterns/abort.ts'
import { invalidAnswer } from '../patterns/input.ts'

/** How often to look when the client does not say, in milliseconds. */
const POLL_MS = 1_000
const MAX_POLL_MS = 60_000

/**
 * Asks the client's model as a task, where the client declares that it can; otherwise as
 * `ctx.sample` does.
 *
 * @param ttlMs For how long the client should keep the answer, in milliseconds.
 * @throws {ProtocolError} What the client answered.
 */
export async function sampleAsTask(
  ctx: Context,
  params: CreateMessageParams,
  ttlMs?: number,
): Promise<CreateMessageResult> {
  const { exchange } = ctx as RequestContext
  const { askMode } = exchange
  if (askMode.kind !== 'push' || !receives(exchange)) return ctx.sample(params)
  const asked: JsonObject = { ...params }
  const fault = samplingFault(asked)
  if (fault) throw new TypeError(`Cannot sample: ${fault}`)
  const request: InputRequest = { method: 'sampling/createMessage', params: asked }
  requireAskable(request, exchange)
  const answer: unknown = await pollTask(askMode.ask, ctx.signal, request, ttlMs)
  if (isObject(answer) && typeof answer.model === 'string' && typeof answer.content === 'object') {
    const message: unknown = answer
    return message as CreateMessageResult
  }
  throw invalidAnswer(request)
}

function receives({ revision, client }: Exchange): boolean {
  if (revision.tasks !== 'core') return false
  const requests = client.capabilities.tasks?.requests
  return isObject(requests) && isObject(requests.sampling) && 'createMessage' in requests.sampling
}

async function pollTask(
  ask: Ask,
  signal: AbortSignal,
  { method, params }: InputRequest,
  ttlMs: number | undefined,
): Promise<JsonObject> {
  const put = (asked: { method: string; params: JsonObject }, until = signal) =>
    ask(asked as InputRequest, until)
  const task = ttlMs === undefined ? {} : { ttl: ttlMs }
  const created = await put({ method, params: { ...params, task } })
  // A client may answer at once all the same
  if (!isObject(created.task)) return created
  const { taskId } = created.task
  try {
    for (let known: JsonObject = created.task; known.status === 'working';) {
      const { pollInterval } = known
      const delayMs = typeof pollInterval === 'number' && pollInterval > 0 ? pollInterval : POLL_MS
      await sleep(Math.min(delayMs, MAX_POLL_MS), signal)
      known = await put({ method: 'tasks/get', params: { taskId } })
    }
    return await put({ method: 'tasks/result', params: { taskId } })
  } catch (error) {
    // Who gives up need not wait for it
    if (signal.aborted) {
      put({ method: 'tasks/cancel', params: { taskId } }, new AbortController().signal).catch(
        () => {},
      )
    }
    throw error
  }
}
