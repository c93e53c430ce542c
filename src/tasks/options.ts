/**
 * How a server keeps tasks, and for how long.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { isObject } from '../protocol/validate.ts'
import type { ToolTask } from '../server/features/tool-task.ts'
import type { NewTask } from './record.ts'
import type { TaskStore } from './store.ts'

/** How a server keeps tasks. */
export interface TasksOptions {
  /** Where tasks are kept; in memory by default, where they end with the process. */
  store?: TaskStore
  /** For how long tasks are kept from their creation, in milliseconds; one hour by default. */
  ttlMs?: number
  /** The longest time for which a client may have a task kept, in milliseconds; one day by default. */
  maxTtlMs?: number
  /** How often clients should look, in milliseconds; one second by default. */
  pollIntervalMs?: number
  /** The most tasks at once; 10,000 by default. A further one is refused. */
  maxTasks?: number
  /** The most tasks that one principal has at once; 1,000 by default. */
  maxTasksPerPrincipal?: number
  /**
   * Offers `tasks/list` (2025-11-25). Off by default: it is for servers that know who calls, as
   * callers without a principal share what they see.
   */
  list?: boolean
  /**
   * With a store that several processes share, or that outlives them: how long the claim of one to
   * work on a task holds after its last sign of life, in milliseconds; 30 seconds by default.
   */
  leaseMs?: number
  /** Learns of each task that is made, for audit logs and metrics. */
  onCreate?: (task: NewTask) => void
  /** What a model may be told until the task is done (2025-11-25). */
  immediateResponse?: (tool: string) => string | undefined
}

const OPTIONS: OptionNames<TasksOptions> = {
  ...{ store: 1, ttlMs: 1, maxTtlMs: 1, pollIntervalMs: 1, maxTasks: 1, maxTasksPerPrincipal: 1 },
  ...{ list: 1, leaseMs: 1, onCreate: 1, immediateResponse: 1 },
}
/** Times and bounds among the options. */
const TIMES = ['ttlMs', 'maxTtlMs', 'pollIntervalMs', 'leaseMs'] as const
const BOUNDS = ['maxTasks', 'maxTasksPerPrincipal'] as const

/**
 * Refuses what would make tasks that nobody can ever see, or clients that never rest.
 *
 * @throws {TypeError} when an option is unknown.
 * @throws {RangeError} when a time is no whole number of milliseconds above 0, or a bound no number.
 */
export function checkOptions(options: TasksOptions): void {
  requireKnown('tasks', options, OPTIONS)
  const wrong =
    TIMES.find((name) => options[name] !== undefined && !isPositive(options[name])) ??
    BOUNDS.find((name) => options[name] !== undefined && !((options[name] ?? 0) >= 0))
  if (wrong === undefined) return
  throw new RangeError(`The option "${wrong}" of tasks cannot be "${options[wrong]}"`)
}

function isPositive(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

/** For how long a task is kept: as its tool says, or within bounds as its client asked. */
export function ttlMsOf(options: TasksOptions, { ttlMs: own }: ToolTask, asked: unknown): number {
  const { maxTtlMs = 86_400_000, ttlMs = Math.min(3_600_000, maxTtlMs) } = options
  const wanted = isObject(asked) ? asked.ttl : undefined
  const longest = Math.max(maxTtlMs, own ?? ttlMs)
  // A `ttl` of 0 means the shortest time, not the default
  return isPositive(wanted) || wanted === 0
    ? Math.min(Math.max(wanted, 1), longest)
    : (own ?? ttlMs)
}
