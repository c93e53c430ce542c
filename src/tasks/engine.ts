/**
 * Tasks that are kept in a store and worked on in this process.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks
 */
import { Cancellation } from '../patterns/cancellation.ts'
import { MAX_DELAY_MS } from '../patterns/timers.ts'
import { encodeBase64Url } from '../protocol/base64url.ts'
import { INTERNAL_ERROR, McpError } from '../protocol/errors.ts'
import type { JsonRpcNotification } from '../protocol/jsonrpc.ts'
import { Audience } from './audience.ts'
import { Alarm, every, later } from './clock.ts'
import type { ServerDefinition } from '../server/definition.ts'
import { toResult, type ToolReturn } from '../server/tools.ts'
import {
  expiresAt,
  isFinal,
  newRecord,
  plain,
  type InputOutcome,
  type NewTask,
  type TaskRecord,
} from './record.ts'
import { failsBy, runTask, type Platform, type RunHost } from './run.ts'
import type { GivenOutcome, TaskService, TaskWait } from './service.ts'
import {
  answer,
  cancel,
  lease,
  record as recordWork,
  say,
  settle,
  type TaskOutcome,
  type Transition,
} from './state.ts'
import type { TaskKeeper, TaskStore } from './store.ts'

/** How tasks are kept and worked on. */
export interface EngineOptions {
  readonly store: TaskKeeper
  /** What bounds tasks, and forgets those whose time is over; the host does it itself otherwise. */
  readonly all?: AllTasks | undefined
  /**
   * How long the claim of a process to work on a task holds, in milliseconds, so that another can
   * go on with it after a crash; nothing where no other could.
   */
  readonly leaseMs?: number | undefined
  /** Learns how a task is after each change that clients can see. */
  readonly changed?: ((task: TaskRecord) => void) | undefined
  /** Has a task worked on; by default at once, in this process. */
  readonly begin?: ((taskId: string) => void | Promise<void>) | undefined
}

/** All tasks of a process, or of several. */
export interface AllTasks {
  readonly store: TaskStore
  /** The most tasks that are kept at once. */
  readonly maxTasks: number
  /** The most tasks that one principal has at once. */
  readonly maxTasksPerPrincipal: number
}

/** 192 bits. */
const ID_BYTES = 24
const MAX_ATTEMPTS = 100
/** How long to wait after each failure of a store to keep an outcome, in milliseconds. */
const RETRIES_MS = [100, 400, 1_600, 6_400]

/** Tasks of one server in one process. */
export class TaskEngine implements TaskService {
  readonly #server: ServerDefinition
  readonly #options: EngineOptions
  readonly #running = new Map<string, Cancellation>()
  readonly #audience = new Audience()
  readonly #sweeper = new Alarm(() => void this.#go(this.sweep()))
  /** The end of the last addition; one begins when the one before is over, as each counts them all. */
  #added: Promise<unknown> = Promise.resolve()

  constructor(server: ServerDefinition, options: EngineOptions) {
    this.#server = server
    this.#options = options
  }

  mintId(): string {
    return encodeBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
  }

  async create(task: NewTask, platform: Platform): Promise<TaskRecord> {
    const { all } = this.#options
    const adding = all ? this.#added.then(() => this.#add(task)) : this.#add(task)
    this.#added = adding.catch(() => {})
    const record = await adding
    if (all) this.#sweeper.set(expiresAt(record))
    await this.#begin(record.taskId, platform)
    return record
  }

