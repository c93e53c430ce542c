/**
 * Task internals for the runtimes, which run tasks in objects of their own; not exported by the
 * package.
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
