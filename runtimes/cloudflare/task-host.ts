/**
 * Stores and runs the tasks of a server in Durable Objects.
 */
import { env } from 'cloudflare:workers'
import { tasksOf, type ServerTasks } from '#internal/tasks'
import { type Server } from '../../src/presets/server.ts'
import { requireNamespace } from './bindings.ts'
import type { WorkerOptions } from './options.ts'
import { ObjectTasks, type TaskObject } from './task-service.ts'

/**
 * Stores the tasks of a server in Durable Objects, unless the application has chosen a store.
 *
 * @returns A function that returns the tasks of the server to a task object, and throws if the server has no tasks.
 * @throws {Error} If the environment lacks the binding.
 */
export function hostTasks(
  server: Server,
  { taskBinding = 'MCP_TASK' }: WorkerOptions,
): () => ServerTasks {
  const tasks = tasksOf(server) as ServerTasks | undefined
  if (tasks && !tasks.hasOwnStore) {
    const namespace = requireNamespace<TaskObject>(env, taskBinding, 'McpTask')
    tasks.useService(new ObjectTasks(namespace))
  }
  return () => {
    if (tasks) return tasks
    throw new TypeError('The server has no tasks: extend it with tasks()')
  }
}
