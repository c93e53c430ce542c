/**
 * The calls of a tab: what was requested, and what came back. They are in memory only, and bounded.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
 */
import type { JsonObject } from 'edgewise/browser'
import type { Kind } from '../route.ts'

/** What a call requests. */
export interface CallTarget {
  /** The kind of the entry whose view made the call. */
  kind: Kind
  /** The name of the tool or prompt, or the URI (template) of the resource. */
  key: string
  title: string
  arguments: JsonObject
  /** The URL of the server. */
  server: string
}

/** How a call ended. */
export interface CallOutcome {
  state: 'done' | 'failed' | 'cancelled'
  /** The whole result; absent if the request failed. */
  result?: unknown
  /** Why the request failed, in one line. */
  error?: string
  /** What is wrong although there is a result, in one line. */
  warning?: string | undefined
}

/** A call, which may still be running. */
export interface Call extends CallTarget {
  readonly id: number
  readonly startedAt: Date
  state: 'running' | CallOutcome['state']
  /** The duration without the time in which the page waited for the user's answers, in milliseconds. */
  durationMs?: number
  result?: unknown
  error?: string
  warning?: string | undefined
}

/** The calls of a tab. */
export interface Calls {
  /** The calls, newest first. */
  list(): readonly Call[]
  /**
   * Records that a call begins. Returns a function to be called when it has ended.
   *
   * @param waitedMs Returns how long the call has waited for the user's answers, in milliseconds.
   */
  begin(target: CallTarget, waitedMs?: () => number): (outcome: CallOutcome) => Call
  clear(): void
  /** Calls a listener after every change. Returns a function that ends that. */
  subscribe(listener: () => void): () => void
}

/** The maximum number of calls. */
export const MAX_CALLS = 200
/** The maximum size of all results, in characters. An image has 4 characters for 3 bytes. */
export const MAX_CHARACTERS = 50_000_000

/** Creates an empty list of calls. Beyond its limits, it drops the oldest ones. */
export function createCalls(now: () => number = () => performance.now()): Calls {
  let calls: Call[] = []
  let lastId = 0
  const listeners = new Set<() => void>()
  const notify = (): void => {
    for (const listener of listeners) listener()
  }
  const sizes = new WeakMap<Call, number>()

  function dropOldest(): void {
    let size = 0
    const end = calls.findIndex((call, index) => {
      size += sizes.get(call) ?? 0
      // The newest call is kept, however large its result is
      return index >= MAX_CALLS || (index > 0 && size > MAX_CHARACTERS)
    })
    if (end !== -1) calls = calls.slice(0, end)
  }

  return {
    list: () => calls,
    begin(target, waitedMs = () => 0) {
      const call: Call = { ...target, id: ++lastId, startedAt: new Date(), state: 'running' }
      const start = now()
      calls = [call, ...calls]
      dropOldest()
      notify()
      return (outcome) => {
        Object.assign(call, outcome, { durationMs: now() - start - waitedMs() })
        sizes.set(call, sizeOf(outcome.result))
        dropOldest()
        notify()
        return call
      }
    },
    clear() {
      // Running calls remain, because they will end
      calls = calls.filter(({ state }) => state === 'running')
      notify()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** Returns the calls that have not ended. */
export function runningCalls(calls: Calls): Call[] {
  return calls.list().filter(({ state }) => state === 'running')
}

/** The approximate size of a JSON value, in characters. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  return Object.entries(value).reduce((sum, [key, part]) => sum + key.length + sizeOf(part), 8)
}
