/**
 * The panel of one request. It shows the progress with a button to cancel, and then the result or the error.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
 */
import type { ProgressParams } from 'edgewise/browser'
import { duration } from './time.ts'
import { el } from './dom.ts'
import { explain, explanationBlock } from './errors.ts'
import { icon } from './icon.ts'

/** The result of a request, as elements to show. */
export interface Outcome {
  nodes: readonly Node[]
  /** Whether the server reports a failure. */
  failed?: boolean
}

/** Sends the request. */
export type Work = (
  signal: AbortSignal,
  onProgress: (progress: ProgressParams) => void,
) => Promise<Outcome>

/** The panel that runs the requests of one form, one at a time. */
export interface RunPanel {
  element: HTMLElement
  /** Runs a request. Never rejects. */
  run(work: Work): Promise<void>
}

/** Creates the panel, which is empty until the first run. */
export function runPanel(): RunPanel {
  const body = el('div', { class: 'output' })
  const status = el('p', { class: 'state', role: 'status' })
  const bar = el('progress', { 'aria-label': 'Progress' })
  const message = el('p', { class: 'message' })
  const cancel = el('button', { type: 'button', class: 'small' }, icon('stop'), 'Cancel')
  const live = el('div', { class: 'live', hidden: true }, bar, message)
  const element = el(
    'section',
    { class: 'run', 'aria-label': 'Result', hidden: true },
    el('header', {}, status, cancel),
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

  async function run(work: Work): Promise<void> {
    const controller = new AbortController()
    running = controller
    const start = performance.now()
    element.hidden = false
    body.replaceChildren()
    bar.removeAttribute('value')
    message.textContent = ''
    show('running', undefined, 'Running')
    // The panel may be out of view, because a long form can also be submitted with a keyboard shortcut
    element.scrollIntoView({ block: 'nearest' })
    try {
      const { nodes, failed = false } = await work(controller.signal, (progress) => {
        if (progress.total) {
          bar.max = progress.total
          bar.value = progress.progress
        }
        message.textContent = progress.message ?? percent(progress)
      })
      body.replaceChildren(...nodes)
      const time = duration(performance.now() - start)
      if (failed) show('failed', icon('alert'), `The tool reported an error after ${time}`)
      else show('done', icon('check'), `Done in ${time}`)
    } catch (error) {
      if (controller.signal.aborted) show('cancelled', icon('stop'), 'Cancelled')
      else {
        body.replaceChildren(...explanationBlock(explain(error)))
        show('failed', icon('alert'), 'Failed')
      }
    } finally {
      running = undefined
    }
  }

  return { element, run }
}

function percent({ progress, total }: ProgressParams): string {
  return total ? `${Math.round((progress / total) * 100)} %` : `${progress}`
}
