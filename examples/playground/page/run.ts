/**
 * The panel of one request. It shows the progress with a button to cancel, and then the result or the error.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
 */
import { SdkError, type ProgressParams } from 'edgewise/browser'
import { alternatives, type Alternative } from './alternatives.ts'
import { announce, clearAnnouncement } from './announce.ts'
import type { CallWatch } from './connection/traffic.ts'
import { describeWait } from './connection/wait.ts'
import { el } from './dom.ts'
import { explainError, failureCard, type Explanation, type FailureContext } from './explanation.ts'
import type { Call, Calls, CallTarget } from './history/calls.ts'
import { icon } from './icon.ts'
import { jsonBlock } from './json.ts'
import { duration } from './time.ts'

/** How often the time of a running request is updated, in milliseconds. */
const TICK_MS = 500
/** The timeout with which a request can be sent again, in milliseconds. */
const LONG_TIMEOUT_MS = 300_000

/** When many clients give up, in milliseconds. It is the default of the official TypeScript SDK. */
const USUAL_TIMEOUT_MS = 60_000

/** The state of a request that waits for the server. */
const RUNNING = 'Running'
/** What happened when a request was sent again in a new session. */
const LOST_SESSION = 'The session was lost (404) and opened again'
const LOST_SESSION_ADVICE =
  'Either several processes serve the endpoint and do not share the session: let them share it, or send all its requests to the same process. Or one process deletes it early: because of a restart, an eviction or a short lifetime.'
const SLOW_ADVICE =
  'Many clients give up after 60 s by default: have the tool report progress, or run it as a task.'

/** The result of a request. */
export interface Outcome {
  /** The elements that show it. */
  nodes: readonly Node[]
  /** The whole result, as the server sent it. */
  result: unknown
  /** What the server reports as a failure, if it does. */
  failure?: string | undefined
  /** How the result violates what the server declares, if it does. */
  problem?: string | undefined
  /** Other forms of the result. */
  others?: readonly Alternative[]
}

/** Sends the request. */
export type Work = (
  signal: AbortSignal,
  onProgress: (progress: ProgressParams) => void,
  /** The timeout, in milliseconds, if it is not that of the settings. */
  timeoutMs: number | undefined,
) => Promise<Outcome>

/** What a panel needs of its view. */
export interface RunOptions {
  readonly calls: Calls
  /** The default timeout of a request, in milliseconds. */
  timeoutMs(): number
  /** Watches the request that begins now. */
  watch(): CallWatch
  /** Begins the check of the server. */
  onCheck(): void
  /** What is known about every failure of the request. */
  context(): FailureContext
  /** Sends the request again, with another timeout in milliseconds. */
  onRetry(timeoutMs: number): void
}

/** Why a request failed. */
export interface Failure {
  text: string
  data: unknown
}

/** The panel that runs the requests of one form, one at a time. */
export interface RunPanel {
  element: HTMLElement
  /** Runs a request, and records it. Never rejects. Resolves with the failure, if it failed. */
  run(target: CallTarget, work: Work, timeoutMs?: number): Promise<Failure | undefined>
  /** Says that the result belongs to earlier arguments, because the form rejects the current ones. */
  markEarlier(): void
}

