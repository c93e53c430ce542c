/**
 * Checks the server, and shows the findings as they are made. They are the same as those of `edgewise check`,
 * except for rules whose requests a browser does not send.
 *
 * @see https://modelcontextprotocol.io/specification/versioning
 */
import { checkEndpoint, reportOf, type Finding } from '#internal/check'
import { copyButton } from '../copy.ts'
import { openClient, requestHeaders } from '../connection/client.ts'
import { quoteWord } from '../copy-as/shell.ts'
import { el } from '../dom.ts'
import { explain, explanationBlock } from '../errors.ts'
import { icon } from '../icon.ts'
import { jsonText } from '../json.ts'
import { duration } from '../time.ts'
import { withoutSecrets } from '../secrets.ts'
import type { Workspace } from '../workspace.ts'
import { findingList } from './findings.ts'

/** How long one response may take, in milliseconds. */
const TIMEOUT_MS = 30_000

/** Checks the server, and shows the findings in an element. Never rejects. */
export async function runCheck(workspace: Workspace, place: HTMLElement): Promise<void> {
  const url = workspace.connection?.url ?? workspace.settings.get().url
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
  const section = el(
    'section',
    { class: 'run', 'aria-label': 'Findings' },
    el('header', {}, status, cancel),
    body,
  )
  place.replaceChildren(section)
  const start = performance.now()

  function show(state: string, glyph: Node | undefined, text: string): void {
    section.dataset['state'] = state
    status.replaceChildren(glyph ?? '', text)
  }
  show('running', undefined, 'Checking')
  try {
    for await (const finding of findingsOf(workspace, url, signal)) {
      findings.push(finding)
      show('running', undefined, `Checking, ${countOf(findings)} so far`)
    }
    const hasErrors = findings.some(({ severity }) => severity === 'error')
    const text = `${countOf(findings)} in ${duration(performance.now() - start)}`
    show(hasErrors ? 'failed' : 'done', icon(hasErrors ? 'alert' : 'check'), text)
    body.replaceChildren(...findingList(findings))
  } catch (error) {
    const isCancelled = signal.aborted
    show(
      isCancelled ? 'cancelled' : 'failed',
      icon(isCancelled ? 'stop' : 'alert'),
      isCancelled ? 'Cancelled' : 'The check was not completed',
    )
    body.replaceChildren(
      ...(isCancelled ? [] : explanationBlock(explain(error))),
      ...findingList(findings),
    )
  }
  const json = (): string => jsonText(reportOf(withoutSecrets(url), findings))
  const copy = copyButton('Copy JSON of the findings', json, 'Copy JSON')
  const hasFocus = cancel === document.activeElement
  cancel.replaceWith(copy)
  if (hasFocus) copy.focus()
  const command = `npx edgewise check ${quoteWord(url)}`
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

async function* findingsOf(
  workspace: Workspace,
  url: string,
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
  yield* checkEndpoint(
    { url, headers, fetch: (target, init) => fetch(target, init), timeoutMs, signal, isPage: true },
    (revision) => openClient(workspace, { signal, ...(revision && { revision }) }),
  )
}

function countOf({ length }: readonly Finding[]): string {
  if (length === 0) return 'Nothing was found'
  return `${length} finding${length === 1 ? '' : 's'}`
}
