/**
 * Following a task to its end: by looking at it as often as the server wishes, or by hearing of it
 * where the server tells; what it asks is answered meanwhile.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { callHook } from '../patterns/hooks.ts'
import { MAX_DELAY_MS } from '../patterns/timers.ts'
import { isTransient } from '../patterns/transient.ts'
import { INTERNAL_ERROR, McpError, ProtocolError } from '../protocol/errors.ts'
import type { InputRequest, Result, DetailedTask } from '../protocol/types.ts'
import { followsAll, type FollowedAgain } from '../client/client-extension.ts'
import type { ExtensionClient } from '../client/extension.ts'
import { abortReason, sleep } from '../patterns/abort.ts'
import type { RequestOptions } from '../client/request-options.ts'
import { cancelTask, getTask, requireDetailedTask } from './get-task.ts'
import { pollDelayMs, pollTimeoutMs, noResultError } from './poll-interval.ts'
import { isFinal } from './record.ts'

/** How tasks are followed. */
export interface FollowOptions {
  /** How often to look where the server does not say, in milliseconds; one second by default. */
  readonly pollIntervalMs?: number
  /** The longest time between two looks whatever the server says; one minute by default. */
  readonly maxPollIntervalMs?: number
  /** Hears of changes instead of looking for them, where the server tells; true by default. */
  readonly notifications?: boolean
  /**
   * Learns how the task is, at first and whenever it changed: the time to store its id, so that
   * another process can go on with it.
   */
  readonly onTask?: (task: DetailedTask) => void
}

/** What a task is followed with. */
export interface Following {
  readonly client: ExtensionClient
  readonly taskId: string
  readonly options: FollowOptions
  readonly request: RequestOptions
  /** The task as it is known already. */
  readonly known?: DetailedTask | undefined
}

/** Tells of each change of a task: to `onTask`, and as progress of the call that it was. */
export function tellsOf(
  { onTask }: FollowOptions,
  { onProgress }: RequestOptions,
): (task: DetailedTask) => void {
  let progress = 0
  let told: string | undefined
  return (task) => {
    const { status, statusMessage: message = status, lastUpdatedAt } = task
    const news = `${status} ${message} ${lastUpdatedAt}`
    if (news === told) return
    told = news
    callHook(() => onTask?.(task))
    callHook(() => onProgress?.({ progressToken: task.taskId, progress: ++progress, message }))
  }
}

/** How many looks come before the server is asked to tell. */
const LOOKS_FIRST = 2
/** How long nothing is asked while the server tells, in milliseconds. */
const HEARING_MS = 30_000

/**
 * Resolves with what the request would have been answered with. Aborting cancels the task.
 *
 * @throws {ProtocolError} What the task failed with; `INVALID_PARAMS` when there is no such task any
 *   more.
 * @throws {McpError} `ABORTED` when it was cancelled, by whomever; `TIMEOUT` when the time is over
 *   that the caller or the server set, with the task's id in `data.taskId`: it may go on; `DENIED`
 *   and `INVALID_MESSAGE` when what it asks could not be answered, or an answer is refused, which
 *   cancels it.
 */
export async function followTask(following: Following): Promise<Result> {
  const { request } = following
  const follower = new Follower(following)
  try {
    return await follower.run()
  } catch (error) {
    const givesUp =
      request.signal?.aborted ||
      (follower.refused && !isAnsweredLater(request, error)) ||
      (error instanceof McpError && error.code === 'INVALID_MESSAGE')
    // Who gives up need not wait for it
    if (givesUp) cancelTask(following.client, following.taskId).catch(() => {})
    throw error
  }
}

/** Whether the caller answers by another call, which follows the task further. */
function isAnsweredLater({ [followsAll]: begun }: FollowedAgain, error: unknown): boolean {
  return begun !== undefined && error instanceof ProtocolError && error.code === INTERNAL_ERROR
}

class Follower {
  readonly #following: Following
  readonly #tell: (task: DetailedTask) => void
  readonly #since = performance.now()
  /** The names of questions that were answered, or are being answered. */
  readonly #answered = new Set<string>()
  #task: DetailedTask | undefined
  /** What was heard and not looked at yet. */
  #heard: DetailedTask | undefined
  #wake: (() => void) | undefined
  /** Why what is asked cannot be answered. */
  refused: { error: unknown } | undefined
  #hears = false
  #listens = false
  #failures = 0
  #looks = 0

  constructor(following: Following) {
    this.#following = following
    this.#tell = tellsOf(following.options, following.request)
  }

