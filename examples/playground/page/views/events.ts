/**
 * The view of a server's events. Its content is loaded on demand.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { isObject } from 'edgewise/browser'
import type { Client } from 'edgewise/client'
import { el } from '../dom.ts'
import { explainError, failureCard } from '../explanation.ts'
import type { Workspace } from '../workspace.ts'
import { frame } from './frame.ts'

/** Whether a server offers events, in the form of the extension or in the older one. */
export function offersEvents({ serverCapabilities = {} }: Client): boolean {
  const { extensions, events } = serverCapabilities
  return isObject(extensions?.['io.modelcontextprotocol/events']) || isObject(events)
}

/** Creates the view. */
export function eventsView(workspace: Workspace): HTMLElement {
  const place = el('div', { class: 'events' }, el('p', { class: 'empty' }, 'Loading'))
  void import('../events/list.ts')
    .then(({ eventTypeList }) => eventTypeList(workspace))
    .then(
      (list) => place.replaceChildren(list),
      async (error: unknown) => place.replaceChildren(failureCard(await explainError(error))),
    )
  return frame(
    {
      kind: 'Server',
      title: 'Events',
      description: 'Follow a type of event to see its events as they arrive, the newest first.',
    },
    place,
  )
}
