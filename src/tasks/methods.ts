/**
 * The methods of the extension: `tasks/get`, `tasks/update`, `tasks/cancel`, and the notifications
 * on `subscriptions/listen`.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Result } from '../protocol/types.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { SendNotification } from '../server/features/extensions.ts'
import { invalidParams, requireString } from '../server/request/params.ts'
import { findTask, mayCall, principalOf, type ServedTasks } from './access.ts'
import { requireAnswers } from './input-check.ts'
import { isFinal, type TaskRecord } from './record.ts'
import { detailedTaskOf } from './wire.ts'

/** The most tasks that one listener may hear of. */
const MAX_LISTENED_TASKS = 100

/** The error of a task that does not exist, or not for this principal. */
export function unknownTask(): Error {
  return invalidParams('Unknown task')
}

/**
 * The task that a request is about.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when there is none that the caller may see.
 */
export async function requireTask(
  tasks: ServedTasks,
  params: JsonObject,
  ctx: RequestContext,
): Promise<TaskRecord> {
  const found = await findTask(tasks, requireString(params, 'taskId'), ctx)
  if (found) return found
  throw unknownTask()
}

/**
 * Answers `tasks/get`: the task, with what its state has beside.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when there is no such task.
 */
export async function getTask(
  tasks: ServedTasks,
  params: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  return { ...detailedTaskOf(await requireTask(tasks, params, ctx), ctx.exchange.revision) }
}

/**
 * Answers `tasks/update`: takes answers to what the task asks, some or all. Names that nothing waits
 * for are ignored.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when there is no such task, or an answer is malformed,
 *   which leaves the task as it is.
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
 * Answers `tasks/cancel`: ends the task, unless it is at its end already.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when there is no such task.
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
 * The tasks of a filter that the client may hear of.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when it is no list of ids.
 */
export async function honourTaskIds(
  tasks: ServedTasks,
  wanted: unknown,
  ctx: RequestContext,
): Promise<string[] | undefined> {
  if (!Array.isArray(wanted) || !wanted.every((id) => typeof id === 'string')) {
    throw invalidParams('"taskIds" must be a list of ids')
  }
  if (wanted.length > MAX_LISTENED_TASKS) {
    throw invalidParams(`One listener may hear of ${MAX_LISTENED_TASKS} tasks at most`)
  }
  const found = await Promise.all([...new Set(wanted)].map((id) => findTask(tasks, id, ctx)))
  const ids = found.flatMap((task) => (task ? [task.taskId] : []))
  return ids.length > 0 ? ids : undefined
}

/** Tells of every change of some tasks, and at first how they are, until it is stopped. */
export function listenToTasks(
  { service, server }: ServedTasks,
  ids: readonly string[],
  tell: SendNotification,
  ctx: RequestContext,
): () => void {
  const stopped = new AbortController()
  const { signal } = stopped
  const principal = principalOf(ctx)
  const told = (task: TaskRecord): void => {
    if (signal.aborted || !mayCall(server, task, ctx)) return
    tell('notifications/tasks', { ...detailedTaskOf(task, ctx.exchange.revision) })
  }
  const follow = async (taskId: string): Promise<void> => {
    if (service.watch) {
      const stop = await service.watch(taskId, principal, told)
      signal.addEventListener('abort', stop)
      return signal.aborted ? stop() : undefined
    }
    let seen = -1
    for (let waitMs = 0; !signal.aborted;) {
      const task = await service.next({ taskId, principal, seen, waitMs, signal })
      if (!task) return
      if (task.lastUpdatedAt > seen) told(task)
      if (isFinal(task)) return
      seen = task.lastUpdatedAt
      waitMs = task.pollIntervalMs
    }
  }
  // A task that cannot be followed any more is one of which nothing more is told.
  for (const id of ids) follow(id).catch(() => {})
  return () => stopped.abort()
}
