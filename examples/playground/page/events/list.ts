/**
 * The event types of a server.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { eventSubscriptions } from 'edgewise/events/client'
import { el } from '../dom.ts'
import type { Workspace } from '../workspace.ts'
import { followCard } from './follow.ts'

/**
 * Lists the event types, each of which can be followed.
 *
 * @throws {SdkError | ProtocolError} If the server does not list them.
 */
export async function eventTypeList(workspace: Workspace): Promise<HTMLElement> {
  const subscriptions = eventSubscriptions(workspace.client, {
    onError: (error) => workspace.timeline.notice('error', String(error)),
    onGap: ({ name }) =>
      workspace.timeline.notice('warning', `The server no longer has all events of “${name}”`),
  })
  const types = await subscriptions.types()
  if (types.length === 0) return el('p', { class: 'empty' }, 'The server has no event types.')
  return el('div', {}, ...types.map((type) => followCard(subscriptions, type)))
}
