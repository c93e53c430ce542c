/**
 * The polls of a task. A task is polled until it ends, so they are folded in one row.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { isObject } from 'edgewise/browser'
import type { Entry } from './entry.ts'
import type { Message } from './messages.ts'

/** Returns the id of the task that a message polls; `undefined` if it is another message. */
export function polledTask({ method, params }: Message): string | undefined {
  return method === 'tasks/get' && isObject(params) ? String(params['taskId']) : undefined
}

/** Shows in the row of polls the last known state of the task, and their number. */
export function summarizePolls(group: Entry, polls: readonly Entry[]): void {
  const last = polls.at(-1)
  const answered = polls.findLast(({ outcome }) => outcome !== undefined)
  const count = polls.length === 1 ? '1 poll' : `${polls.length} polls`
  group.outcome = answered ? `${answered.outcome}, ${count}` : count
  group.end = last?.end
  group.failed = last?.failed ?? false
  group.level = last?.level ?? 'info'
}
