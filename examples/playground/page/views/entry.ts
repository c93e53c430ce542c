/**
 * What the views of tools, prompts and resources have in common: their form, their runs, and the actions on
 * their arguments.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { JsonObject } from 'edgewise/browser'
import { failureContext } from '../connection/client.ts'
import { watchCall } from '../connection/traffic.ts'
import { el, type Child } from '../dom.ts'
import type { Issue } from '../form/issues.ts'
import type { CallTarget } from '../history/calls.ts'
import type { ArgumentsEvent } from '../history/history.ts'
import type { EntryKind } from '../route.ts'
import { runPanel, type Outcome, type Work } from '../run.ts'
import { readStored } from '../storage.ts'
import type { Workspace } from '../workspace.ts'
import { beginCheck } from './check.ts'
import { actionForm, frame, type FrameFacts } from './frame.ts'

/** The timeout of a request if the settings have none, in milliseconds. It is that of the client. */
const DEFAULT_TIMEOUT_MS = 60_000

/** The fields of an entry. */
export interface EntryForm {
  readonly element: HTMLElement
  readonly names: readonly string[]
  read(): JsonObject
  fill(value: JsonObject): void
  showIssues(issues: readonly Issue[]): void
}

/** An entry, and how it is requested. */
export interface Entry {
  readonly kind: EntryKind
  /** The name of a tool or prompt, the URI (template) of a resource. */
  readonly key: string
  readonly facts: FrameFacts
  /** The label of the button that sends the request. */
  readonly action: string
  readonly form: EntryForm
  /** The schema of the arguments, by which examples recognize secrets. */
  readonly schema?: JsonObject
  /** Sends the request with the values of the form. */
  send(values: JsonObject, ...context: Parameters<Work>): Promise<Outcome>
  /** What stands above the form. */
  readonly banner?: HTMLElement
  /** Buttons next to the main one. */
  readonly extras?: readonly Child[]
}

/** The view of an entry. */
export interface EntryView {
  readonly element: HTMLElement
  /** Sends the request with the values of the form. */
  submit(): void
}

/** Creates the view of an entry. */
export function entryView(workspace: Workspace, entry: Entry): EntryView {
  const { kind, key, facts, form, schema, banner, extras = [] } = entry
  const { history } = workspace
  /** The timeout of the next request, in milliseconds, if it is not that of the settings. */
  let nextTimeoutMs: number | undefined
  const panel = runPanel({
    calls: history.calls,
    timeoutMs: () => workspace.settings.get().timeoutMs ?? DEFAULT_TIMEOUT_MS,
    watch: () => watchCall(workspace.connection?.traffic, key),
    onCheck: () => beginCheck(workspace),
    context() {
      const { connection, settings } = workspace
      return {
        ...(connection && failureContext(connection, settings.get())),
        hasSchema: schema !== undefined,
      }
    },
    onRetry(timeoutMs) {
      nextTimeoutMs = timeoutMs
      element.requestSubmit()
    },
  })
  const url = (): string => workspace.connection?.url ?? workspace.settings.get().url
  const target = (): CallTarget => {
    return { kind, key, title: facts.title, arguments: form.read(), server: url() }
  }

  /** Returns what the form requests; `undefined` if its JSON is invalid, which its field then shows. */
  function readTarget(): CallTarget | undefined {
    try {
      return target()
    } catch {
      element.reportValidity()
      return undefined
    }
  }

  async function run(): Promise<void> {
    note.hidden = true
    const current = target()
    const timeoutMs = nextTimeoutMs
    nextTimeoutMs = undefined
    const work: Work = (...context) => entry.send(current.arguments, ...context)
    const failure = await panel.run(current, work, timeoutMs)
    if (!failure) return form.showIssues([])
    const { issuesOf } = await import('../form/issues.ts')
    form.showIssues(issuesOf(failure.text, failure.data, form.names))
  }

  /** Opens a dialog or form that is loaded on demand. */
  const openCopyAs = async (): Promise<void> => {
    const current = readTarget()
    if (!current) return
    const { openCopyAs: open } = await import('../copy-as/dialog.ts')
    open(workspace, current, schema)
  }
  const keep = async (): Promise<void> => {
    const current = readTarget()
    if (!current) return
    const { keepForm } = await import('../history/keep.ts')
    const close = (text: Node | string): void => {
      below.replaceChildren(text)
      keepButton.focus()
      void showExamples()
    }
    below.replaceChildren(keepForm(current, schema, close))
    below.querySelector('input')?.focus()
  }
  const showExamples = async (): Promise<void> => {
    const { exampleList } = await import('../history/example-list.ts')
    const list = exampleList({ kind, key, server: url() }, form.fill)
    above.replaceChildren(...(list ? [list] : []))
  }

  const above = el('div', { class: 'examples' })
  const below = el('div', { class: 'below' })
  const note = el('p', { class: 'filled', role: 'status', hidden: true })
  const takesArguments = form.names.length > 0
  const keepButton = el(
    'button',
    {
      type: 'button',
      class: 'quiet',
      onclick: () => void keep(),
    },
    'Keep as example',
  )
  const element = actionForm(
    entry.action,
    [form.element],
    run,
    ...extras,
    takesArguments && keepButton,
    el('button', { type: 'button', class: 'quiet', onclick: () => void openCopyAs() }, 'Copy as'),
  )
  const view = frame(facts, banner, above, note, element, below, panel.element)
  element.addEventListener('invalid', panel.markEarlier, true)
  view.addEventListener('arguments', (event) => {
    const fill = history.takeFill({ kind, key })
    form.fill((event as ArgumentsEvent).detail)
    panel.markEarlier()
    note.hidden = fill !== undefined
    note.textContent = note.hidden ? '' : LINK_NOTE
    if (fill === 'run') element.requestSubmit()
    else if (fill === 'edit') element.querySelector<HTMLElement>('input, select, textarea')?.focus()
  })
  // Most browsers store no examples
  if (takesArguments && readStored('examples') !== null) void showExamples()
  return { element: view, submit: () => element.requestSubmit() }
}

const LINK_NOTE = 'The arguments come from a link. Check them before you send them.'
