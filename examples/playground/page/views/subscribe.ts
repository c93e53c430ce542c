/**
 * The button that subscribes to the updates of a resource.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#subscriptions
 */
import { announce } from '../announce.ts'
import { el } from '../dom.ts'
import { explainError } from '../explanation.ts'
import type { Workspace } from '../workspace.ts'

/**
 * Creates the button.
 *
 * @param onUpdated Called after each update while the resource is subscribed to.
 * @returns `undefined` if the server announces no updates.
 */
export function subscribeButton(
  workspace: Workspace,
  uri: string,
  onUpdated: () => void,
): HTMLElement | undefined {
  if (!workspace.connection?.subscriptions.isSupported) return undefined
  const button = el('button', { type: 'button', class: 'quiet' })
  let stop: (() => void) | undefined

  function show(): void {
    const isSubscribed = workspace.connection?.subscriptions.has(uri) === true
    button.textContent = isSubscribed ? 'Unsubscribe' : 'Subscribe'
    button.title = isSubscribed ? 'Each update is read' : 'Read the resource after each update'
  }
  async function toggle(): Promise<void> {
    const subscriptions = workspace.connection?.subscriptions
    if (!subscriptions) return
    stop?.()
    stop = undefined
    try {
      if (subscriptions.has(uri)) await subscriptions.unsubscribe(uri)
      else {
        await subscriptions.subscribe(uri)
        stop = subscriptions.onUpdated(uri, onUpdated)
      }
    } catch (error) {
      const { headline } = await explainError(error)
      workspace.timeline.notice('error', headline)
      announce(headline)
    }
    show()
  }
  button.addEventListener('click', () => void toggle())
  show()
  return button
}
