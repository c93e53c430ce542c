/**
 * Tasks of 2025-11-25 on the client: a server can request elicitation and sampling as tasks, which the client stores.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import type { ServerRequestHandler } from '../client/extension.ts'
import { encodeBase64Url } from '../protocol/base64url.ts'
import { ProtocolError, toErrorObject } from '../protocol/errors.ts'
import { INVALID_PARAMS, INVALID_REQUEST } from '../protocol/error-codes.ts'
import type { ClientCapabilities, CoreTask, JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { runLater } from './clock.ts'
import { copyTaskIdToResponses, taskReceiver, type ClientTaskCapabilities } from './related.ts'
import { relatedTo } from './wire.ts'

/** How long a task is stored unless the server requests another time, in milliseconds. */
const DEFAULT_TTL_MS = 600_000
/** The longest time that a server can request, in milliseconds. */
const MAX_TTL_MS = 3_600_000
/** The maximum number of tasks of one connection. */
const MAX_TASKS = 100
/** The poll interval that is suggested to the server, in milliseconds. */
const POLL_INTERVAL_MS = 500
/** The number of random bytes in the id of a task. */
const ID_BYTES = 24

interface ReceivedTask {
  /** The response to the request. Rejects when the task is cancelled. */
  readonly outcome: Promise<JsonObject>
  readonly cancel: () => void
  task: CoreTask
}

type Tasks = Map<string, ReceivedTask>

/** The tasks of each connection. The object with the declared capabilities identifies the connection. */
const tasksByConnection = new WeakMap<ClientCapabilities, Tasks>()

/**
 * The `tasks` capability of a client that runs server requests as tasks. The object also contains the
 * implementation of the task methods. To support fewer requests, copy the object, and replace `requests`.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { CLIENT_TASK_CAPABILITIES, taskPolling } from 'edgewise/tasks'
 *
 * await using client = await connect('https://example.com/mcp', {
 *   capabilities: { tasks: CLIENT_TASK_CAPABILITIES },
 *   extensions: [taskPolling()],
 * })
 * ```
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export const CLIENT_TASK_CAPABILITIES: ClientTaskCapabilities = {
  cancel: {},
  requests: { elicitation: { create: {} }, sampling: { createMessage: {} } },
  // `wrapHandler` of `related.ts` calls this member
  [taskReceiver](answer, capabilities) {
    const { tasks } = capabilities
    const connectionTasks = tasksByConnection.get(capabilities) ?? new Map<string, ReceivedTask>()
    tasksByConnection.set(capabilities, connectionTasks)
    const declared = isObject(tasks) && isObject(tasks.requests) ? tasks.requests : {}
    return createReceiver(connectionTasks, declared, answer)
  },
}

/**
 * Creates the function that answers the server's requests on one connection.
 *
 * @param declared The requests that the client can run as tasks, as it has declared.
 * @param answer Answers a request without a task.
 */
function createReceiver(
  tasks: Tasks,
  declared: JsonObject,
  answer: ServerRequestHandler,
): ServerRequestHandler {
  return async (request) => {
    const { method, params = {} } = request
    const handler = Object.hasOwn(TASK_METHODS, method) ? TASK_METHODS[method] : undefined
    if (handler) return handler(requireTask(tasks, params))
    const [group = '', name = ''] = method.split('/')
    const declaredGroup = Object.hasOwn(declared, group) ? declared[group] : undefined
    const isDeclared = isObject(declaredGroup) && isObject(declaredGroup[name])
    const isTask = isObject(params.task) && isDeclared
    return isTask
      ? startTask(tasks, method, params, answer)
      : copyTaskIdToResponses(answer)(request)
  }
}

/** The server's methods for existing tasks. */
const TASK_METHODS: { readonly [method: string]: (received: ReceivedTask) => Promise<JsonObject> } =
  {
    'tasks/get': async ({ task }) => ({ ...task }),
    'tasks/result': async ({ outcome, task }) => {
      const result = await outcome
      return { ...result, _meta: { ...(result._meta as JsonObject), ...relatedTo(task.taskId) } }
    },
    'tasks/cancel': async (received) => {
      if (received.task.status !== 'working') {
        throw new ProtocolError(INVALID_PARAMS, `The task is ${received.task.status}`)
      }
      settle(received, 'cancelled')
      received.cancel()
      return { ...received.task }
    },
  }

function requireTask(tasks: Tasks, { taskId }: JsonObject): ReceivedTask {
  const received = tasks.get(String(taskId))
  if (received) return received
  throw new ProtocolError(INVALID_PARAMS, 'Unknown task')
}

/** Starts answering a request as a task. */
function startTask(
  tasks: Tasks,
  method: string,
  params: JsonObject,
  answer: ServerRequestHandler,
): JsonObject {
  if (tasks.size >= MAX_TASKS) throw new ProtocolError(INVALID_PARAMS, 'Too many tasks are open')
  const { task: requestedTask, ...requestParams } = params
  const requestedTtl = isObject(requestedTask) ? requestedTask.ttl : undefined
  const ttl = Math.min(
    typeof requestedTtl === 'number' && requestedTtl >= 0 ? requestedTtl : DEFAULT_TTL_MS,
    MAX_TTL_MS,
  )
  const taskId = encodeBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
  const createdAt = new Date().toISOString()
  const response = answer({ method, params: requestParams })
  let cancel = (): void => {}
  const outcome = new Promise<JsonObject>((resolve, reject) => {
    cancel = () => reject(new ProtocolError(INVALID_REQUEST, 'The task was cancelled'))
    response.then(resolve, reject)
  })
  const times = { createdAt, lastUpdatedAt: createdAt, ttl, pollInterval: POLL_INTERVAL_MS }
  const received: ReceivedTask = { outcome, cancel, task: { taskId, status: 'working', ...times } }
  tasks.set(taskId, received)
  outcome.then(
    () => settle(received, 'completed'),
    (error: unknown) => settle(received, 'failed', toErrorObject(error).message),
  )
  runLater(ttl, () => tasks.delete(taskId))
  return { task: received.task, _meta: relatedTo(taskId) }
}

/** Records how a task has ended. Only the first outcome is recorded. */
function settle(received: ReceivedTask, status: CoreTask['status'], statusMessage?: string): void {
  if (received.task.status !== 'working') return
  const lastUpdatedAt = new Date().toISOString()
  received.task = {
    ...received.task,
    status,
    lastUpdatedAt,
    ...(statusMessage !== undefined && { statusMessage }),
  }
}
