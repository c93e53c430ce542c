/**
 * The methods for core tasks on the server, which are the tasks of 2025-11-25: `tasks/get`, `tasks/result`,
 * `tasks/cancel` and `tasks/list`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import { decodeBase64Url, encodeBase64Url } from '../protocol/base64url.ts'
import { SdkError, ProtocolError, toErrorObject } from '../protocol/errors.ts'
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from '../protocol/error-codes.ts'
import { notification } from '../protocol/jsonrpc.ts'
import type { InputRequest, LoggingLevel, Result, JsonObject } from '../protocol/types.ts'
import { isLevelEnabled } from '../server/request/logging.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import { invalidParams } from '../server/request/params.ts'
import { mayCall, principalOf, type ServedTasks } from './access.ts'
import { requireTask, unknownTask } from './methods.ts'
import { expiresAt, isFinal, TASK_EXPIRED, type InputOutcome, type TaskRecord } from './record.ts'
import type { TaskService } from './service.ts'
import { coreTaskOf, outcomeOf, relatedTo } from './wire.ts'

/** The number of tasks on each page of a list. */
const PAGE_SIZE = 50

/** Handles `tasks/get`: returns the task. */
export async function getCoreTask(
  tasks: ServedTasks,
  params: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  return { ...coreTaskOf(await requireTask(tasks, params, ctx)) }
}

/**
 * Handles `tasks/cancel`: cancels the task.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the task does not exist or has already finished.
 */
export async function cancelCoreTask(
  tasks: ServedTasks,
  params: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  const task = await requireTask(tasks, params, ctx)
  if (isFinal(task)) throw cannotCancel(task)
  const cancelled = await tasks.service.cancel(task.taskId, principalOf(ctx))
  if (!cancelled) throw unknownTask()
  // The task may have finished in the meantime
  if (cancelled.status !== 'cancelled') throw cannotCancel(cancelled)
  return { ...coreTaskOf(cancelled) }
}

function cannotCancel({ status }: TaskRecord): ProtocolError {
  return invalidParams(`The task cannot be cancelled: it is ${status}`)
}

/**
 * Handles `tasks/list`: returns the tasks of the principal, in pages.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the cursor is invalid.
 */
export async function listCoreTasks(
  tasks: ServedTasks,
  { cursor }: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  const { service, server } = tasks
  if (!service.list) throw new ProtocolError(METHOD_NOT_FOUND, 'The tasks cannot be listed')
  const principal = principalOf(ctx)
  const afterTaskId = cursor === undefined ? undefined : readCursor(cursor)
  if (afterTaskId !== undefined && !(await service.get(afterTaskId, principal))) {
    throw invalidCursor()
  }
  // Requests one task more than a page has, to know whether there is a next page
  const tasksAfterCursor = await service.list(principal, PAGE_SIZE + 1, afterTaskId)
  const page = tasksAfterCursor.slice(0, PAGE_SIZE)
  const lastTask = page.at(-1)
  const result: Result = {
    tasks: page.filter((task) => mayCall(server, task, ctx)).map(coreTaskOf),
  }
  if (lastTask && tasksAfterCursor.length > PAGE_SIZE) {
    result.nextCursor = encodeBase64Url(new TextEncoder().encode(lastTask.taskId))
  }
  return result
}

/** Returns the id of the last task of the previous page. */
function readCursor(cursor: unknown): string {
  const bytes = typeof cursor === 'string' ? decodeBase64Url(cursor) : undefined
  if (!bytes) throw invalidCursor()
  return new TextDecoder().decode(bytes)
}

function invalidCursor(): ProtocolError {
  return invalidParams('Invalid cursor: it is not from this list')
}

/**
 * Handles `tasks/result`: returns the result of the original request when it is available. In the
 * meantime, sends the task's requests for input on the stream of `tasks/result`.
 *
 * @throws {ProtocolError} The error with which the original request would have failed;
 *   `INVALID_PARAMS` if the task does not exist or has expired.
 */
