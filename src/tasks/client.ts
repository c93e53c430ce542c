/**
 * Tasks, as a client uses them: calls that become tasks are followed to their end, or handed back as
 * something that another process can go on with.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { TASKS_EXTENSION } from '../protocol/extension-ids.ts'
import { McpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { CallToolResult, DetailedTask } from '../protocol/types.ts'
import { clientExtension } from '../client/client-extension.ts'
import type { ClientExtension } from '../client/extension.ts'
import type { RequestOptions } from '../client/request-options.ts'
import {
  followCoreTask,
  isCore,
  lookAtCore,
  sendCoreCall,
  startCoreTask,
  type TaskClient,
} from './core-client.ts'
import { followTask, type FollowOptions } from './follow.ts'
import { cancelTask, getTask, requireDetailedTask } from './get-task.ts'
import { answersToTasks } from './related.ts'
import { isObject } from '../protocol/validate.ts'

/**
 * Makes what `connect` needs, among its `extensions`, to take tasks for answers: `callTool` then
 * resolves with the result of the task, and aborting it cancels the task. Since 2026-07-28 the server
 * decides what is a task; in 2025-11-25 every tool that can be one is called as one.
 */
export function taskPolling(options: FollowOptions = {}): ClientExtension {
  return clientExtension({
    id: TASKS_EXTENSION,
    wrap: answersToTasks,
    send: (request) => (handsBack in request.options ? undefined : sendCoreCall(request, options)),
    nameParams: { 'tasks/get': 'taskId', 'tasks/update': 'taskId', 'tasks/cancel': 'taskId' },
    resultTypes: {
      task(result, { client, method, options: request }) {
        if (method !== 'tools/call') {
          throw new McpError('INVALID_MESSAGE', `"${method}" cannot be a task`, { data: result })
        }
        const known = requireDetailedTask(result)
        // What is no result of the tool is not to be checked as one
        if (handsBack in request) return { content: [], isError: true, task: { ...known } }
        return followTask({ client, taskId: known.taskId, options, request, known })
      },
    },
  })
}

/** Marks the options of a call whose task is not to be followed. */
const handsBack = Symbol('handsBack')

/** A task on a server. Its id is all that it takes to go on with it from elsewhere. */
export interface RemoteTask {
  readonly id: string
  /** How the task is now. */
  get(options?: RequestOptions): Promise<DetailedTask>
  /**
   * Follows the task to its end. Aborting cancels it.
   *
   * @throws {ProtocolError} What the task failed with; `INVALID_PARAMS` when there is no such task.
   * @throws {McpError} `ABORTED`, `TIMEOUT`, `DENIED`, `INVALID_MESSAGE`.
   */
  result(options?: RequestOptions & FollowOptions): Promise<CallToolResult>
  /** Tells the server that the task is not wanted any more. */
  cancel(): Promise<void>
}

/** How a tool is called. */
export interface StartOptions extends RequestOptions {
  /** For how long the server should keep the task, in milliseconds; 2025-11-25 only. */
  readonly ttlMs?: number | undefined
}

/**
 * Calls a tool, and does not wait for the task that this may become: where the server says so since
 * 2026-07-28, where the tool can be one in 2025-11-25.
 *
 * @returns the task, or the result where there is no task.
 */
export async function createTask(
  client: TaskClient,
  name: string,
  args?: JsonObject,
  options: StartOptions = {},
): Promise<{ task: RemoteTask } | { result: CallToolResult }> {
  if (isCore(client)) {
    const started = await startCoreTask(client, name, args, options)
    return 'taskId' in started ? { task: getTaskHandle(client, started.taskId) } : started
  }
  const { ttlMs: _, ...request } = options
  const asked: RequestOptions = Object.assign(request, { [handsBack]: true })
  const { task, ...result } = (await client.callTool(name, args, asked)) as CallToolResult
  return isObject(task) ? { task: getTaskHandle(client, String(task.taskId)) } : { result }
}

/**
 * Calls a tool in whichever way it takes, and resolves with its result in every revision: what
 * `callTool` does of a client with {@link taskPolling}, with options of this one call.
 */
export async function callTask(
  client: TaskClient,
  name: string,
  args?: JsonObject,
  options: StartOptions & FollowOptions = {},
): Promise<CallToolResult> {
  const started = await createTask(client, name, args, options)
  return 'task' in started ? started.task.result(options) : started.result
}

/** The task of an id that was stored. */
export function getTaskHandle(client: TaskClient, id: string): RemoteTask {
  const core = isCore(client)
  return {
    id,
    get: (options = {}) => (core ? lookAtCore : getTask)(client, id, options),
    async result(options = {}) {
      const request = options
      const result = core
        ? await followCoreTask(client, id, options, request)
        : await followTask({ client, taskId: id, options, request })
      if (Array.isArray(result.content)) return result as CallToolResult
      throw new McpError('INVALID_MESSAGE', `The task "${id}" gave no content`, { data: result })
    },
    cancel: () => cancelTask(client, id),
  }
}
