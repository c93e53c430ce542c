/**
 * The server itself: who it is and what it can do; before there is one, what this page is for.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import { findRevision, type Client } from 'edgewise/browser'
import { el } from '../dom.ts'
import type { Route } from '../route.ts'
import { frame } from './frame.ts'

/** Makes the view of a server. */
export function serverView(client: Client): HTMLElement {
  const { serverInfo, serverCapabilities = {}, revision, instructions } = client
  const era = findRevision(revision)?.era
  const facts: [string, string][] = [
    ['Version', serverInfo?.version ?? 'not said'],
    ['Revision', `${revision}, ${era === 'modern' ? 'stateless' : 'with a session'}`],
    ['Offers', Object.keys(serverCapabilities).join(', ') || 'nothing'],
  ]
  return frame(
    {
      kind: 'Server',
      title: serverInfo?.title ?? serverInfo?.name ?? 'Unnamed server',
      ...(serverInfo ? { name: serverInfo.name } : {}),
      description: serverInfo?.description,
      definition: { serverInfo, capabilities: serverCapabilities },
    },
    el(
      'dl',
      { class: 'facts' },
      ...facts.map(([term, text]) => el('div', {}, el('dt', {}, term), el('dd', {}, text))),
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

const kinds = {
  tool: 'tool',
  prompt: 'prompt',
  resource: 'resource',
  template: 'resource template',
}

/** What is shown for an address that names nothing the server lists. */
export function missingView({ kind, key }: Route): HTMLElement {
  return frame({
    kind: 'Not found',
    title: `No such ${kinds[kind]}`,
    name: key,
    description: 'The server lists none of that name.',
  })
}

/** What is shown while there is no connection, with what may be wrong when there cannot be one. */
export function welcomeView(advice: readonly string[]): HTMLElement {
  return frame(
    {
      kind: 'Playground',
      title: 'Try an MCP server',
      description:
        'Enter the address of an endpoint above and connect. This page lists what the server offers and lets you run it by hand, as a model would.',
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
