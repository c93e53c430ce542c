/**
 * Tasks, as a server offers them: in 2026-07-28 by the extension, in 2025-11-25 by the core's own
 * tasks, over the same store and the same states.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import {
  INTERNAL_ERROR,
  McpError,
  METHOD_NOT_FOUND,
  ProtocolError,
  toErrorObject,
} from '../protocol/errors.ts'
import { InputPending } from '../patterns/replay.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Result } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { Context, RequestContext } from '../server/context.ts'
import type { Extension, ExtensionMethod } from '../server/extension.ts'
import { definitionOf } from '../server/server.ts'
import type { Server, ServerDefinition } from '../server/definition.ts'
import type { ToolTask } from '../server/tool-task.ts'
import type { TaskMaker, ToolEntry, ToolReturn } from '../server/tools.ts'
import { taskIdOf } from './context.ts'
import { cancelCoreTask, getCoreResult, getCoreTask, listCoreTasks } from './core-methods.ts'
import { TaskEngine, type EngineOptions } from './engine.ts'
import {
  cancelTask,
  getTask,
  honourTaskIds,
  listenToTasks,
  principalOf,
  updateTask,
} from './methods.ts'
import type { NewTask } from './record.ts'
import type { TaskService } from './service.ts'
import { createMemoryTaskStore, type TaskStore } from './store.ts'
import { coreTaskOf, META_IMMEDIATE_RESPONSE, relatedTo, taskOf, TASKS_EXTENSION } from './wire.ts'

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

/** What a tool returns when its outcome comes from elsewhere. */
export interface TaskHandle {
  readonly resultType: 'task'
  readonly taskId: string
  readonly [name: string]: unknown
}

/** The tasks of one server: an extension, and what authors do with tasks from elsewhere. */
export interface Tasks extends Extension, TaskMaker {
  /**
   * The task that a handler works on. Returned from the handler, it says that the outcome comes from
   * elsewhere: a queue, a webhook, another process.
   *
   * @throws {McpError} `UNSUPPORTED` when the handler answers a plain request, which a tool whose
   *   task is `required` never does.
   */
  handle(ctx: Pick<Context, 'id'>): TaskHandle
  /**
   * Ends a task with what its tool could have returned; whether there was something to end.
   *
   * @throws {ProtocolError} `INTERNAL_ERROR` when the tool's output schema refuses it.
   */
  complete(taskId: string, result: ToolReturn): Promise<boolean>
  /** Ends a task with an error; whether there was something to end. */
  fail(taskId: string, error: unknown): Promise<boolean>
  /** Says what is being done for a task; whether it is not at its end. */
  say(taskId: string, statusMessage: string): Promise<boolean>
  /** Goes on with the tasks that a store kept from an earlier process. */
  resume(env?: unknown): Promise<void>
  /** Whether the author chose where tasks are kept. */
  readonly chosen: boolean
  /** Has tasks kept by the platform instead of this process; called by what serves the server. */
  host(service: TaskService): void
  /** Makes what works on tasks in this process; called by the platform. */
  engine(options: EngineOptions): TaskEngine
}

const DEFAULT_LEASE_MS = 30_000

/**
 * Makes what a server needs to serve tasks; give it to `extend`, once.
 *
 * A task belongs to the principal that made it. Where nobody is authenticated, whoever knows the id
 * of a task has the task: the id is then all that protects it.
 *
 * @throws {RangeError} when a time is no whole number of milliseconds above 0, or a bound no number.
 */
export function tasks(options: TasksOptions = {}): Tasks {
  return new ServerTasks(options)
}

class ServerTasks implements Tasks {
  readonly id: string = TASKS_EXTENSION
  readonly era = 'modern'
  readonly resultTypes: readonly string[] = ['task']
  readonly resultMethods: readonly string[] = ['tools/call']
  readonly methods: { readonly [method: string]: ExtensionMethod }
  readonly filters: NonNullable<Extension['filters']>
  readonly #options: TasksOptions
  #definition: ServerDefinition | undefined
  #service: TaskService | undefined
  #engine: TaskEngine | undefined

