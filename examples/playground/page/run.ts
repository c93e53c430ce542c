/**
 * One request as a person sees it: running with its progress and a way to cancel, then its result
 * or what went wrong.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
 */
import type { ProgressParams } from 'edgewise/browser'
import { duration } from './activity/time.ts'
import { el } from './dom.ts'
import { explain } from './errors.ts'
import { icon } from './icon.ts'

/** What a request gave, ready to be shown. */
export interface Outcome {
  nodes: readonly Node[]
  /** Whether the server says that it failed. */
  failed?: boolean
}

/** Sends the request. */
export type Work = (
  signal: AbortSignal,
  onProgress: (progress: ProgressParams) => void,
) => Promise<Outcome>

/** The place where requests of one form run, one at a time. */
export interface RunPanel {
  element: HTMLElement
  /** Runs it. Never rejects. */
  run(work: Work): Promise<void>
}

/** Makes the panel, which is empty until the first run. */
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
    const controller = (running = new AbortController())
    const start = performance.now()
    element.hidden = false
    body.replaceChildren()
    bar.removeAttribute('value')
    message.textContent = ''
    show('running', undefined, 'Running')
    // A long form is run from above by its shortcut, or has its button at the edge.
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
        body.replaceChildren(...explain(error))
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
