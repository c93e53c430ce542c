/**
 * The steps of a sign-in, as they happen: which documents were requested, and what each of them says.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
 */
import { isObject, type Fetch } from 'edgewise/browser'
import { tryParse } from '../json.ts'
import { redact, withoutSecrets } from '../secrets.ts'
import { describeDocument, titleOfRequest } from './documents.ts'

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
  /** Wraps the `fetch` of a sign-in to record each request as a step. */
  observe(send: Fetch): Fetch
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
    observe: (send) => async (url, init) => {
      const title = titleOfRequest(url, init)
      const end = begin(title, url)
      try {
        const response = await send(url, init)
        end(await outcomeOf(title, response.clone()))
        return response
      } catch (error) {
        end({ state: 'failed', summary: String(error) })
        throw error
      }
    },
  }
}

async function outcomeOf(title: string, response: Response): Promise<StepOutcome> {
  const { status, ok } = response
  const text = await response.text().catch(() => '')
  const said = redact(tryParse(text) ?? text.slice(0, 1_000))
  if (status === 404) return { state: 'absent', status, summary: 'Does not exist' }
  if (!isObject(said)) {
    return { state: 'failed', status, said, summary: `HTTP ${status}, which is not JSON` }
  }
  const summary = ok ? describeDocument(title, said) : describeError(status, said)
  return { state: ok ? 'done' : 'failed', status, said, summary }
}

function describeError(
  status: number,
  { error, error_description: details }: object & { error?: unknown; error_description?: unknown },
): string {
  const parts = [error, details].filter((part) => typeof part === 'string')
  return [`HTTP ${status}`, ...parts].join(', ')
}
