/**
 * Tasks on the server: the extension of 2026-07-28, and the core tasks of 2025-11-25. Both use the same
 * store and the same states.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
import { TASKS_EXTENSION } from '../protocol/extension-ids.ts'
import { SdkError, ProtocolError, toErrorObject } from '../protocol/errors.ts'
import { METHOD_NOT_FOUND } from '../protocol/error-codes.ts'
import type { Result, JsonObject } from '../protocol/types.ts'
import type { Context } from '../server/request/context.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { ServerDefinition } from '../server/definition.ts'
import type { Server, ServerExtension } from '../server/server.ts'
import { addExtension } from '../server/composition/extend.ts'
import type {
  ExtensionMethod,
  ServerExtensionOptions,
} from '../server/composition/server-extension.ts'
import { fullDefinitionOf } from '../server/definition-of.ts'
import type { ToolReturn } from '../server/features/tool-result.ts'
import type { TaskFactory, ToolEntry } from '../server/features/tools.ts'
import { taskIdOf } from './context.ts'
import type { ServedTasks } from './access.ts'
import { cancelCoreTask, getCoreResult, getCoreTask, listCoreTasks } from './core-methods.ts'
import { createTaskForCall, toolTaskOf, type TaskCreation } from './create-task.ts'
import { TaskEngine, type EngineOptions } from './engine.ts'
import { cancelTask, getTask, acceptTaskIds, listenToTasks, updateTask } from './methods.ts'
import { checkOptions, type TasksOptions } from './options.ts'
import type { TaskService } from './service.ts'
import { createMemoryTaskStore } from './store.ts'

/** The value that a tool returns if the outcome of its task will be reported later, from elsewhere. */
export interface TaskHandle {
  /** Marks the value as a handle. Other values that a tool returns are results. */
  readonly resultType: 'task'
  /** The id of the task, for `complete` and `fail`. */
  readonly taskId: string
  readonly [name: string]: unknown
}

/** The tasks of one server: an extension, and methods to report outcomes externally. */
export interface Tasks extends ServerExtension {
  /**
   * Returns the handle of the task for which a handler runs. The handler returns this value if the outcome will be
   * reported later with `complete` or `fail`, for example by a queue, a webhook or another process.
   *
   * @throws {SdkError} `UNSUPPORTED` if the call does not run as a task. A call of a tool with
   *   `task: 'required'` always runs as a task.
   */
  handle(ctx: Pick<Context, 'id'>): TaskHandle
  /**
   * Ends a task with a value that its tool could have returned. Resolves with `true` if the task was
   * still open.
   *
   * @throws {ProtocolError} `INTERNAL_ERROR` if the value does not match the tool's output schema.
   * @throws {TypeError} If the value is not a final result of a call.
   */
  complete(taskId: string, result: ToolReturn): Promise<boolean>
  /** Ends a task with an error. Resolves with `true` if the task was still open. */
  fail(taskId: string, error: unknown): Promise<boolean>
  /** Sets the status message of a task. Resolves with `true` if the task is still open. */
  setStatusMessage(taskId: string, statusMessage: string): Promise<boolean>
  /** Resumes the tasks that an earlier process left in the store. */
  resume(env?: unknown): Promise<void>
}

const DEFAULT_LEASE_MS = 30_000

/**
 * Creates the task support of a server. Pass the returned object to `server.extend`, once.
 *
 * A task belongs to the principal that created it. Without authentication, anyone who knows the id
 * of a task can access it: the id then acts as a bearer secret.
 *
 * @example
 * ```ts
 * import { createServer } from 'edgewise/server'
 * import { tasks } from 'edgewise/tasks'
 *
 * const server = createServer({ name: 'bakery', version: '1.0.0' })
 * server.extend(tasks({ ttlMs: 600_000 }))
 * server.tool('bake', { task: 'required' }, async (_args, ctx) => {
 *   await ctx.progress(1, { total: 2, message: 'In the oven' })
 *   return 'Baked'
 * })
 * ```
 *
 * @throws {TypeError} If an option is unknown.
 * @throws {RangeError} If a duration is not a whole number of milliseconds above 0, or a limit is
 *   not a number.
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export function tasks(options: TasksOptions = {}): Tasks {
  return new ServerTasks(options)
}

/** Implements {@link Tasks}, with additional members that only the server and its platform use. */
export class ServerTasks implements Tasks, TaskFactory {
  readonly #options: TasksOptions
  /** The ids of the tasks that were created for calls, by the contexts of the calls. */
  readonly #taskIds = new WeakMap<object, unknown>()
  #definition: ServerDefinition | undefined
  #service: TaskService | undefined
  #engine: TaskEngine | undefined

  constructor(options: TasksOptions) {
    checkOptions(options)
    this.#options = options
  }

