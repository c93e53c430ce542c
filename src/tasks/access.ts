/**
 * Decides which callers may see a task: callers with the task's principal that may call the task's tool.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-challenge-handling
 */
import type { ServerDefinition } from '../server/definition.ts'
import { isVisible } from '../server/registry.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { TaskRecord } from './record.ts'
import type { TaskService } from './service.ts'

/** A server, and the service that stores its tasks. */
export interface ServedTasks {
  readonly service: TaskService
  readonly server: ServerDefinition
}

/** The principal of a request in the format of task records; `null` if the request is unauthenticated. */
export function principalOf({
  principal,
}: {
  readonly principal?: string | undefined
}): string | null {
  return principal ?? null
}

/** Finds a task. A task that the caller may not see is treated as nonexistent. */
export async function findTask(
  { service, server }: ServedTasks,
  taskId: string,
  ctx: RequestContext,
): Promise<TaskRecord | undefined> {
  const task = await service.get(taskId, principalOf(ctx))
  return task && mayCall(server, task, ctx) ? task : undefined
}

/** Whether a caller may call the tool of a task, and may therefore see the task. */
export function mayCall(
  server: ServerDefinition,
  { call: { params, scopes } }: TaskRecord,
  ctx: RequestContext,
): boolean {
  // The tasks of a disabled tool stay visible to all callers who may see the tool
  const tool = server.tools.entries().get(String(params.name))
  if (tool && !isVisible(tool, ctx)) return false
  try {
    ctx.exchange.authorizer?.authorize({ method: 'tools/call', params }, ctx.caller, server, scopes)
    return true
  } catch {
    return false
  }
}
