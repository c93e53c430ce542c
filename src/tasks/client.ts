/**
 * Tasks, as a client uses them: calls that become tasks are followed to their end, or handed back as
 * something that another process can go on with.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks
 */
import { McpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { CallToolResult, Result } from '../protocol/types.ts'
import { clientExtension } from '../client/client-extension.ts'
import type { ClientExtension, ExtensionClient } from '../client/extension.ts'
import type { RequestOptions } from '../client/request-options.ts'
import {
  cancelTask,
  followTask,
  lookAt,
  requireDetailedTask,
  type FollowOptions,
} from './follow.ts'
import { TASKS_EXTENSION, type DetailedTask } from './wire.ts'

/**
 * Makes what `connect` needs, among its `extensions`, to take tasks for answers: `callTool` then
 * resolves with the result of the task, and aborting it cancels the task.
 */
export function followTasks(options: FollowOptions = {}): ClientExtension {
  return clientExtension({
    id: TASKS_EXTENSION,
    nameParams: { 'tasks/get': 'taskId', 'tasks/update': 'taskId', 'tasks/cancel': 'taskId' },
    resultTypes: {
      task(result, { client, method, options: request }) {
        if (method !== 'tools/call') {
          throw new McpError('INVALID_MESSAGE', `"${method}" cannot be a task`, { data: result })
        }
        const known = requireDetailedTask(result)
        return followTask({ client, taskId: known.taskId, options, request, known })
      },
    },
  })
}

/** A client that was connected with {@link followTasks}, and calls tools. */
export interface TaskClient extends ExtensionClient {
  callTool(name: string, args?: JsonObject, options?: RequestOptions): Promise<Result>
}

/** A task on a server. Its id is all that it takes to go on with it from elsewhere. */
export interface RemoteTask {
  readonly id: string
  /** How the task is now. */
  get(options?: RequestOptions): Promise<DetailedTask>
  /**
   * Follows the task to its end; see {@link followTasks}.
   *
   * @throws {ProtocolError} What the task failed with.
   * @throws {McpError} `ABORTED`, `TIMEOUT`, `DENIED`, `INVALID_MESSAGE`.
   */
  result(options?: RequestOptions & FollowOptions): Promise<CallToolResult>
  /** Tells the server that the task is not wanted any more. */
  cancel(): Promise<void>
}

/**
 * Calls a tool, and does not wait for the task that this may become.
 *
 * @returns the task, or the result where the server gave that at once.
 */
export async function startTask(
  client: TaskClient,
  name: string,
  args?: JsonObject,
  options?: RequestOptions,
): Promise<{ task: RemoteTask } | { result: CallToolResult }> {
  const result = await client.callTool(name, args, { ...options, input: 'manual' })
  if (result.resultType === 'task')
    return { task: taskOf(client, requireDetailedTask(result).taskId) }
  return { result: result as CallToolResult }
}

/** The task of an id that was stored. */
export function taskOf(client: ExtensionClient, id: string): RemoteTask {
  return {
    id,
    get: (options = {}) => lookAt(client, id, options),
    async result({ pollIntervalMs, maxPollIntervalMs, notifications, onTask, ...request } = {}) {
      const options = {
        ...(pollIntervalMs !== undefined && { pollIntervalMs }),
        ...(maxPollIntervalMs !== undefined && { maxPollIntervalMs }),
        ...(notifications !== undefined && { notifications }),
        ...(onTask && { onTask }),
      }
      const result = await followTask({ client, taskId: id, options, request })
      return result as CallToolResult
    },
    cancel: () => cancelTask(client, id),
  }
}