  addTo(server: Server): void {
    if (this.#definition) throw new TypeError('These tasks belong to another server')
    const definition = fullDefinitionOf(server)
    addExtension(server, this.#extension())
    this.#definition = definition
    definition.capabilities.tasks = {
      ...(this.#options.list && { list: {} }),
      cancel: {},
      requests: { tools: { call: {} } },
    }
    definition.tasks = this
  }

  /** Describes the extension: its methods, filters and results. */
  #extension(): ServerExtensionOptions {
    const coreMethod = (answer: TaskMethod): Pick<ExtensionMethod, 'legacy'> => ({
      legacy: (params, ctx) => this.#answerCore(answer, params, ctx as RequestContext),
    })
    const modernMethod = (answer: TaskMethod): Pick<ExtensionMethod, 'handle' | 'nameParam'> => ({
      nameParam: 'taskId',
      handle: (params, ctx) => answer(this.#served, params, ctx as RequestContext),
    })
    const methods = {
      'tasks/get': { ...modernMethod(getTask), ...coreMethod(getCoreTask) },
      'tasks/update': modernMethod(updateTask),
      'tasks/cancel': { ...modernMethod(cancelTask), ...coreMethod(cancelCoreTask) },
      'tasks/result': coreMethod(getCoreResult),
      ...(this.#options.list && { 'tasks/list': coreMethod(listCoreTasks) }),
    }
    const filters: ServerExtensionOptions['filters'] = {
      taskIds: {
        accept: (requested, ctx) => acceptTaskIds(this.#served, requested, ctx as RequestContext),
        subscribe: (ids, notify, ctx) =>
          listenToTasks(this.#served, ids as string[], notify, ctx as RequestContext),
      },
    }
    return {
      id: TASKS_EXTENSION,
      era: 'modern',
      resultTypes: ['task'],
      resultMethods: ['tools/call'],
      methods,
      filters,
      // Whether the result announces the task that was created for the same call
      isOwnResult: ({ taskId }, ctx) => taskId !== undefined && this.#taskIds.get(ctx) === taskId,
    }
  }

  handle(ctx: object): TaskHandle {
    const taskId = taskIdOf(ctx)
    if (taskId !== undefined) return { resultType: 'task', taskId }
    throw new SdkError('UNSUPPORTED', 'The handler answers a plain request, not a task')
  }

  complete(taskId: string, returned: ToolReturn): Promise<boolean> {
    return this.#activeService.settle(taskId, { returned })
  }

  fail(taskId: string, error: unknown): Promise<boolean> {
    return this.#activeService.settle(taskId, { error: toErrorObject(error) })
  }

  setStatusMessage(taskId: string, statusMessage: string): Promise<boolean> {
    return this.#activeService.setStatusMessage(taskId, statusMessage)
  }

  async resume(env?: unknown): Promise<void> {
    // If the platform has its own service, that service resumes its tasks
    if (this.#activeService === this.#engine) await this.#engine.resume({ env })
  }

  /** Whether the application chose the store. */
  get hasOwnStore(): boolean {
    return this.#options.store !== undefined
  }

  /** Lets a service of the platform store and run the tasks. They are then not stored and run in this process. */
  useService(service: TaskService): void {
    this.#service = service
    if (!service.list) delete this.#server.capabilities.tasks?.list
  }

  /** Creates an engine that runs tasks in this process. The task objects on Workers also use it. */
  createEngine(options: EngineOptions): TaskEngine {
    return new TaskEngine(this.#server, options)
  }

  get #server(): ServerDefinition {
    if (this.#definition) return this.#definition
    throw new SdkError('INVALID_USE', 'The tasks belong to no server: pass them to server.extend')
  }

  get #served(): ServedTasks {
    return { service: this.#activeService, server: this.#server }
  }

  /**
   * The service that stores the tasks: the service of the platform, or a service in this process, which is
   * created when it is first used.
   */
  get #activeService(): TaskService {
    if (this.#service) return this.#service
    const { store: ownStore, maxTasks = 10_000, maxTasksPerPrincipal = 1000 } = this.#options
    const { leaseMs = DEFAULT_LEASE_MS } = this.#options
    const store = ownStore ?? createMemoryTaskStore()
    this.#engine = this.createEngine({
      store,
      limits: { store, maxTasks, maxTasksPerPrincipal },
      // No other process has access to a store in memory
      leaseMs: ownStore && leaseMs,
    })
    this.#service = this.#engine
    // Several processes share this store, so this process must resume the tasks of crashed processes
    if (store.subscribe) this.#engine.resume().catch((error) => this.#server.report(error))
    return this.#service
  }

  /** Handles a method for core tasks. Only revision 2025-11-25 has these methods. */
  #answerCore(answer: TaskMethod, params: JsonObject, ctx: RequestContext): Promise<Result> {
    if (ctx.exchange.revision.tasks === 'core') return answer(this.#served, params, ctx)
    throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: "${ctx.method}"`)
  }

  /**
   * Creates the task for a call, and resolves with the result that announces the task. Resolves with
   * `undefined` if the call does not run as a task.
   */
  async defer(
    entry: ToolEntry,
    args: unknown,
    params: JsonObject,
    ctx: RequestContext,
  ): Promise<Result | undefined> {
    const toolTask = toolTaskOf(entry, params, ctx)
    if (!toolTask) return undefined
    const creation: TaskCreation = {
      service: this.#activeService,
      options: this.#options,
      report: (error, requestCtx) => this.#server.report(error, requestCtx),
    }
    const result = await createTaskForCall(creation, entry, toolTask, args, params, ctx)
    this.#taskIds.set(ctx, result.taskId)
    return result
  }
}

type TaskMethod = (tasks: ServedTasks, params: JsonObject, ctx: RequestContext) => Promise<Result>
