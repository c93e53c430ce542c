/**
 * The client's requests about one task, and the validation of the tasks that a server returns.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import type { ExtensionClient } from '../client/extension.ts'
import type { RequestOptions } from '../client/request-options.ts'
import { SdkError } from '../protocol/errors.ts'
import { isObject } from '../protocol/validate.ts'
import type { DetailedTask, JsonObject } from '../protocol/types.ts'

/** Asks the server to cancel a task. */
export async function cancelTask(client: ExtensionClient, taskId: string): Promise<void> {
  await client.request('tasks/cancel', { taskId })
}

/**
 * Requests the current state of a task.
 *
 * @throws {SdkError} `INVALID_MESSAGE` if the answer is not a task.
 * @throws {ProtocolError} `INVALID_PARAMS` if there is no such task.
 */
export async function getTask(
  client: ExtensionClient,
  taskId: string,
  options: RequestOptions,
): Promise<DetailedTask> {
  return requireDetailedTask(await client.request('tasks/get', { taskId }, options), taskId)
}

/**
 * Validates a task received from the server.
 *
 * @param taskId The id of the requested task. By default any task is valid.
 * @throws {SdkError} `INVALID_MESSAGE` if the value is not a task, or is a task with another id.
 */
export function requireDetailedTask(value: unknown, taskId?: string): DetailedTask {
  const isExpected = taskId === undefined || (isObject(value) && value.taskId === taskId)
  if (isExpected && isObject(value) && typeof value.taskId === 'string' && hasState(value)) {
    const task: unknown = value
    return task as DetailedTask
  }
  throw new SdkError('INVALID_MESSAGE', 'The answer is not the requested task', { data: value })
}

/** Whether a task has a status and all members that the status requires. */
function hasState({ status, result, error, inputRequests }: JsonObject): boolean {
  if (status === 'completed') return isObject(result)
  if (status === 'failed') return isObject(error) && Number.isInteger(error.code)
  if (inputRequests !== undefined && !isObject(inputRequests)) return false
  return typeof status === 'string'
}
