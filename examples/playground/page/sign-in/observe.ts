/**
 * Records the requests of a sign-in as steps. Loaded on demand.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
 */
import { isObject, type Fetch } from 'edgewise/browser'
import { tryParse } from '../json.ts'
import { redact } from '../secrets.ts'
import { redactText } from '../timeline/redact.ts'
import { describeDocument, titleOfRequest } from './documents.ts'
import type { StepOutcome, StepRecorder } from './steps.ts'

/** Wraps the `fetch` of a sign-in to record each request as a step. */
export function observeSteps(steps: StepRecorder, send: Fetch): Fetch {
  return async (url, init) => {
    const title = titleOfRequest(url, init)
    const end = steps.begin(title, url)
    try {
      const response = await send(url, init)
      end(await outcomeOf(title, response.clone()))
      return response
    } catch (error) {
      end({ state: 'failed', summary: String(error) })
      throw error
    }
  }
}

async function outcomeOf(title: string, response: Response): Promise<StepOutcome> {
  const { status, ok } = response
  const text = await response.text().catch(() => '')
  const said = redact(tryParse(text) ?? redactText(text).slice(0, 1_000))
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
