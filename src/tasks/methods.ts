/**
 * The methods of the tasks extension on the server: `tasks/get`, `tasks/update` and `tasks/cancel`. Also sends
 * the notifications of tasks on `subscriptions/listen`.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import type { Result, JsonObject } from '../protocol/types.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { SendNotification } from '../server/features/extensions.ts'
import { invalidParams, requireString } from '../server/request/params.ts'
import { findTask, mayCall, principalOf, type ServedTasks } from './access.ts'
import { requireAnswers } from './input-check.ts'
import { isFinal, type TaskRecord } from './record.ts'
import { detailedTaskOf } from './wire.ts'
import { whenAvailable } from './unavailable.ts'

/** The maximum number of tasks to which one listener may subscribe. */
const MAX_LISTENED_TASKS = 100

/** Creates the error for a task that does not exist, or that the caller may not see. */
export function unknownTask(): Error {
  return invalidParams('Unknown task')
}

/**
 * Finds the task to which a request refers.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if there is no such task or the caller may not see it.
 */
export async function requireTask(
  tasks: ServedTasks,
  params: JsonObject,
  ctx: RequestContext,
): Promise<TaskRecord> {
  const task = await findTask(tasks, requireString(params, 'taskId'), ctx)
  if (task) return task
  throw unknownTask()
}

/**
 * Handles `tasks/get`: returns the task with the fields of its state.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the task does not exist.
 */
export async function getTask(
  tasks: ServedTasks,
  params: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  return { ...detailedTaskOf(await requireTask(tasks, params, ctx), ctx.exchange.revision) }
}

/**
 * Handles `tasks/update`: accepts responses to some or all of the pending input requests. Responses to
 * other requests are ignored.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the task does not exist or a response is malformed. The
 *   task is then unchanged.
 */
export async function updateTask(
  tasks: ServedTasks,
  params: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  const task = await requireTask(tasks, params, ctx)
  const answers = requireAnswers(params, task)
  if (Object.keys(answers).length > 0) {
    await tasks.service.answer(task.taskId, principalOf(ctx), answers, ctx.caller)
  }
  return {}
}

/**
 * Handles `tasks/cancel`: cancels the task unless it has already finished.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the task does not exist.
 */
export async function cancelTask(
  tasks: ServedTasks,
  params: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  const { taskId } = await requireTask(tasks, params, ctx)
  await tasks.service.cancel(taskId, principalOf(ctx))
  return {}
}

/**
 * Returns the task ids of a filter, without the ids of tasks that the client may not see. Returns
 * `undefined` if no ids are left.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the filter is not a list of ids, or is too long.
 */
export async function acceptTaskIds(
  tasks: ServedTasks,
  requested: unknown,
  ctx: RequestContext,
): Promise<string[] | undefined> {
  if (!Array.isArray(requested) || !requested.every((id) => typeof id === 'string')) {
    throw invalidParams('"taskIds" must be a list of ids')
  }
  if (requested.length > MAX_LISTENED_TASKS) {
    throw invalidParams(`A listener can subscribe to at most ${MAX_LISTENED_TASKS} tasks`)
  }
  const visibleTasks = await Promise.all(
    [...new Set(requested)].map((id) => findTask(tasks, id, ctx)),
  )
  const ids = visibleTasks.flatMap((task) => (task ? [task.taskId] : []))
  return ids.length > 0 ? ids : undefined
}

/** Sends the current state of tasks, and then every change. Returns a function that ends the notifications. */
export function listenToTasks(
  { service, server }: ServedTasks,
  ids: readonly string[],
  notify: SendNotification,
  ctx: RequestContext,
): () => void {
  const controller = new AbortController()
  const { signal } = controller
  const principal = principalOf(ctx)
  const sendTask = (task: TaskRecord): void => {
    if (signal.aborted || !mayCall(server, task, ctx)) return
    notify('notifications/tasks', { ...detailedTaskOf(task, ctx.exchange.revision) })
  }
  const watchTask = async (taskId: string): Promise<void> => {
    if (service.watch) {
      const stopWatching = await service.watch(taskId, principal, sendTask)
      if (signal.aborted) stopWatching()
      else signal.addEventListener('abort', stopWatching)
      return
    }
    // The first call of `next` returns the current state immediately
    let changedAfter = -1
    for (let waitMs = 0; !signal.aborted;) {
      const wait = { taskId, principal, changedAfter, waitMs, signal }
      const task = await whenAvailable(async () =>
        signal.aborted ? undefined : service.next(wait),
      )
      if (!task) return
      if (task.lastUpdatedAt > changedAfter) sendTask(task)
      if (isFinal(task)) return
      changedAfter = task.lastUpdatedAt
      waitMs = task.pollIntervalMs
    }
  }
  // An error ends only the notifications of one task
  for (const id of ids) watchTask(id).catch(() => {})
  return () => controller.abort()
}
