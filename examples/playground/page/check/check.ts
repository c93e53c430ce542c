/**
 * Checks the server, and shows the findings as they are made. They are the same as those of `edgewise check`,
 * except for rules whose requests a browser does not send.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import { checkEndpoint, groupFindings, reportOf, type Finding } from '#internal/check'
import { isObject, pageFetch, type Fetch } from 'edgewise/browser'
import { copyButton } from '../copy.ts'
import { openClient, requestHeaders } from '../connection/client.ts'
import { relayedUrl } from '../connection/relay.ts'
import { quoteWord } from '../copy-as/shell.ts'
import { el } from '../dom.ts'
import { explain } from '../errors.ts'
import { failureCard } from '../explanation.ts'
import { icon } from '../icon.ts'
import { jsonText, tryParse } from '../json.ts'
import { duration } from '../time.ts'
import type { RunningCheck } from '../timeline/timeline.ts'
import { withoutSecrets } from '../secrets.ts'
import type { Workspace } from '../workspace.ts'
import { findingList } from './findings.ts'

/** How long one response may take, in milliseconds. */
const TIMEOUT_MS = 30_000
/** How often the time of a request is updated, in milliseconds. */
const TICK_MS = 500

/** Checks the server, and shows the findings in an element. Never rejects. */
export async function runCheck(workspace: Workspace, place: HTMLElement): Promise<void> {
  const url = workspace.connection?.url ?? new URL(workspace.settings.get().url).href
  /** The URL for other programs. */
  const ownUrl = relayedUrl(url) ?? url
  const controller = new AbortController()
  const { signal } = controller
  const findings: Finding[] = []
  const status = el('p', { class: 'state', role: 'status' })
  const cancel = el(
    'button',
    { type: 'button', class: 'small', onclick: () => controller.abort() },
    icon('stop'),
    'Cancel',
  )
  const body = el('div', { class: 'output' })
  const step = el('p', { class: 'note step' })
  const section = el(
    'section',
    { class: 'run', 'aria-label': 'Findings' },
    el('header', {}, status, cancel),
    step,
    body,
  )
  place.replaceChildren(section)
  const start = performance.now()

  function show(state: string, glyph: Node | undefined, text: string): void {
    section.dataset['state'] = state
    status.replaceChildren(glyph ?? '', text)
  }
  show('running', undefined, 'Checking')
  const check = workspace.timeline.beginCheck('Check')
  try {
    for await (const finding of findingsOf(workspace, url, showSteps(check, step), signal)) {
      findings.push(finding)
      show('running', undefined, `Checking: ${countOf(findings)} so far`)
    }
    const isComplete = !findings.some(({ rule }) => rule === 'no-response')
    const count = isComplete
      ? countOf(findings)
      : `Stopped without a response: ${countOf(findings)}`
    const text = `${count} (${duration(performance.now() - start)})`
    const hasErrors = findings.some(({ severity }) => severity === 'error')
    check.end(count, hasErrors)
    if (hasErrors) show('failed', icon('alert'), text)
    else if (findings.length > 0) show('found', icon('log'), text)
    else show('done', icon('check'), text)
    body.replaceChildren(...findingList(findings))
  } catch (error) {
    const isCancelled = signal.aborted
    check.end(isCancelled ? 'cancelled' : 'not completed', !isCancelled)
    show(
      isCancelled ? 'cancelled' : 'failed',
      icon(isCancelled ? 'stop' : 'alert'),
      isCancelled ? 'Cancelled' : 'The check was not completed',
    )
    body.replaceChildren(
      ...(isCancelled ? [] : [failureCard(explain(error))]),
      ...findingList(findings),
    )
  }
  step.remove()
  const json = (): string => jsonText(reportOf(withoutSecrets(ownUrl), findings))
  const copy = copyButton('Copy JSON of the findings', json, 'Copy JSON')
  const hasFocus = cancel === document.activeElement
  cancel.replaceWith(copy)
  if (hasFocus) copy.focus()
  const command = `npx edgewise check ${quoteWord(ownUrl)}`
  body.append(
    el(
      'p',
      { class: 'note' },
      'A page cannot check how the server treats other origins and CORS. This command does, and also prints SARIF:',
    ),
    el(
      'p',
      { class: 'command' },
      el('code', {}, command),
      copyButton('Copy the command', () => command),
    ),
  )
}

/** Shows which request of a check has no response yet, and since when. */
function showSteps(check: RunningCheck, place: HTMLElement): RunningCheck {
  let timer: ReturnType<typeof setInterval> | undefined
  return {
    ...check,
    observe(send) {
      const observed = check.observe(send)
      return async (target, init) => {
        const startedAt = performance.now()
        const what = stepOf(init)
        const update = (): void => {
          const seconds = Math.floor((performance.now() - startedAt) / 1000)
          place.textContent = `Waiting for the response to ${what} · ${seconds} s`
        }
        clearInterval(timer)
        timer = setInterval(update, TICK_MS)
        update()
        try {
          return await observed(target, init)
        } finally {
          clearInterval(timer)
        }
      }
    },
  }
}

/** Names a request by its JSON-RPC method and what it is about, or else by its HTTP method. */
function stepOf({ method = 'GET', body }: RequestInit): string {
  const message = typeof body === 'string' ? tryParse(body) : undefined
  if (!isObject(message)) return method
  const { name } = isObject(message['params']) ? message['params'] : {}
  return `${String(message['method'])}${typeof name === 'string' ? ` “${name}”` : ''}`
}

async function* findingsOf(
  workspace: Workspace,
  url: string,
  check: RunningCheck,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  const settings = workspace.settings.get()
  const headers = new Headers(requestHeaders(settings))
  const signedIn = await workspace.connection?.auth.headers({
    url,
    method: 'POST',
    server: url,
    background: true,
  })
  for (const [name, value] of new Headers(signedIn)) {
    if (!headers.has(name)) headers.set(name, value)
  }
  const { timeoutMs = TIMEOUT_MS } = settings
  const observed = (): Fetch =>
    pageFetch({ fetch: check.observe((target, init) => fetch(target, init)) })
  yield* checkEndpoint(
    // All of these requests have the same id, so that each belongs to a client of its own in the timeline
    {
      url,
      headers,
      fetch: (...request) => observed()(...request),
      timeoutMs,
      signal,
      runsInPage: true,
    },
    (revision) =>
      openClient(workspace, { signal, fetch: observed(), ...(revision && { revision }) }),
  )
}

/** Counts the rules that are violated, and the places of that: `1 error, 2 notes, in 18 places`. */
function countOf(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'Nothing was found'
  const groups = groupFindings(findings)
  const counts = (['error', 'warning', 'note'] as const).flatMap((severity) => {
    const count = groups.filter((group) => group.severity === severity).length
    return count === 0 ? [] : [plural(count, severity)]
  })
  return `${counts.join(', ')}, in ${plural(findings.length, 'place')}`
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
