/**
 * Calls an application's observer. Failures of the observer do not affect the observed operations.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
import type {
  Observation,
  Observer,
  Operation,
  Outcome,
  TraceContext,
} from '../protocol/observation.ts'
import type { JsonObject } from '../protocol/types.ts'
import { redactText } from './redact-text.ts'

/** Begins an operation. */
export type BeginOperation = (operation: Operation) => OngoingOperation

/** How an operation ended: its outcome, without its duration. */
export type OperationEnd = Omit<Outcome, 'durationMs'>

/** An operation that has begun. */
export interface OngoingOperation {
  /** The trace context to send. */
  readonly trace: TraceContext | undefined
  /** Runs work as a part of the operation. */
  run<T>(work: () => T): T
  /** Ends the operation. Only the first call counts. */
  end(outcome: OperationEnd): void
}

/**
 * Wraps an observer.
 *
 * @param report Receives what the observer throws.
 * @param redact Returns a redacted copy of a value; by default nothing is redacted.
 */
export function guardObserver(
  observer: Observer,
  report: (error: unknown) => void,
  redact?: <T>(value: T) => T | undefined,
): BeginOperation {
  const guard = <T>(hook: () => T): T | undefined => {
    try {
      const value = hook()
      // An observer should not be async, but if it is, its rejection must not end the process
      if (value instanceof Promise) value.catch(report)
      return value
    } catch (error) {
      report(error)
      return undefined
    }
  }
  const redactOperation = (operation: Operation): Operation | undefined => {
    if (!redact) return operation
    const copy = redact(operation)
    const { params } = operation
    return copy && params ? { ...copy, params: () => redact(params()) } : copy
  }
  const redactOutcome = (end: OperationEnd, durationMs: number): Outcome | undefined => {
    // `Object.assign`, because on Node 20, adding members to an object made by spreading takes microseconds
    const outcome = Object.assign({}, end, { durationMs })
    if (!redact) return outcome
    const copy = redact(outcome)
    const { result } = outcome
    return copy && result ? { ...copy, result: () => redact(result()) } : copy
  }
  return (operation) => {
    const startedAt = performance.now()
    const observation = guard((): Observation | undefined => {
      const redacted = redactOperation(operation)
      return (redacted && observer(redacted)) ?? undefined
    })
    if (!observation) return UNOBSERVED
    let hasEnded = false
    return {
      trace: guard(() => observation.trace),
      run: (work) => runWithin(observation, work, guard),
      end(outcome) {
        if (hasEnded) return
        hasEnded = true
        const durationMs = performance.now() - startedAt
        guard(() => {
          if (!observation.end) return undefined
          const redacted = redactOutcome(outcome, durationMs)
          return redacted && observation.end(redacted)
        })
      },
    }
  }
}

/**
 * Runs work as an operation, and ends the operation when the work ends.
 *
 * @param endOf Maps the value that `work` returns to the outcome; by default, to {@link COMPLETE}.
 * @param endOfError Maps an error that `work` throws to the outcome.
 * @throws The error of the work.
 */
export async function runObserved<T>(
  ongoing: OngoingOperation,
  work: () => T | Promise<T>,
  endOf: (value: T) => OperationEnd = () => COMPLETE,
  endOfError: (error: unknown) => OperationEnd = errorEnd,
): Promise<T> {
  try {
    const value = await ongoing.run(work)
    ongoing.end(endOf(value))
    return value
  } catch (error) {
    ongoing.end(endOfError(error))
    throw error
  }
}

/** An operation that the observer chose not to observe. */
const UNOBSERVED: OngoingOperation = { trace: undefined, run: (work) => work(), end() {} }

/** The outcome of an operation that succeeded. */
export const COMPLETE: OperationEnd = { outcome: 'complete' }

/** Runs work within an observation, once, even if the observer fails. */
function runWithin<T>(
  observation: Observation,
  work: () => T,
  guard: (hook: () => void) => void,
): T {
  /** Returns the value of the work, or throws its error. Set once the work has run. */
  let settle: (() => T) | undefined
  const start = (): void => {
    if (settle) return
    try {
      const value = work()
      settle = () => value
    } catch (error) {
      settle = () => {
        throw error
      }
    }
  }
  guard(() => observation.run?.(start))
  start()
  // `start` has run, which the compiler does not see
  if (!settle) throw new TypeError('The work was not started')
  return settle()
}

/** The name and the URI in the params of a message. */
export function targetOf(params: JsonObject | undefined): Pick<Operation, 'name' | 'uri'> {
  const { name, uri } = params ?? {}
  return {
    name: typeof name === 'string' ? name : undefined,
    uri: typeof uri === 'string' ? uri : undefined,
  }
}

/** The outcome of a request that was answered with a result. */
export function resultEnd(result: JsonObject): OperationEnd {
  const finalOutcome = result.isError === true ? 'failed' : 'complete'
  const outcome = result.resultType === 'input_required' ? 'input_required' : finalOutcome
  return { outcome, result: () => result }
}

/**
 * The outcome of an operation that failed with an error, whose message is copied without
 * credentials.
 */
export function errorEnd(error: unknown, isCancelled = false): OperationEnd {
  const { code, message, status } = membersOf(error)
  const outcome = isCancelled || code === 'ABORTED' ? 'cancelled' : 'error'
  const isCode = typeof code === 'number' || typeof code === 'string'
  return {
    outcome,
    error: {
      message: redactText(typeof message === 'string' ? message : textOf(error)),
      ...(isCode && { code }),
      ...(typeof status === 'number' && { status }),
    },
  }
}

/** The codes of errors with which the user or a server rejects a sign-in. */
const REJECTIONS: readonly unknown[] = ['DENIED', 'UNAUTHORIZED', 'FORBIDDEN']

/**
 * The outcome of an authorization that threw an error: `failed` if the caller or the sign-in was
 * rejected, otherwise `error` or `cancelled`, because no decision was reached.
 */
export function authorizationEnd(error: unknown): OperationEnd {
  const end = errorEnd(error)
  const { code, status = 500 } = end.error ?? {}
  const isRejection = status < 500 || REJECTIONS.includes(code)
  return isRejection && end.outcome === 'error' ? { ...end, outcome: 'failed' } : end
}

/** The members of a value that was thrown, which may be any value. */
function membersOf(error: unknown): { code?: unknown; message?: unknown; status?: unknown } {
  try {
    const { code, message, status, data } = Object(error) as {
      code?: unknown
      message?: unknown
      status?: unknown
      data?: { status?: unknown } | null
    }
    return { code, message, status: status ?? data?.status }
  } catch {
    return {}
  }
}

/** The text of a value. Some values cannot be converted to text. */
function textOf(value: unknown): string {
  try {
    return String(value)
  } catch {
    return 'Unknown error'
  }
}
