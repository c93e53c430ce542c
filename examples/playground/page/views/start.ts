/**
 * The view for when there is no connection: how to begin, the steps of the sign-in, and why connecting has
 * failed.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { ownServer, relayedUrl } from '../connection/relay.ts'
import type { Status } from '../connection/status.ts'
import { el } from '../dom.ts'
import { explanationBlock } from '../explanation.ts'
import { savedServers, type SavedServer } from '../saved/store.ts'
import { isDomain } from '../secrets.ts'
import { stepsView } from '../sign-in/steps-view.ts'
import type { Workspace } from '../workspace.ts'
import { check, CHECK_SENDS } from './check.ts'
import { expandable, frame } from './frame.ts'

const CHECK = 'Check this server'

const views = new WeakMap<Workspace, { view: HTMLElement; drawServers(): void }>()

/**
 * Returns the view of a workspace without a connection, which follows its status. Each call updates its list of
 * saved servers.
 *
 * @param open Connects to a server.
 */
export function startView(
  workspace: Workspace,
  open: (url: string, revision: string) => void,
): HTMLElement {
  const known = views.get(workspace)
  if (known) {
    // The view of a connected server has taken the steps
    known.view.append(stepsView(workspace.steps))
    known.drawServers()
    return known.view
  }
  const servers = el('ul', { class: 'servers' })
  const card = el('div', { class: 'card' }, el('h2', { class: 'label' }, 'Servers'), servers)
  const failure = el('section', { class: 'card failure', 'aria-label': 'Failure' })
  const findings = el('div')
  const checkButton = el(
    'button',
    { type: 'button', class: 'small', onclick: () => void check(workspace, findings, checkButton) },
    CHECK,
  )
  const actions = el(
    'div',
    { class: 'actions' },
    checkButton,
    el('p', { class: 'note' }, CHECK_SENDS),
  )
  const tryButton = (url: string): HTMLElement => {
    const onclick = (): void => open(url, workspace.settings.get().revision)
    return el('button', { type: 'button', class: 'small try', onclick }, `Connect to ${url}`)
  }
  const view = frame(
    { kind: 'Playground', title: ' ', description: ' ' },
    failure,
    actions,
    findings,
    card,
    stepsView(workspace.steps),
  )
  const heading = view.querySelector('h1')
  const description = view.querySelector('.description')
  const drawServers = (): void => {
    const buttons = (card.hidden ? [] : knownServers()).map(({ name, url, revision }) =>
      el(
        'button',
        {
          type: 'button',
          class: 'quiet',
          onclick() {
            // The button is hidden from now on
            heading?.focus()
            open(url, revision)
          },
        },
        el('strong', {}, name),
        el('code', {}, relayedUrl(url) ?? url),
      ),
    )
    servers.replaceChildren(...buttons.map((button) => el('li', {}, button)))
  }
  const update = (status: Status): void => {
    const [title, text] = textsOf(status)
    heading?.replaceChildren(title)
    description?.replaceChildren(text)
    const isFailed = status.state === 'failed'
    if (isFailed) {
      const { data, urls = [], ...explanation } = status.explanation
      failure.replaceChildren(
        ...explanationBlock(explanation, false),
        ...(data === undefined ? [] : [expandable('Details', data)]),
        ...urls.map((url) => tryButton(url)),
      )
    }
    actions.hidden = !isFailed || isDomain(workspace.settings.get().url)
    if (!isFailed) {
      findings.replaceChildren()
      checkButton.textContent = CHECK
    }
    failure.hidden = !isFailed || failure.childElementCount === 0
    card.hidden = status.state !== 'idle'
    drawServers()
  }
  workspace.status.subscribe(update)
  update(workspace.status.get())
  views.set(workspace, { view, drawServers })
  return view
}

/** The server of this page, unless it is saved, and the saved servers. */
function knownServers(): SavedServer[] {
  const saved = savedServers()
  const own = { name: 'Server of this page', url: ownServer(), revision: 'auto' }
  return saved.some(({ url }) => url === own.url) ? saved : [own, ...saved]
}

/** The heading, and the description unless the line below the address says the same. */
function textsOf(status: Status): [title: string, text: string] {
  switch (status.state) {
    case 'sign-in':
      return [
        'Sign in',
        {
          required: 'Press “Sign in” to open the sign-in page in a new window.',
          open: 'Sign in and allow access in the window that has opened. This page continues when you are done.',
          closed: 'The window was closed before you were done. Open it again, or cancel.',
        }[status.phase],
      ]
    case 'failed':
      return ['Cannot connect', '']
    case 'connecting':
      return ['Connecting', '']
    default:
      return [
        'Try an MCP server',
        'Enter the URL of an MCP endpoint, or the domain of a server, such as example.com.',
      ]
  }
}
