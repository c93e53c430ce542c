/**
 * Converts the record of a task to the two formats in messages: the format of the extension, and the format of
 * 2025-11-25.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import { degradeResult } from '../protocol/degrade.ts'
import { ProtocolError } from '../protocol/errors.ts'
import { INVALID_REQUEST } from '../protocol/error-codes.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { CoreTask, DetailedTask, InputRequest, Result, Task } from '../protocol/types.ts'
import type { TaskRecord } from './record.ts'

/** The key in `_meta` for the task to which a message belongs. Used only in revision 2025-11-25. */
export const META_RELATED_TASK = 'io.modelcontextprotocol/related-task'
/**
 * The key in `_meta` for the text that the model receives until the task is done. Used only in revision
 * 2025-11-25.
 */
export const META_IMMEDIATE_RESPONSE = 'io.modelcontextprotocol/model-immediate-response'

/** A task in the format of the extension, without the fields that depend on its status. */
export function taskOf(record: TaskRecord): Task {
  const { ttlMs, pollIntervalMs } = record
  return { ...commonFields(record), ttlMs, pollIntervalMs }
}

/** A task in the format of the extension, with the fields that depend on its status. */
export function detailedTaskOf(record: TaskRecord, revision: RevisionFacts): DetailedTask {
  const task: DetailedTask = taskOf(record)
  const { status, inputs, result, error } = record
  if (status === 'input_required') task.inputRequests = requestsOf(inputs)
  if (status === 'completed' && result) {
    task.result = { ...degradeResult('tools/call', result, revision), resultType: 'complete' }
  }
  if (status === 'failed' && error) task.error = error
  return task
}

/** A task in the format of 2025-11-25. */
export function coreTaskOf(record: TaskRecord): CoreTask {
  const { ttlMs, pollIntervalMs } = record
  return { ...commonFields(record), ttl: ttlMs, pollInterval: pollIntervalMs }
}

/**
 * The result that the request would have had without a task.
 *
 * @throws {ProtocolError} The error with which the request would have failed.
 */
export function outcomeOf({ taskId, status, result, error }: TaskRecord): Result {
  if (error) throw new ProtocolError(error.code, error.message, error.data)
  if (!result) {
    const reason = status === 'cancelled' ? 'was cancelled' : 'has not finished'
    throw new ProtocolError(INVALID_REQUEST, `The task "${taskId}" ${reason}`)
  }
  return { ...result, _meta: { ...result._meta, ...relatedTo(taskId) } }
}

/** The member of `_meta` for the task to which a message belongs. */
export function relatedTo(taskId: string): { [key: string]: { taskId: string } } {
  return { [META_RELATED_TASK]: { taskId } }
}

/** The fields that both formats have. */
function commonFields(record: TaskRecord): Omit<Task, 'ttlMs'> {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt } = record
  return {
    taskId,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(lastUpdatedAt).toISOString(),
  }
}

function requestsOf(inputs: TaskRecord['inputs']): { [key: string]: InputRequest } {
  return Object.fromEntries(Object.entries(inputs).map(([key, { request }]) => [key, request]))
}