export async function getCoreResult(
  tasks: ServedTasks,
  params: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  const { signal } = ctx
  const { service } = tasks
  let task = await requireTask(tasks, params, ctx)
  const { taskId } = task
  const principal = principalOf(ctx)
  const forwarder = new InputForwarder(service, ctx)
  const unsubscribe = service.onMessage?.(taskId, ({ method, params }) => {
    const level = params?.level as LoggingLevel
    if (method === 'notifications/message' && !isLevelEnabled(ctx.exchange.logLevel, level)) return
    void ctx.exchange.send(notification(method, withRelation(params, taskId)))
  })
  try {
    while (!isFinal(task)) {
      forwarder.forward(task)
      const { lastUpdatedAt: changedAfter, pollIntervalMs: waitMs } = task
      const next = await service.next({ taskId, principal, changedAfter, waitMs, signal })
      signal.throwIfAborted()
      if (!next) throw missingTask(task)
      if (next.lastUpdatedAt > changedAfter) {
        const status = { ...coreTaskOf(next) }
        void ctx.exchange.send(notification('notifications/tasks/status', status))
      }
      task = next
    }
    return outcomeOf(task)
  } finally {
    unsubscribe?.()
    forwarder.stop()
  }
}

/**
 * Creates the error for a task that no longer exists when a waiting request reads it again. The error says
 * whether the task has expired.
 */
function missingTask(task: TaskRecord): Error {
  if (expiresAt(task) > Date.now()) return unknownTask()
  return new ProtocolError(TASK_EXPIRED.code, TASK_EXPIRED.message)
}

/**
 * The input requests that were sent to clients and are not answered, as `taskId key`. If two `tasks/result`
 * requests wait for the same task, only one of them sends the task's input requests.
 */
const sentRequestsByService = new WeakMap<TaskService, Set<string>>()

/** Sends a task's input requests to the client that waits for the task's result. */
class InputForwarder {
  readonly #service: TaskService
  readonly #ctx: RequestContext
  /** The unanswered input requests that were sent to this client, or to any other client that waits. */
  readonly #sentRequests: Set<string>
  readonly #controller = new AbortController()

  constructor(service: TaskService, ctx: RequestContext) {
    this.#service = service
    this.#ctx = ctx
    const sentRequests = sentRequestsByService.get(service) ?? new Set()
    sentRequestsByService.set(service, sentRequests)
    this.#sentRequests = sentRequests
  }

  /** Sends the task's pending input requests that were not sent yet. */
  forward({ taskId, status, inputs }: TaskRecord): void {
    if (status !== 'input_required') return
    for (const [key, { request }] of Object.entries(inputs)) {
      const taskIdAndKey = `${taskId} ${key}`
      if (this.#sentRequests.has(taskIdAndKey)) continue
      this.#sentRequests.add(taskIdAndKey)
      this.#askAndStore(taskId, key, request)
        // If the store fails, the waiting request fails too, and reports the error
        .catch(() => {})
        .finally(() => this.#sentRequests.delete(taskIdAndKey))
    }
  }

  /**
   * Cancels the input requests when the client no longer waits. The next request that waits for the task
   * sends the unanswered input requests again.
   */
  stop(): void {
    this.#controller.abort(new SdkError('ABORTED', 'The request for the result has ended'))
  }

  async #askAndStore(taskId: string, key: string, { method, params }: InputRequest): Promise<void> {
    const outcome = await this.#askClient(taskId, { method, params: withRelation(params, taskId) })
    if (!outcome) return
    await this.#service.answer(taskId, principalOf(this.#ctx), { [key]: outcome }, this.#ctx.caller)
  }

  /**
   * Requests input from the client. Resolves with `undefined` if the client cannot be reached now.
   */
  async #askClient(taskId: string, request: InputRequest): Promise<InputOutcome | undefined> {
    try {
      const { askMode } = this.#ctx.exchange
      if (askMode.kind !== 'push') return undefined
      return { answer: await askMode.ask(request, this.#controller.signal) }
    } catch (error) {
      // A client that could not be reached may be reachable later
      if (error instanceof SdkError) return undefined
      const errorObject = error instanceof ProtocolError ? toErrorObject(error) : undefined
      return {
        error: errorObject ?? {
          code: INTERNAL_ERROR,
          message: `The task "${taskId}" could not request input`,
        },
      }
    }
  }
}

function withRelation(params: JsonObject | undefined, taskId: string): JsonObject {
  return { ...params, _meta: { ...(params?._meta as JsonObject), ...relatedTo(taskId) } }
}
