/**
 * The states of a task and the transitions between them. A task alternates between `working` and `input_required`
 * until it reaches a final state, which cannot change.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status-lifecycle
 */
import type { Recording } from '../patterns/replay.ts'
import type { InputRequest, Result, ErrorObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { isFinal, type InputOutcome, type OpenInput, type TaskRecord } from './record.ts'

/** A change of a task. Returns the record after the change, or `undefined` if nothing changes. */
export type Transition = (record: TaskRecord, now: number) => TaskRecord | undefined

/** The outcome of a task's work. */
export type TaskOutcome =
  | { readonly result: Result; readonly statusMessage?: string | undefined }
  | { readonly error: ErrorObject; readonly statusMessage?: string | undefined }

/** A request for input to send to the client. */
export interface NewInput {
  readonly request: InputRequest
  /** The digest of the request. */
  readonly digest: string
}

/** The changes that end a lease. */
const UNLEASED = { leasedBy: undefined, leasedUntil: undefined }

/** Ends the task with an outcome. The task becomes `failed` if there is an error, or if `isFailure` returns true for the result. */
export function finish(
  outcome: TaskOutcome,
  isFailure: (result: Result) => boolean = () => false,
): Transition {
  const { statusMessage } = outcome
  if ('error' in outcome) {
    const { error } = outcome
    return end({ status: 'failed', statusMessage: statusMessage ?? error.message, error })
  }
  const { result } = outcome
  if (!isFailure(result)) return end({ status: 'completed', statusMessage, result })
  return end({ status: 'failed', statusMessage: statusMessage ?? failureText(result), result })
}

/** The first text of a failed result. */
function failureText({ content }: Result): string {
  const [firstBlock] = Array.isArray(content) ? (content as unknown[]) : []
  return isObject(firstBlock) && typeof firstBlock.text === 'string'
    ? firstBlock.text
    : 'The tool failed'
}

/** Cancels the task. */
export function cancel(statusMessage = 'The task was cancelled'): Transition {
  return end({ status: 'cancelled', statusMessage })
}

/** Sets the status message. */
export function setStatusMessage(statusMessage: string): Transition {
  return (record, now) =>
    record.statusMessage === statusMessage ? undefined : change(record, now, { statusMessage })
}

/** Stores the handler's recording. Clients do not see this change. */
export function saveRecording(recording: Recording): Transition {
  return (before) =>
    isFinal(before) ? undefined : { ...before, version: before.version + 1, recording }
}

/** Stores which process runs the task, and until when. Clients do not see this change. */
export function lease(leasedBy: string, leasedUntil: number): Transition {
  return (before) =>
    isFinal(before) ? undefined : { ...before, version: before.version + 1, leasedBy, leasedUntil }
}

/** Records that the handler has returned, and that the outcome will be reported externally. */
export function awaitOutcome(recording: Recording): Transition {
  return (before, now) => change(before, now, { external: true, recording, ...UNLEASED })
}

/**
 * Records that the handler requests input, and cannot continue without it.
 *
 * Each request gets a key that the task has never used. If a request is repeated after an invalid response,
 * clients therefore treat it as a new request.
 *
 * @param newInputs The input requests, by the keys that the handler uses.
 * @param ownState The `requestState`, if the handler itself returned an `input_required` result.
 */
export function ask(
  newInputs: { readonly [key: string]: NewInput },
  recording: Recording,
  ownState?: string,
): Transition {
  return (before, now) => {
    const inputs: [string, OpenInput][] = []
    const usedKeys = [...before.usedKeys]
    for (const [key, { request, digest }] of Object.entries(newInputs)) {
      let wireKey = key
      for (let n = 2; usedKeys.includes(wireKey); n++) wireKey = `${key}~${n}`
      usedKeys.push(wireKey)
      inputs.push([wireKey, { key, request, digest }])
    }
    const changes = {
      // Unlike an assignment, this allows any text as a key, even `__proto__`
      inputs: Object.fromEntries(inputs),
      answers: {},
      usedKeys,
      recording,
      ownState,
      ...UNLEASED,
    }
    return change(before, now, { ...changes, status: 'input_required' })
  }
}

/**
 * Accepts the outcomes of input requests, by the keys that clients see. Outcomes of requests that are not
 * pending are ignored, so a duplicate or late response changes nothing. After the last response, the task is
 * ready to run again.
 */
export function answer(outcomes: { readonly [wireKey: string]: InputOutcome }): Transition {
  return (before, now) => {
    const inputs = { ...before.inputs }
    let { answers } = before
    let hasChanged = false
    for (const [wireKey, outcome] of Object.entries(outcomes)) {
      const input = Object.hasOwn(inputs, wireKey) ? inputs[wireKey] : undefined
      if (!input) continue
      delete inputs[wireKey]
      answers = { ...answers, [input.key]: { ...outcome, digest: input.digest } }
      hasChanged = true
    }
    if (!hasChanged) return undefined
    const status = Object.keys(inputs).length > 0 ? 'input_required' : 'working'
    return change(before, now, { inputs, answers, status })
  }
}

function end(final: Pick<TaskRecord, 'status' | 'statusMessage' | 'result' | 'error'>): Transition {
  // Only another run would need these fields, and a final task does not run again
  const cleared = { inputs: {}, answers: {}, ...UNLEASED, ownState: undefined }
  return (before, now) => change(before, now, { ...cleared, ...final })
}

function change(
  before: TaskRecord,
  now: number,
  changes: Partial<TaskRecord>,
): TaskRecord | undefined {
  if (isFinal(before)) return undefined
  const lastUpdatedAt = Math.max(now, before.lastUpdatedAt + 1)
  return { ...before, ...changes, version: before.version + 1, lastUpdatedAt }
}
