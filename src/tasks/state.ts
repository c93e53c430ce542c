/**
 * The states of a task and how it gets from one to the next: `working` and `input_required` in
 * turns, then one of the final states, which nothing changes any more. Every function gives the
 * record after the change, or nothing where there is nothing to change.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status-lifecycle
 */
import type { Recording } from '../patterns/replay.ts'
import type { ErrorObject } from '../protocol/errors.ts'
import type { InputRequest, Result } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { isFinal, type InputOutcome, type OpenInput, type TaskRecord } from './record.ts'

/** A change of a task. */
export type Transition = (record: TaskRecord, now: number) => TaskRecord | undefined

/** How the work on a task ended. */
export type TaskOutcome =
  | { readonly result: Result; readonly statusMessage?: string | undefined }
  | { readonly error: ErrorObject; readonly statusMessage?: string | undefined }

/** A question about to be put to the client. */
export interface Asking {
  readonly request: InputRequest
  readonly asked: string
}

/** The outcome, which is `failed` where `fails` says so. */
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

/** What a failed result says first. */
function failureOf({ content }: Result): string {
  const [first] = Array.isArray(content) ? (content as unknown[]) : []
  return isObject(first) && typeof first.text === 'string' ? first.text : 'The tool failed'
}

/** The client, or the author, wants no result any more. */
export function cancel(statusMessage = 'The task was cancelled'): Transition {
  return end({ status: 'cancelled', statusMessage })
}

/** Says what is being done. */
export function say(statusMessage: string): Transition {
  return (record, now) =>
    record.statusMessage === statusMessage ? undefined : change(record, now, { statusMessage })
}

/** Notes what the handler asked and did; clients see nothing of it. */
export function record(recording: Recording): Transition {
  return (known) =>
    isFinal(known) ? undefined : { ...known, version: known.version + 1, recording }
}

/** Notes until when somebody works on the task; clients see nothing of it. */
export function lease(leasedUntil: number | undefined): Transition {
  return (known) =>
    isFinal(known) ? undefined : { ...known, version: known.version + 1, leasedUntil }
}

/** The handler is done, and the outcome comes from elsewhere. */
export function handOver(recording: Recording): Transition {
  return (known, now) => change(known, now, { external: true, recording, leasedUntil: undefined })
}

/**
 * The handler asks, and cannot go on without answers.
 *
 * Each question gets a name that the task never used before, so that one which was answered badly
 * is a new one for clients.
 */
export function ask(
  questions: { readonly [key: string]: Asking },
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
    // So that any text can be a name, even that of an object's prototype.
    const next = {
      inputs: Object.fromEntries(inputs),
      answers: {},
      asked,
      recording,
      ownState,
      leasedUntil: undefined,
    }
    return change(known, now, { ...next, status: 'input_required' })
  }
}

/**
 * Takes answers by the names that clients know. Names that nothing waits for are ignored, so an
 * answer that comes twice or late changes nothing; with the last one the work goes on.
 */
export function answer(given: { readonly [wireKey: string]: InputOutcome }): Transition {
  return (known, now) => {
    const inputs = { ...known.inputs }
    let { answers } = known
    let taken = 0
    for (const [wireKey, outcome] of Object.entries(given)) {
      const open = Object.hasOwn(inputs, wireKey) ? inputs[wireKey] : undefined
      if (!open) continue
      delete inputs[wireKey]
      answers = { ...answers, [open.key]: { ...outcome, asked: open.asked } }
      taken++
    }
    if (taken === 0) return undefined
    const status = Object.keys(inputs).length > 0 ? 'input_required' : 'working'
    return change(known, now, { inputs, answers, status })
  }
}

function end(last: Pick<TaskRecord, 'status' | 'statusMessage' | 'result' | 'error'>): Transition {
  // What only the work needed is not kept.
  const idle = { inputs: {}, answers: {}, leasedUntil: undefined, ownState: undefined }
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
