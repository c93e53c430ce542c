/**
 * A webhook receiver inside the process of a client.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { withTimeout } from '../../patterns/timeout.ts'
import { SdkError } from '../../protocol/errors.ts'
import type { AcceptedSubscription, WebhookHandlers, WebhookReceiver } from '../client/webhook.ts'
import { createEventReceiver } from './receiver.ts'

/** How long the application may take to process an event, in milliseconds. After that, the response is 503. */
const PROCESSING_MS = 4_500

/** A webhook receiver that passes events to the subscriptions that a client follows. */
export interface EventInbox extends Required<WebhookReceiver> {
  /** Handles the requests to the URL, and to all URLs below it. */
  receive(request: Request, platform?: object): Promise<Response>
}

/**
 * Creates a receiver for the subscriptions of a client in the same process. An event is acknowledged
 * when the loop over `follow` has processed it.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { connect } from 'edgewise/client'
 * import { eventInbox, eventSubscriptions } from 'edgewise/events/client'
 * import { toNodeListener } from 'edgewise/node'
 *
 * const inbox = eventInbox('https://app.example.com/hooks')
 * createServer(toNodeListener(inbox.receive)).listen(8080)
 * await using client = await connect('https://example.com/mcp')
 * const subscriptions = eventSubscriptions(client, { receiver: inbox })
 * for await (const { data } of subscriptions.follow('invoice.created')) console.log(data)
 * ```
 *
 * @param url The public HTTPS URL whose requests are passed to `receive`. Each subscription has a callback URL
 *   with a random path segment below this URL.
 */
export function eventInbox(
  url: string,
  options: {
    /** Receives errors and warnings. Default: `console.error`. */
    readonly onError?: (error: Error) => void
  } = {},
): EventInbox {
  /** The subscriptions by the last segment of their URLs, because a proxy may change the rest of a URL. */
  const accepted = new Map<
    string,
    { subscription: AcceptedSubscription; handlers: WebhookHandlers }
  >()
  const handlersFor = (requested: URL): WebhookHandlers => {
    const entry = accepted.get(lastSegment(requested))
    if (!entry) throw new SdkError('CLOSED', 'The subscription is no longer followed')
    return entry.handlers
  }
  const { onError = console.error } = options
  const receive = createEventReceiver({
    // `CLOSED` means that `follow` has ended. This is not reported, because the server sends the event again
    onError: (error) => (error as SdkError).code === 'CLOSED' || onError(error),
    secretFor({ id, url: requested }) {
      const { subscription } = accepted.get(lastSegment(requested)) ?? {}
      if (!subscription) return undefined
      const { secrets, id: knownId } = subscription
      if (knownId === undefined) return { secrets, state: 'pending' }
      return id === null || id === knownId ? { secrets } : undefined
    },
    onEvent: (event, context) =>
      withTimeout(PROCESSING_MS, async () => handlersFor(context.url).onEvent(event, event.cursor)),
    onGap: (cursor, context) => handlersFor(context.url).onGap(cursor),
    onTerminated: (error, context) => handlersFor(context.url).onTerminated(error),
  })
  return {
    url,
    receive,
    accept: (subscription, handlers) =>
      void accepted.set(lastSegment(new URL(subscription.url)), { subscription, handlers }),
    refuse: (refused) => void accepted.delete(lastSegment(new URL(refused))),
  }
}

function lastSegment({ pathname }: URL): string {
  return pathname.slice(pathname.lastIndexOf('/') + 1)
}
