/**
 * The options of a server's tasks.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { isObject } from '../protocol/validate.ts'
import type { ToolTask } from '../server/features/tool-task.ts'
import type { NewTask } from './record.ts'
import type { TaskStore } from './store.ts'

/** How a server stores and limits tasks. */
export interface TasksOptions {
  /** Stores the tasks. By default they are stored in memory, and lost when the process exits. */
  store?: TaskStore
  /**
   * How long a task is stored after its creation, in milliseconds.
   *
   * @default 3600000
   */
  ttlMs?: number
  /**
   * The longest storage time that a client may request for its task, in milliseconds.
   *
   * @default 86400000
   */
  maxTtlMs?: number
  /**
   * The poll interval that is suggested to clients, in milliseconds.
   *
   * @default 1000
   */
  pollIntervalMs?: number
  /**
   * The maximum number of tasks at once. Further tasks are rejected.
   *
   * @default 10000
   */
  maxTasks?: number
  /**
   * The maximum number of tasks at once for one principal.
   *
   * @default 1000
   */
  maxTasksPerPrincipal?: number
  /**
   * Whether to offer `tasks/list` (2025-11-25). Set this only if all callers are authenticated, because callers
   * without a principal see each other's tasks.
   *
   * @default false
   */
  list?: boolean
  /**
   * How long a process's lease on a task lasts without renewal, in milliseconds. After a process has crashed, its tasks
   * are resumed when their leases have ended. Has no effect without the option `store`.
   *
   * @default 30000
   */
  leaseMs?: number
  /** Called for each new task, for audit logs and metrics. */
  onCreate?: (task: NewTask) => void
  /** Returns the text that the model receives until the task of the named tool is done (2025-11-25). */
  immediateResponse?: (tool: string) => string | undefined
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<TasksOptions> = {
  store: 1,
  ttlMs: 1,
  maxTtlMs: 1,
  pollIntervalMs: 1,
  maxTasks: 1,
  maxTasksPerPrincipal: 1,
  list: 1,
  leaseMs: 1,
  onCreate: 1,
  immediateResponse: 1,
}
/** The options that are durations in milliseconds. */
const DURATIONS = ['ttlMs', 'maxTtlMs', 'pollIntervalMs', 'leaseMs'] as const
/** The options that limit a number of tasks. */
const LIMITS = ['maxTasks', 'maxTasksPerPrincipal'] as const

/**
 * Checks the options. A duration of 0, for example, would create tasks that no client can ever see, or
 * make clients poll constantly.
 *
 * @throws {TypeError} If an option is unknown.
 * @throws {RangeError} If a duration is not a whole number of milliseconds above 0, or a limit is
 *   not a number.
 */
export function checkOptions(options: TasksOptions): void {
  requireKnown('tasks', options, OPTION_NAMES)
  const invalid =
    DURATIONS.find((name) => options[name] !== undefined && !isDuration(options[name])) ??
    LIMITS.find((name) => options[name] !== undefined && !isLimit(options[name]))
  if (invalid === undefined) return
  throw new RangeError(`The option "${invalid}" of tasks cannot be "${options[invalid]}"`)
}

function isDuration(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0
}

function isLimit(value: unknown): boolean {
  return typeof value === 'number' && value >= 0
}

/**
 * How long a task is stored, in milliseconds. The client can request a duration, up to a limit. Otherwise the
 * duration of the tool applies, or the duration in the options.
 *
 * @param requestedTask The param `task` of the call.
 */
export function ttlMsOf(
  options: TasksOptions,
  { ttlMs: toolTtlMs }: ToolTask,
  requestedTask: unknown,
): number {
  const { maxTtlMs = 86_400_000, ttlMs = Math.min(3_600_000, maxTtlMs) } = options
  const requestedTtl = isObject(requestedTask) ? requestedTask.ttl : undefined
  const longestTtlMs = Math.max(maxTtlMs, toolTtlMs ?? ttlMs)
  // A `ttl` of 0 means the shortest time, not the default
  return isDuration(requestedTtl) || requestedTtl === 0
    ? Math.min(Math.max(requestedTtl, 1), longestTtlMs)
    : (toolTtlMs ?? ttlMs)
}
