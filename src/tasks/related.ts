/**
 * Answers to what a server asks during a task of 2025-11-25, which name that task.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#associating-related-task-messages
 */
import type { ServerAnswer } from '../client/extension.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { ClientCapabilities } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { META_RELATED_TASK } from './wire.ts'

/**
 * What answers as tasks, if the server asks for that: it comes with the declared capability, so that
 * clients that declare none do not load it.
 */
export const receives: unique symbol = Symbol('receives')

/** A client's `tasks` capability. */
export interface ReceivedTasks extends JsonObject {
  [receives]?(answer: ServerAnswer, capabilities: ClientCapabilities): ServerAnswer
}

/** Wraps a client's answers, as what it declared has it. */
export function answersToTasks(
  answer: ServerAnswer,
  capabilities: ClientCapabilities,
): ServerAnswer {
  const { tasks }: { tasks?: ReceivedTasks } = capabilities
  return tasks?.[receives]?.(answer, capabilities) ?? namingTask(answer)
}

/** Names in an answer the task that the question belongs to. */
export function namingTask(answer: ServerAnswer): ServerAnswer {
  return async (asked) => {
    const result = await answer(asked)
    const meta = asked.params?._meta
    const related = isObject(meta) ? meta[META_RELATED_TASK] : undefined
    if (!isObject(related)) return result
    return { ...result, _meta: { ...(result._meta as JsonObject), [META_RELATED_TASK]: related } }
  }
}
