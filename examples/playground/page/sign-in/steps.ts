/**
 * The steps of a sign-in, as they happen: which documents were requested, and what each of them says.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
 */
import { withoutSecrets } from '../secrets.ts'

/** One step of a sign-in. */
export interface SignInStep {
  readonly id: number
  /** For example `Protected resource metadata`. */
  readonly title: string
  /** The requested URL, without secrets. */
  readonly url: string
  /** `absent` means that the document does not exist, which the specification allows. */
  readonly state: 'running' | 'done' | 'failed' | 'absent'
  /** The HTTP status. */
  readonly status?: number | undefined
  /** The document or response, without secrets. */
  readonly said?: unknown
  /** The most important facts of `said`, in one line. */
  readonly summary?: string | undefined
  readonly at: Date
  /** The duration of the step, in milliseconds. */
  readonly tookMs?: number | undefined
}

/** How a step has ended. */
export type StepOutcome = Pick<SignInStep, 'state' | 'status' | 'said' | 'summary'>

/** Records the steps of one server's sign-ins. */
export interface StepRecorder {
  /** Begins a step. Returns a function that ends it. */
  begin(title: string, url: string): (outcome: StepOutcome) => void
  /** Adds a step that takes no time of its own. */
  add(title: string, url: string, outcome: StepOutcome): void
}

let lastId = 0

/** Creates a recorder. It reports each step when it begins, and again with the same id when it ends. */
export function recordSteps(report: (step: SignInStep) => void): StepRecorder {
  function begin(title: string, url: string): (outcome: StepOutcome) => void {
    const start = performance.now()
    const step = { id: ++lastId, title, url: withoutSecrets(url), at: new Date() }
    report({ ...step, state: 'running' })
    return (outcome) => report({ ...step, ...outcome, tookMs: performance.now() - start })
  }
  return {
    begin,
    add(title, url, outcome) {
      report({ id: ++lastId, title, url: withoutSecrets(url), at: new Date(), ...outcome })
    },
  }
}
