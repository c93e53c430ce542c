/**
 * Tasks on the client. If a call becomes a task, the client polls the task until it finishes, or returns an
 * object for the task. With the id in this object, another process can continue to poll the task.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { TASKS_EXTENSION } from '../protocol/extension-ids.ts'
import { SdkError } from '../protocol/errors.ts'
import type { CallToolResult, DetailedTask, JsonObject } from '../protocol/types.ts'
import { clientExtension } from '../client/client-extension.ts'
import type { ClientExtension } from '../client/extension.ts'
import type { RequestOptions } from '../client/request-options.ts'
import {
  waitForCoreTask,
  usesCoreTasks,
  getCoreTask,
  sendToolCall,
  startCoreTask,
  type TaskClient,
} from './core-client.ts'
import type { TaskPollingOptions } from './polling.ts'
import { waitForTask } from './wait-for-task.ts'
import { cancelTask, getTask, requireDetailedTask } from './get-task.ts'
import { wrapHandler } from './related.ts'
import { isObject } from '../protocol/validate.ts'

/**
 * Creates a client extension that adds task support. Pass it to `connect` in the option `extensions`.
 * `callTool` then resolves with the result of the task, and aborting the call cancels the task. Since
 * 2026-07-28, the server decides which calls become tasks. In 2025-11-25, a call becomes a task if
 * the tool supports tasks.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { taskPolling } from 'edgewise/tasks'
 *
 * await using client = await connect('https://example.com/mcp', {
 *   extensions: [taskPolling({ onTask: ({ status }) => console.log(status) })],
 * })
 * const { content } = await client.callTool('bake') // Resolves when the task has finished
 * ```
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
export function taskPolling(options: TaskPollingOptions = {}): ClientExtension {
  return clientExtension({
    id: TASKS_EXTENSION,
    wrap: wrapHandler,
    send: (request) =>
      RETURN_TASK in request.options ? undefined : sendToolCall(request, options),
    nameParams: { 'tasks/get': 'taskId', 'tasks/update': 'taskId', 'tasks/cancel': 'taskId' },
    resultTypes: {
      task(result, { client, method, options: callOptions }) {
        if (method !== 'tools/call') {
          throw new SdkError('INVALID_MESSAGE', `"${method}" cannot be a task`, { data: result })
        }
        const task = requireDetailedTask(result)
        // The result is a placeholder for the task. With `isError`, it is not validated as the tool's output
        if (RETURN_TASK in callOptions) return { content: [], isError: true, task: { ...task } }
        return waitForTask({
          client,
          taskId: task.taskId,
          pollingOptions: options,
          callOptions,
          task,
        })
      },
    },
  })
}

/** The key in the options of a call whose task should be returned immediately, and not polled. */
const RETURN_TASK = Symbol('returnTask')

/**
 * A task on a server. Its id is enough to resume polling from another process.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
export interface RemoteTask {
  /** The id of the task, unique on its server. */
  readonly id: string
  /** Gets the current state of the task. */
  get(options?: RequestOptions): Promise<DetailedTask>
  /**
   * Polls the task until it finishes. Aborting cancels the task.
   *
   * @throws {ProtocolError} The error with which the task failed; `INVALID_PARAMS` if the task does
   *   not exist.
   * @throws {SdkError} `ABORTED` if the task was cancelled; `TIMEOUT` if a time limit has passed;
   *   `DENIED` if the task's request for input was not approved; `INVALID_MESSAGE` if the request for
   *   input could not be answered, or the result is malformed.
   */
  result(options?: RequestOptions & TaskPollingOptions): Promise<CallToolResult>
  /** Asks the server to cancel the task. */
  cancel(): Promise<void>
}

/** The options of a tool call that may become a task. */
export interface StartOptions extends RequestOptions {
  /** How long the server should store the task, in milliseconds. Used only in revision 2025-11-25. */
  readonly ttlMs?: number | undefined
}

/**
 * Calls a tool. If the call becomes a task, does not wait for the end of the task. Since 2026-07-28,
 * the server decides whether the call becomes a task. In 2025-11-25, the call becomes a task if the
 * tool supports tasks.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { createTask, taskPolling } from 'edgewise/tasks'
 *
 * await using client = await connect('https://example.com/mcp', { extensions: [taskPolling()] })
 * const started = await createTask(client, 'bake')
 * if ('task' in started) console.log(`Store this id: ${started.task.id}`)
 * ```
 *
 * @returns The task, or the result if no task was created.
 * @throws {ProtocolError | SdkError} The errors of `client.callTool`.
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
export async function createTask(
  client: TaskClient,
  name: string,
  args?: JsonObject,
  options: StartOptions = {},
): Promise<{ task: RemoteTask } | { result: CallToolResult }> {
  if (usesCoreTasks(client)) {
    const started = await startCoreTask(client, name, args, options)
    return 'taskId' in started ? { task: getRemoteTask(client, started.taskId) } : started
  }
  const { ttlMs: _, ...callOptions } = options
  const markedOptions: RequestOptions = Object.assign(callOptions, { [RETURN_TASK]: true })
  const { task, ...result } = (await client.callTool(name, args, markedOptions)) as CallToolResult
  return isObject(task) ? { task: getRemoteTask(client, String(task.taskId)) } : { result }
}

/**
 * Calls a tool, and resolves with its result, even if the call becomes a task. Works like `callTool` of a
 * client with {@link taskPolling}, but the options apply only to this call.
 *
 * @throws {ProtocolError | SdkError} The errors of `client.callTool`, and the error of the task.
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
export async function callTask(
  client: TaskClient,
  name: string,
  args?: JsonObject,
  options: StartOptions & TaskPollingOptions = {},
): Promise<CallToolResult> {
  const started = await createTask(client, name, args, options)
  return 'task' in started ? started.task.result(options) : started.result
}

/**
 * Returns the `RemoteTask` for a task id. No request is sent until you call a method of the `RemoteTask`.
 *
 * @example
 * ```ts
 * import type { Client } from 'edgewise/client'
 * import { getRemoteTask } from 'edgewise/tasks'
 *
 * export const resume = (client: Client, id: string) => getRemoteTask(client, id).result()
 * ```
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
export function getRemoteTask(client: TaskClient, id: string): RemoteTask {
  const isCore = usesCoreTasks(client)
  return {
    id,
    get: (options = {}) => (isCore ? getCoreTask : getTask)(client, id, options),
    async result(options = {}) {
      const result = isCore
        ? await waitForCoreTask(client, id, options, options)
        : await waitForTask({ client, taskId: id, pollingOptions: options, callOptions: options })
      if (Array.isArray(result.content)) return result as CallToolResult
      throw new SdkError('INVALID_MESSAGE', `The task "${id}" returned no content`, {
        data: result,
      })
    },
    cancel: () => cancelTask(client, id),
  }
}
