/**
 * Creates the task for a call: decides whether the call becomes a task, lets the tool ask the client
 * for input first, and returns the result that announces the task to the client.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#creating-tasks
 */
import { TASKS_EXTENSION } from '../protocol/extension-ids.ts'
import { callHook } from '../patterns/hooks.ts'
import type { Recording } from '../patterns/replay.ts'
import { SdkError, ProtocolError } from '../protocol/errors.ts'
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from '../protocol/error-codes.ts'
import type { Result, JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { ToolTask } from '../server/features/tool-task.ts'
import type { ToolEntry } from '../server/features/tools.ts'
import { taskIdOf } from './context.ts'
import { principalOf } from './access.ts'
import { ttlMsOf, type TasksOptions } from './options.ts'
import type { NewTask, TaskRecord } from './record.ts'
import type { TaskService } from './service.ts'
import { coreTaskOf, META_IMMEDIATE_RESPONSE, relatedTo, taskOf } from './wire.ts'

/** What {@link createTaskForCall} needs from the server. */
export interface TaskCreation {
  readonly service: TaskService
  readonly options: TasksOptions
  /** Reports errors of hooks. */
  report(error: unknown, ctx: RequestContext): void
}

/**
 * What a client must do to call a tool that always runs as a task, by the kind of tasks in the client's
 * revision.
 */
const REMEDY = {
  none: 'use revision 2025-11-25 or a newer one',
  core: 'call it with the param "task"',
  extension: `declare the extension "${TASKS_EXTENSION}"`,
}

/**
 * Returns how a call runs as a task. Returns `undefined` if the call does not run as a task, for example
 * because it already belongs to a task's run.
 *
 * @throws {ProtocolError} `METHOD_NOT_FOUND` in revisions with sessions, if the client requests a
 *   task for a tool that does not support tasks, or does not request a task for a tool that requires
 *   one.
 * @throws {SdkError} `CAPABILITY_MISSING` if the tool requires a task and the client does not
 *   support tasks.
 */
export function toolTaskOf(
  { item: { name }, task = 'forbidden' }: ToolEntry,
  params: JsonObject,
  ctx: RequestContext,
): ToolTask | undefined {
  if (taskIdOf(ctx) !== undefined) return undefined
  const toolTask: ToolTask = typeof task === 'string' ? { support: task } : task
  const { tasks: kind = 'none' } = ctx.exchange.revision
  const isRequested = kind === 'core' && isObject(params.task)
  if (toolTask.support === 'forbidden') {
    if (isRequested) throw new ProtocolError(METHOD_NOT_FOUND, `"${name}" cannot run as a task`)
    return undefined
  }
  const isDeclared = kind === 'extension' && ctx.extension(TASKS_EXTENSION) !== undefined
  if (isRequested || isDeclared) return toolTask
  if (toolTask.support !== 'required') return undefined
  const message = `"${name}" must run as a task: ${REMEDY[kind]}`
  if (kind !== 'extension') throw new ProtocolError(METHOD_NOT_FOUND, message)
  const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } }
  throw new SdkError('CAPABILITY_MISSING', message, { data: { requiredCapabilities } })
}

/**
 * Creates a task for a call. Returns the result that announces the task to the client.
 *
 * @throws {ProtocolError} `INTERNAL_ERROR` if there are too many tasks.
 */
export async function createTaskForCall(
  creation: TaskCreation,
  { scopes }: ToolEntry,
  toolTask: ToolTask,
  args: unknown,
  params: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  const { service, options } = creation
  const isCore = ctx.exchange.revision.tasks === 'core'
  let recording: Recording | undefined
  // The hook `before` can ask for input before the task exists. In 2025-11-25, the hook is not called,
  // because the task can ask for the input itself
  if (!isCore) {
    await toolTask.before?.(args, ctx)
    // The hook may have caught the error that suspends it until the client answers
    ctx.throwIfSuspended()
    recording = (await ctx.replay?.finish())?.recording
  }
  const { requestState: _, inputResponses: __, ...originalParams } = params
  const record = await createRecord(creation, ctx, {
    taskId: service.createId(),
    ttlMs: ttlMsOf(options, toolTask, isCore ? params.task : undefined),
    pollIntervalMs: toolTask.pollIntervalMs ?? options.pollIntervalMs ?? 1000,
    ...(recording && { recording: { ...recording, open: {} } }),
    call: {
      revision: ctx.revision,
      params: originalParams,
      client: ctx.client,
      principal: principalOf(ctx),
      ...(ctx.auth !== undefined && { auth: ctx.auth }),
      ...(scopes && { scopes }),
      ...(isCore && ctx.exchange.askMode.kind !== 'push' && { unreachable: true }),
    },
  })
  if (!isCore) return { ...taskOf(record), resultType: 'task' }
  const immediateText = options.immediateResponse?.(String(params.name))
  const _meta = {
    ...relatedTo(record.taskId),
    ...(immediateText && { [META_IMMEDIATE_RESPONSE]: immediateText }),
  }
  return { task: coreTaskOf(record), _meta }
}

/**
 * Stores a task, and calls `onCreate`.
 *
 * @throws {ProtocolError} `INTERNAL_ERROR` if there are too many tasks.
 */
async function createRecord(
  { service, options, report }: TaskCreation,
  ctx: RequestContext,
  newTask: NewTask,
): Promise<TaskRecord> {
  let record: TaskRecord
  try {
    record = await service.create(newTask, ctx.caller)
  } catch (error) {
    if (error instanceof SdkError && error.code === 'LIMIT_EXCEEDED') {
      throw new ProtocolError(INTERNAL_ERROR, error.message)
    }
    throw error
  }
  // An error of the hook is only reported, because the caller needs the id of the task
  callHook(
    () => options.onCreate?.(newTask),
    (error) => report(error, ctx),
  )
  return record
}