  async run(): Promise<Result> {
    const { known, options } = this.#following
    const ending = new AbortController()
    this.#take(known)
    try {
      for (;;) {
        const task = this.#task
        const end = task && outcome(task)
        if (end) return end
        if (task) {
          this.#answer(task, ending.signal)
          await this.#pause(task)
        }
        if (this.refused) throw this.refused.error
        if (this.#looks >= LOOKS_FIRST && options.notifications !== false)
          this.#listen(ending.signal)
        const heard = this.#heard
        this.#heard = undefined
        if (!heard) this.#take(await this.#look())
        else if (!this.#isOld(heard)) this.#take(heard)
      }
    } finally {
      ending.abort()
    }
  }

  /** Takes what was seen; what a look finds holds whatever the server's clocks say of it. */
  #take(seen: DetailedTask | undefined): void {
    if (seen) this.#tell((this.#task = seen))
  }

  /** Whether what was heard is from before what is known; an end never is. */
  #isOld(heard: DetailedTask): boolean {
    return !isFinal(heard) && heard.lastUpdatedAt < (this.#task?.lastUpdatedAt ?? '')
  }

  /** Looks; nothing when that failed in a way that may pass. */
  async #look(): Promise<DetailedTask | undefined> {
    const { client, taskId, request } = this.#following
    const { signal, timeoutMs } = request
    this.#looks++
    try {
      const task = await getTask(client, taskId, { signal, timeoutMs })
      this.#failures = 0
      return task
    } catch (error) {
      if (!isTransient(error)) throw error
      this.#failures++
      if (!this.#task) await this.#wait(this.#intervalMs())
      return undefined
    }
  }

  /**
   * Answers what is asked and was not answered before, while the task is looked at further: somebody
   * else may answer first, and a task can end that asks.
   */
  #answer({ inputRequests = {} }: DetailedTask, signal: AbortSignal): void {
    const fresh = Object.entries(inputRequests).filter(([key]) => !this.#answered.has(key))
    if (fresh.length === 0) return
    for (const [key] of fresh) this.#answered.add(key)
    const asked = Object.fromEntries(fresh)
    this.#update(asked, signal).catch(async (error: unknown) => {
      if (error instanceof ProtocolError && !(await this.#stillAsks(asked))) return
      this.refused ??= { error }
      this.#wake?.()
    })
  }

  /** Whether nobody else answered what the server took no answer to. */
  async #stillAsks(asked: { [key: string]: InputRequest }): Promise<boolean> {
    const task = await this.#look().catch(() => undefined)
    const { inputRequests = task ? {} : asked } = task ?? {}
    return Object.keys(asked).some((key) => Object.hasOwn(inputRequests, key))
  }

  async #update(asked: { [key: string]: InputRequest }, signal: AbortSignal): Promise<void> {
    const { client, taskId, request } = this.#following
    const inputResponses = await client.answerInputs?.('tools/call', asked, signal, request)
    if (!inputResponses) {
      const what = `The task "${taskId}" asks, and this client answers nothing`
      throw new McpError('INVALID_MESSAGE', what)
    }
    const { timeoutMs } = request
    for (let failures = 1; ; failures++) {
      try {
        await client.request('tasks/update', { taskId, inputResponses }, { signal, timeoutMs })
        return
      } catch (error) {
        if (!isTransient(error)) throw error
        await sleep(pollDelayMs(undefined, failures, this.#following.options), signal)
      }
    }
  }

  /** Waits until it is time to look again, or something is heard. */
  async #pause(task: DetailedTask): Promise<void> {
    if (this.#heard || this.refused) return
    const intervalMs = this.#intervalMs(task.pollIntervalMs)
    await this.#wait(this.#hears ? Math.max(intervalMs, HEARING_MS) : intervalMs)
  }

  #intervalMs(wishedMs = this.#task?.pollIntervalMs): number {
    return pollDelayMs(wishedMs, this.#failures, this.#following.options)
  }

  /** @throws {McpError} `TIMEOUT` when the time is over, `ABORTED`. */
  async #wait(delayMs: number): Promise<void> {
    const { signal } = this.#following.request
    const leftMs = this.#deadline() - performance.now()
    if (leftMs <= 0) throw noResultError('TIMEOUT', this.#following.taskId)
    const over = new AbortController()
    const stop = (): void => over.abort()
    signal?.addEventListener('abort', stop)
    this.#wake = stop
    await sleep(Math.min(delayMs, leftMs, MAX_DELAY_MS), over.signal).catch(() => {})
    this.#wake = undefined
    signal?.removeEventListener('abort', stop)
    if (signal?.aborted) throw abortReason(signal)
  }

  /** When to give up: when the caller says, or when the server may have forgotten the task. */
  #deadline(): number {
    const { maxTimeoutMs = Infinity } = this.#following.request
    // By this clock alone, as the one that said when the task was made may show another time.
    return this.#since + Math.min(maxTimeoutMs, pollTimeoutMs(this.#task?.ttlMs))
  }

  /** Hears of the task where the server tells; goes on looking where it does not. */
  #listen(signal: AbortSignal): void {
    const { client, taskId } = this.#following
    if (this.#listens || !client.listen) return
    this.#listens = true
    const listening = client.listen({ taskIds: [taskId] }, { signal })
    const hear = async (): Promise<void> => {
      const told = await listening
      const { taskIds } = told.filter
      this.#hears = Array.isArray(taskIds) && taskIds.includes(taskId)
      if (!this.#hears) return told.close()
      for await (const { method, params } of told) {
        if (method !== 'notifications/tasks' || params?.taskId !== taskId) continue
        this.#heard = requireDetailedTask(params, taskId)
        this.#wake?.()
      }
    }
    const over = (): void => {
      this.#hears = false
      // Whatever ended it, the client may be closed, which the next look tells.
      this.#wake?.()
    }
    hear().then(over, over)
  }
}

/** What a task came to; nothing while it goes on. */
function outcome(task: DetailedTask): Result | undefined {
  const { taskId, status, result, error } = task
  if (status === 'completed') {
    if ((result?.resultType ?? 'complete') === 'complete') return result
    const what = `The task "${taskId}" ended with a result that is none`
    throw new McpError('INVALID_MESSAGE', what, { data: result })
  }
  if (status === 'failed' && error) {
    throw new ProtocolError(error.code, String(error.message), error.data)
  }
  if (status === 'cancelled') throw noResultError('ABORTED', taskId)
  return undefined
}
