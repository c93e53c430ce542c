/**
 * Tasks of 2025-11-25 on the client: calls a tool with the `task` param, polls the task until it
 * requests input or finishes, and fetches its result.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import { TASKS_EXTENSION } from '../protocol/extension-ids.ts'
import { abortable, sleep } from '../patterns/abort.ts'
import type { RequestOptions } from '../client/request-options.ts'
import { isTransient } from '../patterns/transient.ts'
import { SdkError, ProtocolError } from '../protocol/errors.ts'
import { METHOD_NOT_FOUND, MISSING_REQUIRED_CLIENT_CAPABILITY } from '../protocol/error-codes.ts'
import { findRevision } from '../protocol/revisions.ts'
import type {
  CallToolResult,
  Result,
  CoreTask,
  DetailedTask,
  JsonObject,
} from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { ExtensionClient, ExtensionRequest } from '../client/extension.ts'
import { createTaskReporter, type TaskPollingOptions } from './polling.ts'
import { pollDelayMs, pollTimeoutMs, noResultError } from './poll-interval.ts'

/** The client that the tasks extension uses: an {@link ExtensionClient} that can also call tools. */
export interface TaskClient extends ExtensionClient {
  /** Calls a tool. */
  callTool(name: string, args?: JsonObject, options?: RequestOptions): Promise<Result>
}

/** Whether a client uses the tasks of 2025-11-25, where tasks are part of the core protocol. */
export function usesCoreTasks({ revision }: ExtensionClient): boolean {
  return findRevision(revision)?.tasks === 'core'
}

/**
 * Calls a tool as a task, if the server and the tool support tasks.
 *
 * @returns The created task. If no task was created, the result of the tool.
 */
export async function startCoreTask(
  client: TaskClient,
  name: string,
  args: JsonObject | undefined,
  { ttlMs, ...options }: RequestOptions & { ttlMs?: number | undefined },
): Promise<{ taskId: string } | { result: CallToolResult }> {
  const taskParam = ttlMs === undefined ? {} : { ttl: ttlMs }
  const call = async (asTask: boolean): Promise<Result> => {
    const params = asTask ? { ...options.params, task: taskParam } : options.params
    try {
      return await client.callTool(name, args, { ...options, params })
    } catch (error) {
      // A created task has no `content`, so it fails validation as a tool result
      if (error instanceof SdkError && readCreatedTask(error.data)) return error.data as Result
      throw error
    }
  }
  const result = await callAsSupported(client, name, options, call)
  const created = readCreatedTask(result)
  return created ? { taskId: created.taskId } : { result: result as CallToolResult }
}

/**
 * A key that marks the options of the calls that this extension itself sends, so that {@link sendToolCall} does
 * not process these calls again.
 */
const SENT_BY_EXTENSION = Symbol('own call')

/**
 * Sends a tool call that needs special treatment. In 2025-11-25, the call runs as a task if the server and
 * the tool support tasks, and the task is polled. Since 2026-07-28, a call whose caller wants progress runs
 * without a task if possible. Returns `undefined` for any other request, which the client sends unchanged.
 */
export function sendToolCall(
  { client, method, params, options }: ExtensionRequest,
  pollingOptions: TaskPollingOptions,
): Promise<Result> | undefined {
  const isSentUnchanged =
    method !== 'tools/call' || 'task' in params || SENT_BY_EXTENSION in options
  if (isSentUnchanged) return undefined
  // If the caller has set `onTask`, the call should become a task, even if the caller also wants progress
  const wantsProgressOnly = options.onProgress !== undefined && !pollingOptions.onTask
  if (!usesCoreTasks(client))
    return wantsProgressOnly ? sendWithProgress(client, params, options) : undefined
  if (!supportsTasks(client)) return undefined
  const markedOptions: RequestOptions = Object.assign({ ...options }, { [SENT_BY_EXTENSION]: true })
  const call = (asTask: boolean): Promise<Result> =>
    client.request(method, asTask ? { ...params, task: {} } : params, markedOptions)
  const callAndWait = async (): Promise<Result> => {
    const result = await callAsSupported(
      client,
      String(params.name),
      options,
      call,
      wantsProgressOnly,
    )
    const created = readCreatedTask(result)
    if (!created) return result
    return waitForCoreTask(client, created.taskId, pollingOptions, options, created.ttl)
  }
  return callAndWait()
}

