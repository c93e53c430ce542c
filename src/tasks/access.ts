/**
 * Who may see a task: its principal, and of the principal's clients those that may call its tool.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-challenge-handling
 */
import type { ServerDefinition } from '../server/definition.ts'
import type { RequestContext } from '../server/request-context.ts'
import type { TaskRecord } from './record.ts'
import type { TaskService } from './service.ts'

/** The tasks of a server, as what answers requests sees them. */
export interface ServedTasks {
  readonly service: TaskService
  readonly server: ServerDefinition
}

/** The principal of a request, as tasks keep it. */
export function principalOf({
  principal,
}: {
  readonly principal?: string | undefined
}): string | null {
  return principal ?? null
}

/** A task that the caller may see; nothing when there is none, so that nobody can tell the two apart. */
export async function findTask(
  { service, server }: ServedTasks,
  taskId: string,
  ctx: RequestContext,
): Promise<TaskRecord | undefined> {
  const found = await service.get(taskId, principalOf(ctx))
  return found && mayCall(server, found, ctx) ? found : undefined
}

/** Whether a caller may call the tool of a task, and so learn what the task asks and comes to. */
export function mayCall(
  server: ServerDefinition,
  { call: { params, scopes } }: TaskRecord,
  ctx: RequestContext,
): boolean {
  if (server.tools.hides(String(params.name), ctx)) return false
  try {
    ctx.exchange.protect?.permit({ method: 'tools/call', params }, ctx.caller, server, scopes)
    return true
  } catch {
    return false
  }
}
