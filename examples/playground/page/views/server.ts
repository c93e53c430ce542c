/**
 * The overview of a connected server: its name, version and capabilities.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import { findRevision, type ServerCapabilities } from 'edgewise/browser'
import { titleOf } from '../catalog.ts'
import type { Connection } from '../connection/connection.ts'
import { failureContext } from '../connection/client.ts'
import { relayedUrl } from '../connection/relay.ts'
import { el, type Child } from '../dom.ts'
import type { Route } from '../route.ts'
import { settingsOf } from '../settings/settings.ts'
import { stepsView } from '../sign-in/steps-view.ts'
import { plainText } from '../text.ts'
import type { Workspace } from '../workspace.ts'
import { beginCheck, CHECK_SENDS } from './check.ts'
import { frame } from './frame.ts'

/** Creates the view of a server. */
export function serverView(workspace: Workspace, connection: Connection): HTMLElement {
  const { client, url, session, signedIn } = connection
  const { serverInfo, serverCapabilities = {}, revision, instructions } = client
  const server = relayedUrl(url)
  const era = findRevision(revision)?.era
  const site = serverInfo?.websiteUrl
  const { logLevel } = workspace.settings.get()
  const addToHost = async (): Promise<void> => {
    const { openCopyAs } = await import('../copy-as/dialog.ts')
    openCopyAs(workspace)
  }
  return frame(
    {
      kind: 'Server',
      title: serverInfo ? titleOf(serverInfo) : 'Unnamed server',
      name: serverInfo?.name,
      description: serverInfo?.description,
      definition: { serverInfo, capabilities: serverCapabilities },
    },
    failuresBlock(workspace, connection),
    el(
      'dl',
      { class: 'facts' },
      fact('Version', serverInfo?.version),
      fact(
        'Revision',
        `${revision}, ${era === 'modern' ? 'stateless' : session === undefined ? 'without a session id' : 'with a session'}`,
      ),
      fact('Endpoint', el('code', {}, server ?? url)),
      server !== undefined &&
        fact(
          'Relay',
          'edgewise inspect forwards the requests, so CORS of the server does not matter',
          directButton(workspace, server),
        ),
      session !== undefined && fact('Session', el('code', {}, session)),
      signedIn && fact('Access', 'Signed in', signOutButton(workspace)),
      // Other schemes could run code in this page
      /^https?:/.test(site ?? '') &&
        fact('Website', el('a', { href: site, rel: 'noreferrer' }, site)),
      serverCapabilities.logging &&
        fact('Log messages', logLevel === 'off' ? 'off' : `${logLevel} and above`),
      fact('Capabilities', ...chips(serverCapabilities)),
    ),
    el(
      'div',
      { class: 'actions' },
      el(
        'button',
        { type: 'button', class: 'small', onclick: () => beginCheck(workspace) },
        'Check this server',
      ),
      el(
        'button',
        { type: 'button', class: 'small', onclick: () => void addToHost() },
        'Add to a host',
      ),
      el('p', { class: 'note' }, CHECK_SENDS),
    ),
    instructions &&
      el(
        'section',
        { class: 'card' },
        el('h2', { class: 'label' }, 'Instructions'),
        plainText(String(instructions)),
      ),
    stepsView(workspace.steps),
  )
}

/** Says which lists could not be fetched, and why. The code for that is loaded on demand. */
function failuresBlock(workspace: Workspace, connection: Connection): HTMLElement | undefined {
  const { failures } = connection.catalog
  if (failures.length === 0) return undefined
  const block = el('div', { class: 'output' })
  const context = failureContext(connection, workspace.settings.get())
  void import('./list-failures.ts').then(({ failureCards }) =>
    block.append(...failureCards(failures, context)),
  )
  return block
}

/** Connects to the server itself, as other pages would. */
function directButton(workspace: Workspace, url: string): HTMLElement {
  const onclick = (): void => {
    workspace.settings.set(settingsOf(url, workspace.settings.get().revision))
    void workspace.connect()
  }
  return el('button', { type: 'button', class: 'small', onclick }, 'Connect directly')
}

function signOutButton(workspace: Workspace): HTMLElement {
  const onclick = (): void => void workspace.signOut()
  return el('button', { type: 'button', class: 'small', onclick }, 'Sign out')
}

function fact(term: string, ...about: readonly Child[]): HTMLElement {
  return el('div', {}, el('dt', {}, term), el('dd', {}, ...about))
}

/** Shows the capabilities, and the names of the extensions. */
function chips({ extensions, ...others }: ServerCapabilities): Child[] {
  const names = [...Object.keys(others), ...Object.keys(extensions ?? {})]
  if (names.length === 0) return ['none']
  return names.map((name) => el('span', { class: 'chip' }, name))
}

/** Creates the view for an address that selects no entry of the server's lists. */
export function missingView({ kind, key }: Route, { catalog }: Connection): HTMLElement {
  const advice = el('div')
  void import('./missing.ts').then(({ missingAdvice }) =>
    advice.append(missingAdvice(key, catalog)),
  )
  return frame({ kind: 'Not found', title: `No such ${kind}`, name: key }, advice)
}