/**
 * Calls a tool so that the caller receives progress notifications. The tasks of 2026-07-28 do not send such
 * notifications, so the call becomes a task only if the server requires a task.
 */
async function sendWithProgress(
  client: ExtensionClient,
  params: JsonObject,
  options: RequestOptions,
): Promise<Result> {
  const markedOptions: RequestOptions = Object.assign({ ...options }, { [SENT_BY_EXTENSION]: true })
  try {
    return await client.request('tools/call', params, {
      ...markedOptions,
      capabilities: { ...options.capabilities, extensions: { [TASKS_EXTENSION]: undefined } },
    })
  } catch (error) {
    // After any other error, the tool may already have run, so the call is not repeated
    if (error instanceof ProtocolError && isTaskRequired(error)) {
      return client.request('tools/call', params, markedOptions)
    }
    throw error
  }
}

/** Whether a request was rejected because the tool requires a task. */
function isTaskRequired({ code, data }: ProtocolError): boolean {
  const { requiredCapabilities } = isObject(data) ? data : {}
  const { extensions } = isObject(requiredCapabilities) ? requiredCapabilities : {}
  const isMissing = code === MISSING_REQUIRED_CLIENT_CAPABILITY
  return isMissing && isObject(extensions) && TASKS_EXTENSION in extensions
}

/** Reads the created task from a result. Returns `undefined` if the result announces no task. */
function readCreatedTask(result: unknown): { taskId: string; ttl: unknown } | undefined {
  const { task, content } = isObject(result) ? result : {}
  if (content !== undefined || !isObject(task)) return undefined
  const { taskId, ttl } = task
  return typeof taskId === 'string' ? { taskId, ttl } : undefined
}

/**
 * Calls a tool, as a task if the tool supports tasks. If the server rejects the call, lists the tools again.
 * If the tool's support for tasks has changed, repeats the call in the other way.
 *
 * @param onlyIfRequired Whether to use a task only if the tool requires a task. The client receives progress
 *   only without a task.
 */
async function callAsSupported(
  client: ExtensionClient,
  name: string,
  { signal }: RequestOptions,
  call: (asTask: boolean) => Promise<Result>,
  onlyIfRequired = false,
): Promise<Result> {
  if (!supportsTasks(client)) return call(false)
  const needsTask = async (): Promise<boolean> => {
    const support = await taskSupportOf(client, name, signal)
    return support === 'required' || (support === 'optional' && !onlyIfRequired)
  }
  const asTask = await needsTask()
  try {
    return await call(asTask)
  } catch (error) {
    const isUnsupported = error instanceof ProtocolError && error.code === METHOD_NOT_FOUND
    if (!isUnsupported) throw error
    taskSupportByClient.delete(client)
    if ((await needsTask()) === asTask) throw error
    return call(!asTask)
  }
}

function supportsTasks({ serverCapabilities }: ExtensionClient): boolean {
  const requests = serverCapabilities?.tasks?.requests
  return isObject(requests) && isObject(requests.tools) && requests.tools.call !== undefined
}

/** For each client, the `taskSupport` of the server's tools in the latest list, by the names of the tools. */
const taskSupportByClient = new WeakMap<ExtensionClient, Promise<Map<string, string>>>()

/** The `taskSupport` of a tool; `forbidden` if the tool is not listed. */
async function taskSupportOf(
  client: ExtensionClient,
  name: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const cachedTools = taskSupportByClient.get(client)
  let supportByTool = await abortable(cachedTools ?? listTaskSupport(client), signal)
  if (cachedTools && !supportByTool.has(name)) {
    // The tool may be newer than the cached list
    if (taskSupportByClient.get(client) === cachedTools) taskSupportByClient.delete(client)
    const listing = taskSupportByClient.get(client) ?? listTaskSupport(client)
    supportByTool = await abortable(listing, signal)
  }
  const support = supportByTool.get(name) ?? 'forbidden'
  supportByTool.set(name, support)
  return support
}

