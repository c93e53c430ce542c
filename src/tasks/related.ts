/**
 * Adds the id of a task to the client's responses to server requests that belong to the task. Needed only in
 * revision 2025-11-25.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#associating-related-task-messages
 */
import type { ServerRequestHandler } from '../client/extension.ts'
import type { ClientCapabilities, JsonObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { META_RELATED_TASK } from './wire.ts'

/**
 * The key of the function that answers requests as tasks. The function is a hidden member of the
 * capability that clients declare, so that clients without the capability do not bundle it.
 */
export const taskReceiver: unique symbol = Symbol('taskReceiver')

/** A client's `tasks` capability. */
export interface ClientTaskCapabilities extends JsonObject {
  [taskReceiver]?(
    answer: ServerRequestHandler,
    capabilities: ClientCapabilities,
  ): ServerRequestHandler
}

/**
 * Wraps a client's request handler. If the client has declared {@link taskReceiver}, requests can run as tasks.
 * Otherwise the handler only copies the ids of tasks to the responses.
 */
export function wrapHandler(
  answer: ServerRequestHandler,
  capabilities: ClientCapabilities,
): ServerRequestHandler {
  const { tasks }: { tasks?: ClientTaskCapabilities } = capabilities
  return tasks?.[taskReceiver]?.(answer, capabilities) ?? copyTaskIdToResponses(answer)
}

/** Wraps a request handler. If a request belongs to a task, the id of the task is copied to the response. */
export function copyTaskIdToResponses(answer: ServerRequestHandler): ServerRequestHandler {
  return async (request) => {
    const result = await answer(request)
    const meta = request.params?._meta
    const related = isObject(meta) ? meta[META_RELATED_TASK] : undefined
    if (!isObject(related)) return result
    return { ...result, _meta: { ...(result._meta as JsonObject), [META_RELATED_TASK]: related } }
  }
}