  constructor(options: TasksOptions) {
    requireNumbers(options)
    this.#options = options
    const core = (answer: Answer): Pick<ExtensionMethod, 'legacy'> => ({
      legacy: (params, ctx) => this.#answerCore(answer, params, ctx as RequestContext),
    })
    const modern = (answer: Answer): Pick<ExtensionMethod, 'handle' | 'nameParam'> => ({
      nameParam: 'taskId',
      handle: (params, ctx) => answer(this.#tasks, params, ctx as RequestContext),
    })
    this.methods = {
      'tasks/get': { ...modern(getTask), ...core(getCoreTask) },
      'tasks/update': modern(updateTask),
      'tasks/cancel': { ...modern(cancelTask), ...core(cancelCoreTask) },
      'tasks/result': core(getCoreResult),
      ...(options.list && { 'tasks/list': core(listCoreTasks) }),
    }
    this.filters = {
      taskIds: {
        honour: (wanted, ctx) => honourTaskIds(this.#tasks, wanted, ctx),
        subscribe: (ids, tell, ctx) =>
          listenToTasks(this.#tasks, ids as string[], tell, ctx as RequestContext),
      },
    }
  }

  attach(server: Server): void {
    if (this.#definition) throw new TypeError('These tasks belong to another server')
    const definition = definitionOf(server)
    this.#definition = definition
    definition.capabilities.tasks = {
      ...(this.#options.list && { list: {} }),
      cancel: {},
      requests: { tools: { call: {} } },
    }
    definition.tasks = this
  }

  handle(ctx: object): TaskHandle {
    const taskId = taskIdOf(ctx)
    if (taskId !== undefined) return { resultType: 'task', taskId }
    throw new McpError('UNSUPPORTED', 'The handler answers a plain request, not a task')
  }

  complete(taskId: string, returned: ToolReturn): Promise<boolean> {
    return this.#tasks.settle(taskId, { returned })
  }

  fail(taskId: string, error: unknown): Promise<boolean> {
    return this.#tasks.settle(taskId, { error: toErrorObject(error) })
  }

  say(taskId: string, statusMessage: string): Promise<boolean> {
    return this.#tasks.say(taskId, statusMessage)
  }

  async resume(env?: unknown): Promise<void> {
    if (this.#tasks === this.#engine) await this.#engine.resume({ env })
  }

  get chosen(): boolean {
    return this.#options.store !== undefined
  }

  host(service: TaskService): void {
    this.#service = service
    if (!service.list) delete this.#server.capabilities.tasks?.list
  }

  engine(options: EngineOptions): TaskEngine {
    return new TaskEngine(this.#server, options)
  }

  get #server(): ServerDefinition {
    if (this.#definition) return this.#definition
    throw new McpError('INVALID_USE', 'These tasks belong to no server: extend one with them')
  }

  /** What keeps the tasks. */
  get #tasks(): TaskService {
    if (this.#service) return this.#service
    const { store: chosen, maxTasks = 10_000, maxTasksPerPrincipal = 1000 } = this.#options
    const { leaseMs = DEFAULT_LEASE_MS } = this.#options
    const store = chosen ?? createMemoryTaskStore()
    this.#engine = this.engine({
      store,
      all: { store, maxTasks, maxTasksPerPrincipal },
      leaseMs: chosen && leaseMs,
    })
    return (this.#service = this.#engine)
  }

  /** Only one revision has tasks in its core. */
  #answerCore(answer: Answer, params: JsonObject, ctx: RequestContext): Promise<Result> {
    if (ctx.exchange.revision.tasks === 'core') return answer(this.#tasks, params, ctx)
    throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: "${ctx.method}"`)
  }

  /**
   * Makes a task of a call, if it is to be one.
   *
   * @throws {ProtocolError} `METHOD_NOT_FOUND` in revisions with sessions, when the client wants a
   *   task of a tool that has none, or none of one that must; `INTERNAL_ERROR` when there are too
   *   many.
   * @throws {McpError} `CAPABILITY_MISSING` when the tool must be a task and the client knows none.
   */
  async defer(
    { item, task = 'forbidden' }: ToolEntry,
    args: unknown,
    params: JsonObject,
    ctx: RequestContext,
  ): Promise<Result | undefined> {
    if (taskIdOf(ctx) !== undefined) return undefined
    const how: ToolTask = typeof task === 'string' ? { support: task } : task
    const core = ctx.exchange.revision.tasks === 'core'
    if (!this.#wanted(how, params, ctx, item.name)) return undefined

    // Where a task asks the client directly there is nothing to be asked before.
    if (!core) await how.before?.(args, ctx)
    // What comes before has no answers yet, even if it swallowed that it must wait for them.
    if (!core && ctx.replay?.pending) throw new InputPending()
    const recording = core ? undefined : (await ctx.replay?.finish())?.recording
    const { requestState: _, inputResponses: __, ...asked } = params
    const made: NewTask = {
      taskId: this.#tasks.mintId(),
      ttlMs: this.#ttlMs(how, core ? params.task : undefined),
      pollIntervalMs: how.pollIntervalMs ?? this.#options.pollIntervalMs ?? 1000,
      ...(recording && { recording: { ...recording, open: {} } }),
      call: {
        revision: ctx.revision,
        params: asked,
        client: { info: ctx.client.info, capabilities: ctx.client.capabilities },
        principal: principalOf(ctx),
        ...(ctx.auth !== undefined && { auth: ctx.auth }),
      },
    }
    const record = await this.#create(made, ctx)
    if (!core) return { ...taskOf(record), resultType: 'task' }
    const says = this.#options.immediateResponse?.(item.name)
    const _meta = { ...relatedTo(record.taskId), ...(says && { [META_IMMEDIATE_RESPONSE]: says }) }
    return { task: coreTaskOf(record), _meta }
  }

  /** Whether a call is to be a task. */
  #wanted({ support }: ToolTask, params: JsonObject, ctx: RequestContext, name: string): boolean {
    const { tasks: flavour } = ctx.exchange.revision
    const asked = flavour === 'core' && isObject(params.task)
    if (support === 'forbidden') {
      if (asked) throw new ProtocolError(METHOD_NOT_FOUND, `"${name}" is never a task`)
      return false
    }
    const knows = flavour === 'extension' && ctx.extension(TASKS_EXTENSION) !== undefined
    if (asked || knows) return true
    if (support !== 'required') return false
    const what = `"${name}" is always a task`
    if (flavour !== 'extension') throw new ProtocolError(METHOD_NOT_FOUND, what)
    const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } }
    throw new McpError('CAPABILITY_MISSING', what, { data: { requiredCapabilities } })
  }

  #ttlMs({ ttlMs: own }: ToolTask, asked: unknown): number {
    const { maxTtlMs = 86_400_000, ttlMs = Math.min(3_600_000, maxTtlMs) } = this.#options
    const wanted = isObject(asked) ? asked.ttl : undefined
    return isPositive(wanted) ? Math.min(wanted, Math.max(maxTtlMs, own ?? ttlMs)) : (own ?? ttlMs)
  }

  /** A hook that fails takes no task from its caller. */
  #tell(made: NewTask, ctx: RequestContext): void {
    try {
      this.#options.onCreate?.(made)
    } catch (error) {
      this.#server.report(error, ctx)
    }
  }

  async #create(made: NewTask, ctx: RequestContext): ReturnType<TaskService['create']> {
    try {
      const record = await this.#tasks.create(made, ctx.caller)
      this.#tell(made, ctx)
      return record
    } catch (error) {
      if (!(error instanceof McpError && error.code === 'LIMIT_EXCEEDED')) throw error
      throw new ProtocolError(INTERNAL_ERROR, error.message)
    }
  }
}

/** Times and bounds among the options. */
const TIMES = ['ttlMs', 'maxTtlMs', 'pollIntervalMs', 'leaseMs'] as const
const BOUNDS = ['maxTasks', 'maxTasksPerPrincipal'] as const

/** Refuses what would make tasks that nobody can ever see, or clients that never rest. */
function requireNumbers(options: TasksOptions): void {
  const wrong =
    TIMES.find((name) => options[name] !== undefined && !isPositive(options[name])) ??
    BOUNDS.find((name) => options[name] !== undefined && !((options[name] ?? 0) >= 0))
  if (wrong === undefined) return
  throw new RangeError(`The option "${wrong}" of tasks cannot be "${options[wrong]}"`)
}

function isPositive(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

type Answer = (tasks: TaskService, params: JsonObject, ctx: RequestContext) => Promise<Result>