/**
 * Lists the `taskSupport` of all tools, once for all concurrent callers. If one caller aborts, the others
 * still receive the list.
 */
function listTaskSupport(client: ExtensionClient): Promise<Map<string, string>> {
  const list = async (): Promise<Map<string, string>> => {
    const tools = await client.listAllTools().catch((error: unknown) => {
      // A server that does not list its tools may still accept calls
      if (error instanceof ProtocolError) return []
      throw error
    })
    return new Map(
      tools.map(({ name, execution }) => {
        return [name, execution?.taskSupport ?? 'forbidden']
      }),
    )
  }
  const listing = list()
  taskSupportByClient.set(client, listing)
  listing.catch(() => taskSupportByClient.delete(client))
  return listing
}

/** Gets the state of a task, in the format of the extension. */
export async function getCoreTask(
  client: ExtensionClient,
  taskId: string,
  options: RequestOptions,
): Promise<DetailedTask> {
  const result: unknown = await client.request('tasks/get', { taskId }, options)
  const { ttl, pollInterval, ...task } = requireCoreTask(result, taskId)
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
  throw new SdkError('INVALID_MESSAGE', 'The answer is not the requested task', { data: value })
}

/**
 * Polls a task until it finishes. Requests for input arrive on the stream of `tasks/result`, and the
 * client's handlers answer them.
 *
 * @param ttl How long the server stores the task, in milliseconds, as stated when the task was created.
 * @throws {ProtocolError} The error with which the call would have failed without a task.
 * @throws {SdkError} `TIMEOUT` if the caller's or the server's time limit has passed; `ABORTED`
 *   if the task was cancelled by any party.
 */
export async function waitForCoreTask(
  client: ExtensionClient,
  taskId: string,
  pollingOptions: TaskPollingOptions,
  callOptions: RequestOptions,
  ttl?: unknown,
): Promise<Result> {
  const { signal, timeoutMs, maxTimeoutMs = Infinity } = callOptions
  const report = createTaskReporter(pollingOptions, callOptions)
  const startedAt = performance.now()
  let deadline = startedAt + Math.min(maxTimeoutMs, pollTimeoutMs(ttl))
  try {
    for (let failures = 0; ;) {
      let suggestedMs: number | undefined
      try {
        const task = await getCoreTask(client, taskId, { signal, timeoutMs })
        const { status } = task
        report(task)
        suggestedMs = task.pollIntervalMs
        deadline = startedAt + Math.min(maxTimeoutMs, pollTimeoutMs(task.ttlMs))
        failures = 0
        if (status === 'cancelled') throw noResultError('ABORTED', taskId)
        if (status === 'input_required') {
          // This request may take until the deadline, because the task cannot finish before its request for
          // input is answered
          const remainingMs = Math.max(deadline - performance.now(), 1)
          const limits = { signal, timeoutMs: remainingMs, maxTimeoutMs: remainingMs }
          return await client.request('tasks/result', { taskId }, limits)
        }
        if (status === 'completed' || status === 'failed') {
          return await client.request('tasks/result', { taskId }, { signal, timeoutMs })
        }
      } catch (error) {
        if (!isTransient(error)) throw error
        failures++
      }
      const remainingMs = deadline - performance.now()
      if (remainingMs <= 0) throw noResultError('TIMEOUT', taskId)
      await sleep(Math.min(pollDelayMs(suggestedMs, failures, pollingOptions), remainingMs), signal)
    }
  } catch (error) {
    // Not awaited, because the caller has aborted. The request may fail, for example if the task has expired
    if (signal?.aborted) client.request('tasks/cancel', { taskId }).catch(() => {})
    throw error
  }
}
