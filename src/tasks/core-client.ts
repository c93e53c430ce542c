/**
 * Tasks of 2025-11-25, as a client asks for them: a tool is called with the `task` param, then the
 * task is looked at until it asks or ends, and its result is fetched.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import { sleep } from '../client/delay.ts'
import type { RequestOptions } from '../client/request-options.ts'
import { McpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { findRevision, type Revision } from '../protocol/revisions.ts'
import type { CallToolResult, Result, Tool } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { ExtensionClient } from '../client/extension.ts'
import type { FollowOptions } from './follow.ts'
import { delayOf, isPassing } from './pace.ts'
import type { CoreTask, DetailedTask } from './wire.ts'

/** A client that calls tools in every revision. */
export interface TaskClient extends ExtensionClient {
  /** The revision that is spoken. */
  readonly revision: Revision
  /** Runs one tool. */
  callTool(name: string, args?: JsonObject, options?: RequestOptions): Promise<Result>
  /** Lists all tools at once. */
  listAllTools(options?: RequestOptions): Promise<Tool[]>
}

/** Whether the tasks of a client are those of 2025-11-25. */
export function isCore({ revision }: TaskClient): boolean {
  return findRevision(revision)?.tasks === 'core'
}

/** Whether each tool can be a task, as last listed. */
const supports = new WeakMap<TaskClient, Map<string, string>>()

/**
 * Calls a tool as a task, if the server and the tool can do that.
 *
 * @returns the id of the task, or the result.
 */
export async function startCoreTask(
  client: TaskClient,
  name: string,
  args: JsonObject | undefined,
  { ttlMs, ...options }: RequestOptions & { ttlMs?: number | undefined },
): Promise<{ taskId: string } | { result: CallToolResult }> {
  const support = offersTasks(client) ? await supportOf(client, name, options) : 'forbidden'
  if (support === 'forbidden') {
    return { result: (await client.callTool(name, args, options)) as CallToolResult }
  }
  const params = { ...options.params, task: ttlMs === undefined ? {} : { ttl: ttlMs } }
  try {
    return { result: (await client.callTool(name, args, { ...options, params })) as CallToolResult }
  } catch (error) {
    // A task has no content, which no result of a tool goes without
    const created = error instanceof McpError && isObject(error.data) ? error.data.task : undefined
    if (isObject(created) && typeof created.taskId === 'string') return { taskId: created.taskId }
    throw error
  }
}

function offersTasks({ serverCapabilities }: TaskClient): boolean {
  const requests = serverCapabilities?.tasks?.requests
  return isObject(requests) && isObject(requests.tools) && requests.tools.call !== undefined
}

async function supportOf(
  client: TaskClient,
  name: string,
  { signal }: RequestOptions,
): Promise<string> {
  let known = supports.get(client)
  if (!known?.has(name)) {
    const tools = await client.listAllTools({ signal })
    known = new Map(tools.map((tool) => [tool.name, tool.execution?.taskSupport ?? 'forbidden']))
    supports.set(client, known)
  }
  return known.get(name) ?? 'forbidden'
}

/** Asks how a task is, in the words of the extension. */
export async function lookAtCore(
  client: ExtensionClient,
  taskId: string,
  options: RequestOptions,
): Promise<DetailedTask> {
  const seen: unknown = await client.request('tasks/get', { taskId }, options)
  const { ttl, pollInterval, ...task } = requireCoreTask(seen, taskId)
  return {
    ...task,
    ttlMs: ttl,
    ...(typeof pollInterval === 'number' && { pollIntervalMs: pollInterval }),
  }
}

function requireCoreTask(value: unknown, taskId: string): CoreTask {
  if (isObject(value) && value.taskId === taskId && typeof value.status === 'string') {
    const task: unknown = value
    return task as CoreTask
  }
  throw new McpError('INVALID_MESSAGE', 'The server sent no task', { data: value })
}

const ENDS: readonly unknown[] = ['completed', 'failed', 'cancelled', 'input_required']

/**
 * Follows a task to its end. What it asks comes on the stream of `tasks/result`, and is answered by
 * the client's handlers.
 *
 * @throws {ProtocolError} What the call would have failed with.
 * @throws {McpError} `TIMEOUT`, `ABORTED`.
 */
export async function followCoreTask(
  client: ExtensionClient,
  taskId: string,
  following: FollowOptions,
  { signal, timeoutMs, maxTimeoutMs = Infinity }: RequestOptions,
): Promise<Result> {
  const until = performance.now() + maxTimeoutMs
  const late = (): McpError => {
    return new McpError('TIMEOUT', `The task "${taskId}" was not done in time`, {
      data: { taskId },
    })
  }
  try {
    for (let failures = 0; ;) {
      let wishedMs: number | undefined
      try {
        const task = await lookAtCore(client, taskId, { signal, timeoutMs })
        following.onTask?.(task)
        wishedMs = task.pollIntervalMs
        failures = 0
        if (ENDS.includes(task.status)) {
          const leftMs = until - performance.now()
          if (leftMs <= 0) throw late()
          const limits = { signal, timeoutMs: leftMs, maxTimeoutMs: leftMs }
          return await client.request('tasks/result', { taskId }, limits)
        }
      } catch (error) {
        if (!isPassing(error)) throw error
        failures++
      }
      const delayMs = delayOf(wishedMs, failures, following)
      if (performance.now() + delayMs > until) throw late()
      await sleep(delayMs, signal)
    }
  } catch (error) {
    // Who gives up need not wait for it, nor know that the server forgot the task
    if (signal?.aborted) client.request('tasks/cancel', { taskId }).catch(() => {})
    throw error
  }
}
