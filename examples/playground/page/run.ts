/**
 * The panel of one request. It shows the progress with a button to cancel, and then the result or the error.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
 */
import type { ProgressParams } from 'edgewise/browser'
import { alternatives, type Alternative } from './alternatives.ts'
import { el } from './dom.ts'
import { explain, failureCard } from './errors.ts'
import type { Call, Calls, CallTarget } from './history/calls.ts'
import { icon } from './icon.ts'
import { jsonBlock } from './json.ts'
import { duration } from './time.ts'

/** The result of a request. */
export interface Outcome {
  /** The elements that show it. */
  nodes: readonly Node[]
  /** The whole result, as the server sent it. */
  result: unknown
  /** What the server reports as a failure, if it does. */
  failure?: string | undefined
  /** Other forms of the result. */
  others?: readonly Alternative[]
}

/** Sends the request. */
export type Work = (
  signal: AbortSignal,
  onProgress: (progress: ProgressParams) => void,
) => Promise<Outcome>

/** Why a request failed. */
export interface Failure {
  text: string
  data: unknown
}

/** The panel that runs the requests of one form, one at a time. */
export interface RunPanel {
  element: HTMLElement
  /** Runs a request, and records it. Never rejects. Resolves with the failure, if it failed. */
  run(target: CallTarget, work: Work): Promise<Failure | undefined>
}

/** Creates the panel, which is empty until the first run. */
export function runPanel(calls: Calls): RunPanel {
  const body = el('div', { class: 'output' })
  const status = el('p', { class: 'state', role: 'status' })
  const choice = el('div')
  const bar = el('progress', { 'aria-label': 'Progress' })
  const message = el('p', { class: 'message' })
  const cancel = el('button', { type: 'button', class: 'small' }, icon('stop'), 'Cancel')
  const live = el('div', { class: 'live', hidden: true }, bar, message)
  const element = el(
    'section',
    { class: 'run', 'aria-label': 'Result', hidden: true },
    el('header', {}, status, choice, cancel),
    live,
    body,
  )
  let running: AbortController | undefined
  cancel.addEventListener('click', () => running?.abort())

  function show(state: string, glyph: Node | undefined, text: string): void {
    element.dataset['state'] = state
    status.replaceChildren(glyph ?? '', text)
    live.hidden = cancel.hidden = state !== 'running'
  }

  function begin(): void {
    element.hidden = false
    body.replaceChildren()
    choice.replaceChildren()
    bar.removeAttribute('value')
    message.textContent = ''
    show('running', undefined, 'Running')
    // The panel may be out of view, because a long form can also be submitted with a keyboard shortcut
    element.scrollIntoView({ block: 'nearest' })
  }

  function onProgress(progress: ProgressParams): void {
    if (progress.total) {
      bar.max = progress.total
      bar.value = progress.progress
    }
    message.textContent = progress.message ?? percent(progress)
  }

  function showOutcome({ nodes, result, others = [] }: Outcome, call: Call): void {
    const shown = alternatives('Show the result as', [
      { label: 'Formatted', make: () => el('div', { class: 'output' }, ...nodes) },
      { label: 'Whole result', make: () => jsonBlock(result, 'Whole result') },
      ...others,
      ...changesSince(calls, call),
    ])
    choice.replaceChildren(shown.buttons)
    body.replaceChildren(shown.body)
  }

  async function run(target: CallTarget, work: Work): Promise<Failure | undefined> {
    const controller = new AbortController()
    running = controller
    const end = calls.begin(target)
    begin()
    try {
      const outcome = await work(controller.signal, onProgress)
      const { failure, result } = outcome
      const call = end({ state: failure === undefined ? 'done' : 'failed', result })
      showOutcome(outcome, call)
      const time = duration(call.durationMs ?? 0)
      if (failure === undefined) show('done', icon('check'), `Done in ${time}`)
      else show('failed', icon('alert'), `The tool reported an error after ${time}`)
      return failure === undefined ? undefined : { text: failure, data: undefined }
    } catch (error) {
      if (controller.signal.aborted) {
        end({ state: 'cancelled' })
        show('cancelled', icon('stop'), 'Cancelled')
        return undefined
      }
      const explanation = explain(error)
      end({ state: 'failed', error: explanation.headline })
      body.replaceChildren(failureCard(explanation))
      show('failed', icon('alert'), 'Failed')
      return { text: String(error), data: explanation.data }
    } finally {
      running = undefined
    }
  }

  return { element, run }
}

/** The comparison with the result of the previous call of the same entry, if there is one. */
function changesSince(calls: Calls, call: Call): Alternative[] {
  const { kind, key, server, id } = call
  const earlier = calls.list().find((each) => {
    const isSame = each.kind === kind && each.key === key && each.server === server
    return isSame && each.id < id && each.result !== undefined
  })
  if (!earlier) return []
  const make = async (): Promise<HTMLElement> => {
    const { comparison } = await import('./history/comparison.ts')
    return comparison(earlier, call)
  }
  return [{ label: 'Changes', make }]
}

function percent({ progress, total }: ProgressParams): string {
  return total ? `${Math.round((progress / total) * 100)} %` : `${progress}`
}