  async #add(task: NewTask): Promise<TaskRecord> {
    const { store, all } = this.#options
    if (all && (await isFull(all, task.call.principal))) {
      throw new McpError('LIMIT_EXCEEDED', 'Too many tasks are open')
    }
    const record = newRecord(task, Date.now())
    if (await store.save(record)) return record
    throw new TypeError(`The task "${task.taskId}" exists`)
  }

  async get(taskId: string, principal: string | null): Promise<TaskRecord | undefined> {
    const known = await this.#options.store.load(taskId)
    if (!known || known.call.principal !== principal) return undefined
    if (expiresAt(known) > Date.now()) return known
    await this.#expire(known)
    return undefined
  }

  async next(wait: TaskWait): Promise<TaskRecord | undefined> {
    const { taskId, principal, seen, waitMs, signal } = wait
    const stop: (() => void)[] = []
    // Heard before the task is read, so that no change falls in between.
    const changed = new Promise<TaskRecord | undefined>((resolve) => {
      const over = (): void => resolve(undefined)
      const timer = setTimeout(over, Math.min(waitMs, MAX_DELAY_MS))
      signal?.addEventListener('abort', over)
      stop.push(
        () => clearTimeout(timer),
        () => signal?.removeEventListener('abort', over),
        this.#audience.watch(taskId, resolve),
      )
    })
    try {
      const known = await this.get(taskId, principal)
      if (!known || known.lastUpdatedAt > seen || signal?.aborted) return known
      return (await changed) ?? (await this.get(taskId, principal))
    } finally {
      for (const each of stop) each()
    }
  }

  hear(taskId: string, listener: (message: JsonRpcNotification) => void): () => void {
    return this.#audience.hear(taskId, listener)
  }

  async answer(
    taskId: string,
    principal: string | null,
    given: { readonly [wireKey: string]: InputOutcome },
    platform: Platform,
  ): Promise<TaskRecord | undefined> {
    if (!(await this.get(taskId, principal))) return undefined
    let resumes = false
    const known = await this.#change(taskId, (before, now) => {
      const after = answer(given)(before, now)
      resumes = after?.status === 'working'
      return after
    })
    if (resumes) await this.#begin(taskId, platform)
    return known
  }

  async cancel(taskId: string, principal: string | null): Promise<TaskRecord | undefined> {
    if (!(await this.get(taskId, principal))) return undefined
    return this.#change(taskId, cancel())
  }

  async settle(taskId: string, given: GivenOutcome): Promise<boolean> {
    const outcome = 'error' in given ? given : await this.#read(taskId, given.returned)
    if (!outcome) return false
    let settled = false
    await this.#change(taskId, (known, now) => {
      const after = settle(outcome, failsBy(known.call))(known, now)
      settled = after !== undefined
      return after
    })
    return settled
  }

  /** What a tool returned for a task, as a result that the tool's output schema accepts. */
  async #read(taskId: string, returned: ToolReturn): Promise<TaskOutcome | undefined> {
    const known = await this.#options.store.load(taskId)
    if (!known) return undefined
    const { params, principal, auth } = known.call
    const caller = { principal: principal ?? undefined, auth }
    const entry = this.#server.tools.require(String(params.name), caller)
    return { result: plain(await toResult(returned, entry)) }
  }

  async say(taskId: string, statusMessage: string): Promise<boolean> {
    const known = await this.#change(taskId, say(statusMessage))
    return known !== undefined && !isFinal(known)
  }

  async list(principal: string | null, limit: number, after?: string): Promise<TaskRecord[]> {
    // So that a page with less than was asked for is the last one.
    await this.sweep()
    return (await this.#options.all?.store.list(principal, limit, after)) ?? []
  }

  /** Goes on with every task that nobody works on, as after a restart. */
  async resume(platform: Platform = {}): Promise<void> {
    const store = this.#options.all?.store
    for (const { taskId, status, external, leasedUntil = 0 } of (await store?.unfinished()) ?? []) {
      if (status !== 'working' || external) continue
      const waitMs = leasedUntil - Date.now()
      if (waitMs > 0) later(waitMs + 1, () => void this.#go(this.#begin(taskId, platform)))
      else await this.#begin(taskId, platform)
    }
    const next = await store?.nextExpiry()
    if (next !== undefined) this.#sweeper.set(next)
  }

  /** Works on a task until it ends, asks or is cancelled. Does nothing where that is not wanted. */
  async run(taskId: string, platform: Platform = {}): Promise<void> {
    if (this.#running.has(taskId)) return
    const cancellation = new Cancellation()
    this.#running.set(taskId, cancellation)
    const stop: (() => void)[] = []
    try {
      const task = await this.#claim(taskId)
      // It may have come to its end while it was read.
      if (!task || cancellation.cancelled) return
      stop.push(this.#renew(taskId), this.#bound(task))
      const host: RunHost = {
        cancellation,
        keep: async (recording) => void (await this.#change(taskId, recordWork(recording))),
        say: async (text) => void (await this.#change(taskId, say(text))),
        tell: (message) => {
          if (!cancellation.cancelled) this.#audience.sent(taskId, message)
        },
      }
      const change = await unlessCancelled(
        runTask(this.#server, task, host, platform),
        cancellation,
      )
      // Before anybody can answer what the run asks, which begins another.
      this.#running.delete(taskId)
      if (change) await this.#conclude(taskId, change)
    } finally {
      for (const each of stop) each()
      if (this.#running.get(taskId) === cancellation) this.#running.delete(taskId)
    }
  }

  /**
   * Keeps what a run led to. A store that fails may be back soon; one that never takes it, as it is
   * too long or so, fails the task. Where the host begins work, it begins again what failed.
   */
  async #conclude(taskId: string, change: Transition): Promise<void> {
    for (const delayMs of this.#options.begin ? [] : RETRIES_MS) {
      try {
        await this.#change(taskId, change)
        return
      } catch (error) {
        this.#server.report(error)
        await new Promise<void>((resolve) => later(delayMs, resolve))
      }
    }
    if (this.#options.begin) await this.#change(taskId, change)
    else await this.settle(taskId, { error: { code: INTERNAL_ERROR, message: 'Internal error' } })
  }

  /** Forgets the tasks whose time is over. */
  async sweep(): Promise<void> {
    const store = this.#options.all?.store
    for (const known of (await store?.expired(Date.now())) ?? []) await this.#expire(known)
    const next = await store?.nextExpiry()
    if (next !== undefined) this.#sweeper.set(next)
  }

  /** Forgets a task if its time is over; the task otherwise. */
  async expire(taskId: string): Promise<TaskRecord | undefined> {
    const known = await this.#options.store.load(taskId)
    if (!known || expiresAt(known) > Date.now()) return known
    await this.#expire(known)
    return undefined
  }

  /** Ends what still runs of a task whose time is over, and forgets it. */
  async #expire({ taskId }: TaskRecord): Promise<void> {
    const message = 'The task took longer than the time for which it is kept'
    const error = { code: INTERNAL_ERROR, message }
    await this.#change(
      taskId,
      settle({ error }, () => true),
    )
    await this.#options.store.remove(taskId)
  }

  async #begin(taskId: string, platform: Platform): Promise<void> {
    if (this.#options.begin) return this.#options.begin(taskId)
    const work = this.#go(this.run(taskId, platform))
    platform.waitUntil?.(work)
  }

  /** The task, if it is to be worked on, by this process. */
  async #claim(taskId: string): Promise<TaskRecord | undefined> {
    const { leaseMs, store } = this.#options
    const isWaiting = ({ status, external }: TaskRecord): boolean =>
      status === 'working' && !external
    if (leaseMs === undefined) {
      const known = await store.load(taskId)
      return known && isWaiting(known) ? known : undefined
    }
    let claimed = false
    const known = await this.#change(taskId, (before, now) => {
      claimed = isWaiting(before) && (before.leasedUntil ?? 0) <= now
      return claimed ? lease(now + leaseMs)(before, now) : undefined
    })
    return claimed ? known : undefined
  }

  /** Keeps the claim while the work goes on. */
  #renew(taskId: string): () => void {
    const { leaseMs } = this.#options
    if (leaseMs === undefined) return () => {}
    const renew = async (): Promise<void> => {
      const known = await this.#change(taskId, lease(Date.now() + leaseMs))
      // Another process may have ended the task.
      if (!known || isFinal(known)) this.#stop(taskId)
    }
    return every(leaseMs / 3, () => void this.#go(renew()))
  }

  /** Sees to it that work ends with the time of its task. */
  #bound(task: TaskRecord): () => void {
    return later(expiresAt(task) - Date.now(), () => void this.#go(this.#expire(task)))
  }

  /** Lets something go on by itself, and tells of its failure. */
  #go(work: Promise<unknown>): Promise<unknown> {
    return work.catch((error: unknown) => this.#server.report(error))
  }

  /** Changes a task, and tells who waits; the task after that. */
  async #change(taskId: string, transition: Transition): Promise<TaskRecord | undefined> {
    const { store } = this.#options
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const before = await store.load(taskId)
      if (!before) return undefined
      const after = transition(before, Date.now())
      if (!after) return before
      if (!(await store.save(after))) continue
      if (after.lastUpdatedAt !== before.lastUpdatedAt) {
        this.#audience.changed(after)
        this.#options.changed?.(after)
      }
      if (isFinal(after)) this.#stop(taskId)
      return after
    }
    throw new McpError('LIMIT_EXCEEDED', `The task "${taskId}" changes too fast to be changed`)
  }

  #stop(taskId: string): void {
    this.#running.get(taskId)?.cancel(new McpError('ABORTED', 'The task is at its end'))
  }
}

async function isFull(
  { store, maxTasks, maxTasksPerPrincipal }: AllTasks,
  principal: string | null,
): Promise<boolean> {
  if ((await store.count()) >= maxTasks) return true
  return principal !== null && (await store.count(principal)) >= maxTasksPerPrincipal
}

/** What a run leads to; nothing once the run is cancelled, even if its handler never ends. */
function unlessCancelled(
  run: Promise<Transition>,
  { signal }: Cancellation,
): Promise<Transition | undefined> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => resolve(undefined))
    run.then(resolve, reject)
  })
}
