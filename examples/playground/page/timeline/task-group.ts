/**
 * The messages about the state of a task. The page polls a task until it ends, and the server may report each change,
 * so they are folded in one row.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { isObject } from 'edgewise/browser'
import type { Entry } from './entry.ts'
import type { Message } from './messages.ts'

/** Returns the id of the task whose state a message requests or reports; `undefined` if it does neither. */
export function taskIdOf({ method, params }: Message): string | undefined {
  if (method !== 'tasks/get' && method !== 'notifications/tasks') return undefined
  return isObject(params) ? String(params['taskId']) : undefined
}

/** Shows in the row of a group the last known state of the task, and how many messages there are. */
export function summarizeTask(group: Entry, members: readonly Entry[]): void {
  const last = members.at(-1)
  const known = members.findLast(({ outcome }) => outcome !== undefined)
  const count = members.length === 1 ? '1 message' : `${members.length} messages`
  group.outcome = known ? `${known.outcome}, ${count}` : count
  group.end = last?.end
  group.failed = last?.failed ?? false
  group.level = last?.level ?? 'info'
}
