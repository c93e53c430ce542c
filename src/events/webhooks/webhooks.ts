/**
 * Delivery of events to webhooks.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { AttachedWebhooks, EventHost, WebhookMode } from '../host.ts'
import { createMemoryEventStorage } from '../memory-storage.ts'
import type { WebhookSubscription } from '../storage.ts'
import {
  readOptions,
  requireDurable,
  type WebhookOptions,
  type WebhookSettings,
} from './options.ts'
import { isTerminated, termination } from './progress.ts'
import { createRunner } from './runner.ts'
import { asOpenSubscription, subscriptionMethods } from './subscribe.ts'

/** How many subscriptions are loaded at once in order to end them. */
const PAGE_SIZE = 100

/**
 * Delivers events by HTTP requests to URLs that clients subscribe with. Requests are signed as Standard Webhooks
 * defines. A request that the receiver does not accept is retried.
 *
 * @example
 * ```ts
 * import { events, webhooks } from 'edgewise/events'
 * import { webhookFetch } from 'edgewise/node'
 *
 * const invoices = events({ webhooks: webhooks({ fetch: webhookFetch() }) })
 * ```
 *
 * @throws {TypeError} If an option is unknown.
 * @throws {RangeError} If a number is not above 0.
 * @throws {SdkError} `INVALID_USE` if nothing protects the server's network from the URLs of clients.
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export function webhooks(options: WebhookOptions = {}): WebhookMode {
  const settings = readOptions(options)
  return {
    createStorage: createMemoryEventStorage,
    attach(eventHost) {
      requireDurable(settings, eventHost.storage)
      return attachTo(eventHost, settings)
    },
  }
}

function attachTo(eventHost: EventHost, settings: WebhookSettings): AttachedWebhooks {
  const { storage } = eventHost
  const runner = createRunner(eventHost, settings)
  const { wake, deliver, close, abort, limits } = runner
  const { subscribe, unsubscribe } = subscriptionMethods(eventHost, settings, limits)

  return {
    wake,
    deliver,
    close,
    start() {
      if (storage.durable) wake()
    },
    async subscribe(params, ctx) {
      const result = await subscribe(params, ctx)
      wake()
      return { ...result }
    },
    async unsubscribe(params, ctx) {
      abort(await unsubscribe(params, ctx))
      return {}
    },
    async terminate({ id, ...query }, error) {
      if (id !== undefined) await end(await storage.load(id, query.name), error)
      // With an id, no other subscription is ended, so nothing is listed
      let after = id === undefined ? '' : undefined
      while (after !== undefined) {
        const page = await storage.list(query, PAGE_SIZE, after)
        for (const subscription of page) await end(subscription, error)
        after = page.at(-1)?.id
      }
      wake()
    },
  }

  /** Ends one subscription. Tries again if another process has changed the subscription at the same time. */
  async function end(subscription: WebhookSubscription | undefined, error: Error): Promise<void> {
    let stored = subscription
    while (stored && !isTerminated(stored)) {
      const version = stored.version + 1
      const isEnded =
        eventHost.profile === 'chatgpt'
          ? await storage.remove(stored)
          : await storage.save({ ...stored, ...termination(error), version, dueAt: Date.now() })
      if (isEnded) {
        abort(stored.id)
        return eventHost.unsubscribed(asOpenSubscription(stored, undefined))
      }
      stored = await storage.load(stored.id, stored.name)
    }
  }
}
