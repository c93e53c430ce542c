/**
 * Tasks are calls that outlive their request. They are part of 2025-11-25, and an extension of
 * 2026-07-28.
 *
 * The extension is in Beta, and its exports may change in minor versions.
 *
 * @module
 */
export type { TaskStore } from './store.ts'
export { tasks, type TaskHandle, type Tasks } from './tasks.ts'
export type { TaskRecord } from './record.ts'
export type { CoreTask, DetailedTask, Task, TaskStatus } from '../protocol/types.ts'
export { callTask, taskPolling, createTask, getRemoteTask } from './client.ts'
export { CLIENT_TASK_CAPABILITIES } from './received.ts'
export { sampleAsTask } from './ask-as-task.ts'
export type { RemoteTask } from './client.ts'
