/**
 * Tasks: calls that outlive their request, in both flavours of the protocol, over one store.
 *
 * @module
 */
export { createMemoryTaskStore, type TaskKeeper, type TaskStore } from './store.ts'
export { tasks, type TaskHandle, type Tasks } from './tasks.ts'
export type { TasksOptions } from './options.ts'
export type { AllTasks, EngineOptions } from './engine.ts'
export type { OpenInput, TaskCall, TaskRecord, TaskStatus } from './record.ts'
export { TASKS_EXTENSION, type CoreTask, type DetailedTask, type Task } from './wire.ts'
export {
  callTask,
  followTasks,
  startTask,
  taskOf,
  type RemoteTask,
  type StartOptions,
} from './client.ts'
export type { TaskClient } from './core-client.ts'
export { RECEIVED_TASKS } from './received.ts'
export { sampleAsTask } from './ask-as-task.ts'
export type { FollowOptions } from './follow.ts'
