/**
 * Tasks of 2025-11-25 that a server makes of what it asks the client: a form, or the client's model.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import type { ServerAnswer } from '../client/extension.ts'
import { encodeBase64Url } from '../protocol/base64url.ts'
import { INVALID_PARAMS, ProtocolError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isObject } from '../protocol/validate.ts'
import { type CoreTask, META_RELATED_TASK, relatedTo } from './wire.ts'

/**
 * What a client declares, among its `capabilities`, that takes tasks for questions:
 * `connect(url, { capabilities: { tasks: RECEIVED_TASKS }, extensions: [followTasks()] })`.
 */
export const RECEIVED_TASKS: JsonObject = {
  cancel: {},
  requests: { elicitation: { create: {} }, sampling: { createMessage: {} } },
}

/** For how long, and how many, tasks are kept. */
const TTL_MS = 600_000
const MAX_TTL_MS = 3_600_000
const MAX_TASKS = 100
const POLL_MS = 500

interface Received {
  readonly answer: Promise<JsonObject>
  task: CoreTask
}

const AUGMENTED: readonly unknown[] = ['elicitation/create', 'sampling/createMessage']

/** Makes what answers a server's requests as tasks where it asks for that. */
export function receiveTasks(): (answer: ServerAnswer) => ServerAnswer {
  const all = new Map<string, Received>()

  const start = (answer: ServerAnswer, method: string, params: JsonObject): JsonObject => {
    if (all.size >= MAX_TASKS) throw new ProtocolError(INVALID_PARAMS, 'Too many tasks are open')
    const { task, ...others } = params
    const wanted = isObject(task) ? task.ttl : undefined
    const ttl = Math.min(typeof wanted === 'number' && wanted > 0 ? wanted : TTL_MS, MAX_TTL_MS)
    const taskId = encodeBase64Url(crypto.getRandomValues(new Uint8Array(24)))
    const createdAt = new Date().toISOString()
    const received: Received = {
      answer: answer({ method, params: others }),
      task: {
        taskId,
        status: 'working',
        createdAt,
        lastUpdatedAt: createdAt,
        ttl,
        pollInterval: POLL_MS,
      },
    }
    all.set(taskId, received)
    received.answer.then(
      () => settle(received, 'completed'),
      (error: unknown) => settle(received, 'failed', String((error as Error).message)),
    )
    const timer: unknown = setTimeout(() => all.delete(taskId), ttl)
    ;(timer as { unref?: () => void }).unref?.()
    return { task: received.task, _meta: relatedTo(taskId) }
  }

  const require = ({ taskId }: JsonObject): Received => {
    const found = all.get(String(taskId))
    if (found) return found
    throw new ProtocolError(INVALID_PARAMS, 'Unknown task')
  }

  const methods: { readonly [method: string]: (params: JsonObject) => Promise<JsonObject> } = {
    'tasks/get': async (params) => ({ ...require(params).task }),
    'tasks/result': async (params) => {
      const { answer, task } = require(params)
      return { ...(await answer), _meta: relatedTo(task.taskId) }
    },
    'tasks/cancel': async (params) => {
      const received = require(params)
      if (received.task.status !== 'working') {
        throw new ProtocolError(INVALID_PARAMS, `The task is ${received.task.status}`)
      }
      settle(received, 'cancelled')
      return { ...received.task }
    },
  }

  return (answer) => async (asked) => {
    const { method, params = {} } = asked
    const own = Object.hasOwn(methods, method) ? methods[method] : undefined
    if (own) return own(params)
    if (AUGMENTED.includes(method) && isObject(params.task)) return start(answer, method, params)
    const result = await answer(asked)
    const related = isObject(params._meta) ? params._meta[META_RELATED_TASK] : undefined
    if (!isObject(related)) return result
    return { ...result, _meta: { ...(result._meta as JsonObject), [META_RELATED_TASK]: related } }
  }
}

/** Notes how a task ended; only the first end counts. */
function settle(received: Received, status: CoreTask['status'], statusMessage?: string): void {
  if (received.task.status !== 'working') return
  const lastUpdatedAt = new Date().toISOString()
  received.task = {
    ...received.task,
    status,
    lastUpdatedAt,
    ...(statusMessage !== undefined && { statusMessage }),
  }
}
