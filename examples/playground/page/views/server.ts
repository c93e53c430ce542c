/**
 * The view of the server, with its name and capabilities. Without a connection, it explains the page.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import { findRevision, type ServerCapabilities } from 'edgewise/browser'
import { titleOf } from '../catalog.ts'
import type { Connection } from '../connection.ts'
import { el, type Child } from '../dom.ts'
import type { Route } from '../route.ts'
import { frame } from './frame.ts'

/** Creates the view of a server. */
export function serverView(
  { client, url, session, signedIn }: Connection,
  signOut: () => void,
): HTMLElement {
  const { serverInfo, serverCapabilities = {}, revision, instructions } = client
  const era = findRevision(revision)?.era
  const site = serverInfo?.websiteUrl
  return frame(
    {
      kind: 'Server',
      title: serverInfo ? titleOf(serverInfo) : 'Unnamed server',
      name: serverInfo?.name,
      description: serverInfo?.description,
      definition: { serverInfo, capabilities: serverCapabilities },
    },
    el(
      'dl',
      { class: 'facts' },
      fact('Version', serverInfo?.version),
      fact('Revision', `${revision}, ${era === 'modern' ? 'stateless' : 'with a session'}`),
      fact('Endpoint', el('code', {}, url)),
      session !== undefined && fact('Session', el('code', {}, session)),
      signedIn &&
        fact(
          'Access',
          'Signed in',
          el('button', { type: 'button', class: 'small', onclick: signOut }, 'Sign out'),
        ),
      // Other schemes could run code in this page
      /^https?:/.test(site ?? '') &&
        fact('Website', el('a', { href: site, rel: 'noreferrer' }, site)),
      fact('Offers', ...chips(serverCapabilities)),
    ),
    instructions &&
      el(
        'section',
        { class: 'card' },
        el('h2', { class: 'label' }, 'Instructions'),
        el('p', { class: 'text' }, instructions),
      ),
  )
}

function fact(term: string, ...about: readonly Child[]): HTMLElement {
  return el('div', {}, el('dt', {}, term), el('dd', {}, ...about))
}

/** Shows the capabilities, and the names of the extensions. */
function chips({ extensions = {}, ...others }: ServerCapabilities): Child[] {
  const names = [...Object.keys(others), ...Object.keys(extensions)]
  if (names.length === 0) return ['nothing']
  return names.map((name) => el('span', { class: 'chip' }, name))
}

/** Creates the view for an address that selects no entry of the server's lists. */
export function missingView({ kind, key }: Route): HTMLElement {
  return frame({
    kind: 'Not found',
    title: `No such ${kind}`,
    name: key,
  })
}

/** Creates the view for when there is no connection, with advice if connecting has failed. */
export function welcomeView(advice: readonly string[]): HTMLElement {
  return frame(
    {
      kind: 'Playground',
      title: 'Try an MCP server',
      description: 'Enter the address of an endpoint.',
    },
    advice.length > 0 &&
      el(
        'section',
        { class: 'card' },
        el('h2', { class: 'label' }, 'If it does not connect'),
        el('ul', { class: 'bullets' }, ...advice.map((each) => el('li', {}, each))),
      ),
  )
}
