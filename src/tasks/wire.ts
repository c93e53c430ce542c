/**
 * Tasks as clients see them, in both flavours.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import { degradeResult } from '../protocol/degrade.ts'
import { INVALID_REQUEST, ProtocolError } from '../protocol/errors.ts'
import type { RevisionFacts } from '../protocol/revisions.ts'
import type { CoreTask, DetailedTask, InputRequest, Result, Task } from '../protocol/types.ts'
import type { TaskRecord } from './record.ts'

/** The key in `_meta` that says to which task a message belongs; 2025-11-25 only. */
export const META_RELATED_TASK = 'io.modelcontextprotocol/related-task'
/** The key in `_meta` of what a model may be told until the task is done; 2025-11-25 only. */
export const META_IMMEDIATE_RESPONSE = 'io.modelcontextprotocol/model-immediate-response'

/** What a task is, without what its state has beside. */
export function taskOf(record: TaskRecord): Task {
  const { ttlMs, pollIntervalMs } = record
  return { ...common(record), ttlMs, pollIntervalMs }
}

/** What a task is, as a result or a notification tells it. */
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

/** What a task of 2025-11-25 is. */
export function coreTaskOf(record: TaskRecord): CoreTask {
  const { ttlMs, pollIntervalMs } = record
  return { ...common(record), ttl: ttlMs, pollInterval: pollIntervalMs }
}

/**
 * What the request would have been answered with, had it not become a task.
 *
 * @throws {ProtocolError} The error that it would have been answered with.
 */
export function outcomeOf({ taskId, status, result, error }: TaskRecord): Result {
  if (error) throw new ProtocolError(error.code, error.message, error.data)
  if (!result) {
    const why = status === 'cancelled' ? 'was cancelled' : 'is not at its end'
    throw new ProtocolError(INVALID_REQUEST, `The task "${taskId}" ${why}`)
  }
  return { ...result, _meta: { ...result._meta, ...relatedTo(taskId) } }
}

/** The `_meta` that says to which task a message belongs. */
export function relatedTo(taskId: string): { [key: string]: { taskId: string } } {
  return { [META_RELATED_TASK]: { taskId } }
}

function common(record: TaskRecord): Omit<Task, 'ttlMs'> {
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
