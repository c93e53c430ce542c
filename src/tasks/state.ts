/**
 * The states of a task and the transitions between them: `working` and `input_required` alternate
 * until a final state is reached, which cannot change. Every function returns the record after the
 * change, or `undefined` if there is nothing to change.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status-lifecycle
 */
import type { Recording } from '../patterns/replay.ts'
import type { InputRequest, Result, ErrorObject } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { isFinal, type InputOutcome, type OpenInput, type TaskRecord } from './record.ts'

/** A change of a task. */
export type Transition = (record: TaskRecord, now: number) => TaskRecord | undefined

/** How the work on a task ended. */
export type TaskOutcome =
  | { readonly result: Result; readonly statusMessage?: string | undefined }
  | { readonly error: ErrorObject; readonly statusMessage?: string | undefined }

/** A request for input to send to the client. */
export interface NewInput {
  readonly request: InputRequest
  readonly asked: string
}

const UNLEASED = { leasedBy: undefined, leasedUntil: undefined }

/** Sets the outcome, which is `failed` if `fails` says so. */
export function finish(outcome: TaskOutcome, fails: (result: Result) => boolean): Transition {
  const { statusMessage } = outcome
  if ('error' in outcome) {
    const { error } = outcome
    return end({ status: 'failed', statusMessage: statusMessage ?? error.message, error })
  }
  const { result } = outcome
  if (!fails(result)) return end({ status: 'completed', statusMessage, result })
  return end({ status: 'failed', statusMessage: statusMessage ?? failureOf(result), result })
}

/** The first text of a failed result. */
function failureOf({ content }: Result): string {
  const [first] = Array.isArray(content) ? (content as unknown[]) : []
  return isObject(first) && typeof first.text === 'string' ? first.text : 'The tool failed'
}

/** Cancels the task on behalf of the client or the server's author. */
export function cancel(statusMessage = 'The task was cancelled'): Transition {
  return end({ status: 'cancelled', statusMessage })
}

/** Sets the status message. */
export function setStatusMessage(statusMessage: string): Transition {
  return (record, now) =>
    record.statusMessage === statusMessage ? undefined : change(record, now, { statusMessage })
}

/** Stores the handler's recording, which clients do not see. */
export function record(recording: Recording): Transition {
  return (known) =>
    isFinal(known) ? undefined : { ...known, version: known.version + 1, recording }
}

/** Stores who runs the task and for how long, which clients do not see. */
export function lease(leasedBy: string, leasedUntil: number): Transition {
  return (known) =>
    isFinal(known) ? undefined : { ...known, version: known.version + 1, leasedBy, leasedUntil }
}

/** The handler has returned, and the outcome will be reported externally. */
export function awaitOutcome(recording: Recording): Transition {
  return (known, now) => change(known, now, { external: true, recording, ...UNLEASED })
}

/**
 * The handler requests input and cannot continue without it.
 *
 * Each request gets a key that the task has never used, so that clients treat a repeated request
 * after an invalid response as new.
 */
export function ask(
  questions: { readonly [key: string]: NewInput },
  recording: Recording,
  ownState?: string,
): Transition {
  return (known, now) => {
    const inputs: [string, OpenInput][] = []
    const asked = [...known.asked]
    for (const [key, question] of Object.entries(questions)) {
      let wireKey = key
      for (let n = 2; asked.includes(wireKey); n++) wireKey = `${key}~${n}`
      asked.push(wireKey)
      inputs.push([wireKey, { key, ...question }])
    }
    // Without a prototype, so that any text can be a key, even a name such as `__proto__`.
    const next = {
      inputs: Object.fromEntries(inputs),
      answers: {},
      asked,
      recording,
      ownState,
      ...UNLEASED,
    }
    return change(known, now, { ...next, status: 'input_required' })
  }
}

/**
 * Accepts responses by the keys that clients see. Keys that are not pending are ignored, so a
 * duplicate or late response changes nothing; after the last response the run resumes.
 */
export function answer(outcomes: { readonly [wireKey: string]: InputOutcome }): Transition {
  return (known, now) => {
    const inputs = { ...known.inputs }
    let { answers } = known
    let accepted = 0
    for (const [wireKey, outcome] of Object.entries(outcomes)) {
      const open = Object.hasOwn(inputs, wireKey) ? inputs[wireKey] : undefined
      if (!open) continue
      delete inputs[wireKey]
      answers = { ...answers, [open.key]: { ...outcome, asked: open.asked } }
      accepted++
    }
    if (accepted === 0) return undefined
    const status = Object.keys(inputs).length > 0 ? 'input_required' : 'working'
    return change(known, now, { inputs, answers, status })
  }
}

function end(last: Pick<TaskRecord, 'status' | 'statusMessage' | 'result' | 'error'>): Transition {
  // Fields that only a run needs are cleared.
  const idle = { inputs: {}, answers: {}, ...UNLEASED, ownState: undefined }
  return (known, now) => change(known, now, { ...idle, ...last })
}

function change(
  known: TaskRecord,
  now: number,
  changes: Partial<TaskRecord>,
): TaskRecord | undefined {
  if (isFinal(known)) return undefined
  const lastUpdatedAt = Math.max(now, known.lastUpdatedAt + 1)
  return { ...known, ...changes, version: known.version + 1, lastUpdatedAt }
}