/** Creates the panel, which is empty until the first run. */
export function runPanel({
  calls,
  watch,
  context,
  onCheck,
  onRetry,
  ...defaults
}: RunOptions): RunPanel {
  const body = el('div', { class: 'output' })
  const status = el('p', { class: 'state', role: 'status' })
  const elapsed = el('span', { class: 'note elapsed' })
  const choice = el('div')
  const bar = el('progress', { 'aria-label': 'Progress' })
  const message = el('p', { class: 'message' })
  const cancel = el('button', { type: 'button', class: 'small' }, icon('stop'), 'Cancel')
  const live = el(
    'div',
    { class: 'live', hidden: true },
    bar,
    el('div', { class: 'wait' }, message, cancel),
  )
  const element = el(
    'section',
    { class: 'run', 'aria-label': 'Result', hidden: true },
    el('header', {}, status, elapsed, choice),
    live,
    body,
  )
  let running: AbortController | undefined
  let hasProgress = false
  cancel.addEventListener('click', () => running?.abort())

  function show(state: string, glyph: Node | undefined, text: string): void {
    element.dataset['state'] = state
    status.replaceChildren(glyph ?? '', text)
    live.hidden = state !== 'running'
    elapsed.textContent = ''
    if (element.isConnected) clearAnnouncement()
  }

  function begin(): void {
    element.hidden = false
    body.replaceChildren()
    choice.replaceChildren()
    bar.removeAttribute('value')
    message.textContent = ''
    hasProgress = false
    show('running', undefined, RUNNING)
    // The panel may be out of view, because a long form can also be submitted with a keyboard shortcut
    element.scrollIntoView({ block: 'nearest' })
  }

  function onProgress(progress: ProgressParams): void {
    hasProgress = true
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

  /** Shows how long the request has been running, and what the server does meanwhile, until it is aborted. */
  function showElapsed(call: CallWatch, timeoutMs: number, signal: AbortSignal): void {
    if (signal.aborted) return
    setText(status, call.isAsking() ? 'Waiting for your answer' : RUNNING)
    const exchange = call.exchange()
    const wait = exchange && describeWait(exchange, timeoutMs, performance.now())
    setText(elapsed, wait?.elapsed ?? '')
    // A report of progress says more
    if (!hasProgress) {
      const silence = wait?.silence ?? ''
      const isNew = message.textContent === '' && silence !== ''
      // Otherwise the page shows another view
      if (isNew && element.isConnected) announce(silence)
      setText(message, silence)
    }
    setTimeout(showElapsed, TICK_MS, call, timeoutMs, signal)
  }

  async function run(
    target: CallTarget,
    work: Work,
    timeoutMs?: number,
  ): Promise<Failure | undefined> {
    const controller = new AbortController()
    running = controller
    const watched = watch()
    const end = calls.begin(target, watched.waitedMs)
    const limitMs = timeoutMs ?? defaults.timeoutMs()
    const startedAt = performance.now()
    begin()
    const ticking = new AbortController()
    setTimeout(showElapsed, TICK_MS, watched, limitMs, ticking.signal)
    try {
      const outcome = await work(controller.signal, onProgress, timeoutMs)
      const { failure, problem, result } = outcome
      const isDone = (failure ?? problem) === undefined
      const isLost = watched.hasLostSession()
      const waitedMs = watched.waitedMs()
      const tookMs = performance.now() - startedAt - waitedMs
      // Requests for prompts and resources ask for no progress
      const isSilent = target.kind === 'tool' && isDone && !hasProgress
      const slow =
        isSilent && tookMs > USUAL_TIMEOUT_MS
          ? `It took ${duration(tookMs)} and reported no progress`
          : undefined
      const warning = problem ?? (isLost ? LOST_SESSION : slow)
      const call = end({ state: isDone ? 'done' : 'failed', result, warning })
      showOutcome(outcome, call)
      if (slow !== undefined) body.prepend(warningCard(slow, SLOW_ADVICE))
      if (isLost) body.prepend(lostSessionCard(onCheck))
      const waited = waitedMs > 0 ? `, plus ${duration(waitedMs)} waiting for answers` : ''
      const time = duration(call.durationMs ?? 0) + waited
      if (isDone && isLost) show('warned', icon('alert'), `Done in ${time}, in a new session`)
      else if (slow !== undefined)
        show('warned', icon('alert'), `Done in ${time}, without progress`)
      else if (isDone) show('done', icon('check'), `Done in ${time}`)
      else if (problem !== undefined) show('failed', icon('alert'), problem)
      else show('failed', icon('alert'), `The tool reported an error after ${time}`)
      return failure === undefined ? undefined : { text: failure, data: undefined }
    } catch (error) {
      if (controller.signal.aborted) {
        end({ state: 'cancelled' })
        show('cancelled', icon('stop'), 'Cancelled')
        return undefined
      }
      const isTimeout = error instanceof SdkError && error.code === 'TIMEOUT'
      const explanation = isTimeout
        ? await timeoutOf(watched, limitMs, performance.now())
        : await explainError(error, context())
      end({ state: 'failed', error: explanation.headline })
      const card = failureCard(explanation)
      if (isTimeout && limitMs < LONG_TIMEOUT_MS) card.append(retryButton(onRetry))
      body.replaceChildren(card)
      show('failed', icon('alert'), 'Failed')
      const text = error instanceof Error ? error.message : String(error)
      return { text, data: explanation.data }
    } finally {
      ticking.abort()
      running = undefined
    }
  }

  function markEarlier(): void {
    if (running) return
    element.dataset['state'] = 'earlier'
    elapsed.textContent = 'with the earlier arguments'
  }

  return { element, run, markEarlier }
}

/** Says that the server forgot the session, and what to do about it. */
function lostSessionCard(onclick: () => void): HTMLElement {
  return warningCard(
    LOST_SESSION,
    LOST_SESSION_ADVICE,
    el('button', { type: 'button', class: 'small', onclick }, 'Check this server'),
  )
}

function warningCard(warning: string, advice: string, ...more: Node[]): HTMLElement {
  return el(
    'div',
    { class: 'card warned' },
    el('p', { class: 'text' }, el('strong', {}, warning)),
    el('p', { class: 'note' }, advice),
    ...more,
  )
}

/** Changes a text only if it is another, so that a selection of it stays. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

async function timeoutOf(call: CallWatch, limitMs: number, now: number): Promise<Explanation> {
  const { explainTimeout } = await import('./connection/timeout.ts')
  return explainTimeout(call.exchange(), limitMs, now)
}

function retryButton(onRetry: RunOptions['onRetry']): HTMLElement {
  const onclick = (): void => onRetry(LONG_TIMEOUT_MS)
  return el('button', { type: 'button', class: 'small', onclick }, 'Run again with 5 minutes')
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
