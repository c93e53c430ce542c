/**
 * Task internals for the runtimes, for example to run tasks in Durable Objects; not part of the
 * public API.
 *
 * @module
 */
export type { TaskFactory } from '../server/features/tools.ts'
export { tasksOf } from '../server/definition-of.ts'
export type { TaskEngine } from '../tasks/engine.ts'
export type { ServerTasks } from '../tasks/tasks.ts'
export type { InputOutcome, NewTask } from '../tasks/record.ts'
export type { TaskRecordStore } from '../tasks/store.ts'
export type { ReportedOutcome, TaskService, TaskWaitOptions } from '../tasks/service.ts'
