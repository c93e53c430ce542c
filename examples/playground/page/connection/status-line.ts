/**
 * The line that shows the state of a connection in words, with what can be done about it.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/practices/landmark-regions/
 */
import { el, find, type Child } from '../dom.ts'
import { explainError } from '../explanation.ts'
import { withRevisions } from '../revisions.ts'
import { duration } from '../time.ts'
import type { Workspace } from '../workspace.ts'
import { markOf, type Status } from './status.ts'

/** How long the server may take to answer a ping, in milliseconds. */
const PING_TIMEOUT_MS = 10_000

/** Sets up the line. Returns a function that shows the state of a workspace. */
export function setUpStatusLine(): (workspace: Workspace) => void {
  const text = find('status', HTMLElement)
  const step = find('status-step', HTMLElement)
  const actions = find('status-actions', HTMLElement)
  const answer = find('ping-answer', HTMLOutputElement)
  let stop = (): void => {}
  let shownState = ''

  function show(status: Status, workspace: Workspace): void {
    document.body.dataset['state'] = markOf(status)
    if (text.textContent !== status.text) text.replaceChildren(...withRevisions(status.text))
    step.textContent = 'step' in status ? (status.step ?? '') : ''
    answer.textContent = ''
    const kind = status.state + ('phase' in status ? status.phase : '')
    // The focus stays on a button while only the text changes
    if (kind === shownState) return
    shownState = kind
    const hadFocus = actions.contains(document.activeElement)
    actions.replaceChildren(...buttonsOf(status, workspace, ping))
    if (hadFocus) (actions.querySelector('button') ?? find('open', HTMLElement)).focus()
  }

  async function ping(workspace: Workspace): Promise<void> {
    const start = performance.now()
    answer.textContent = 'Waiting for the answer'
    try {
      await workspace.client.ping({ timeoutMs: PING_TIMEOUT_MS })
      answer.textContent = `Answered in ${duration(performance.now() - start)}`
    } catch (error) {
      answer.textContent = (await explainError(error)).headline
    }
  }

  return (workspace) => {
    stop()
    shownState = ''
    stop = workspace.status.subscribe((status) => show(status, workspace))
    show(workspace.status.get(), workspace)
  }
}

/** The buttons next to the text. The main action of a state is next to the address instead. */
function buttonsOf(
  status: Status,
  workspace: Workspace,
  ping: (workspace: Workspace) => Promise<void>,
): HTMLElement[] {
  const button = (label: Child, kind: string, onclick: () => void): HTMLElement =>
    el('button', { type: 'button', class: `${kind} small`, onclick }, label)
  switch (status.state) {
    case 'connected':
      return [
        button('Reconnect', 'quiet', () => void workspace.connect()),
        button('Ping', 'quiet', () => void ping(workspace)),
      ]
    case 'sign-in':
      return [
        button(status.phase === 'required' ? 'Sign in' : 'Open sign-in again', 'primary', () => {
          const now = workspace.status.get()
          if (now.state === 'sign-in') now.open()
        }),
      ]
    case 'lost':
      return [
        button('Reconnect now', 'primary narrow', () => workspace.retry()),
        button('Stop', 'quiet', () => workspace.cancel()),
      ]
    case 'failed':
      return status.step === undefined
        ? []
        : [button('Reconnect', 'primary narrow', () => void workspace.connect())]
    default:
      return []
  }
}
