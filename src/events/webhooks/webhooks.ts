/**
 * Delivery of events to webhooks.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { ProtocolError } from '../../protocol/errors.ts'
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
import { Runner } from './runner.ts'
import { Subscriptions, toOpen } from './subscribe.ts'

/** How many subscriptions are ended at once. */
const PAGE_SUBSCRIPTIONS = 100

/**
 * Delivers events by HTTP requests to URLs that clients subscribe with. Requests are signed as
 * Standard Webhooks defines it, and repeated until the receiver accepts them.
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
    attach(host) {
      requireDurable(settings, host.storage)
      return attachTo(host, settings)
    },
  }
}

function attachTo(host: EventHost, settings: WebhookSettings): AttachedWebhooks {
  const { storage } = host
  const runner = new Runner(host, settings)
  const subscriptions = new Subscriptions(host, settings, runner.limits)

  /** Ends one subscription, whatever other processes do at the same time. */
  async function end(subscription: WebhookSubscription, error: ProtocolError): Promise<void> {
    let stored: WebhookSubscription | undefined = subscription
    while (stored && !isTerminated(stored)) {
      const version = stored.version + 1
      const isEnded =
        host.profile === 'chatgpt'
          ? await storage.remove(stored)
          : await storage.save({ ...stored, ...termination(error), version, dueAt: Date.now() })
      if (isEnded) {
        runner.abort(stored.id)
        return host.unsubscribed(toOpen(stored, undefined))
      }
      stored = await storage.load(stored.id, stored.name)
    }
  }

  return {
    start: () => {
      if (storage.durable) runner.wake()
    },
    async subscribe(params, ctx) {
      const result = await subscriptions.subscribe(params, ctx)
      runner.wake()
      return { ...result }
    },
    async unsubscribe(params, ctx) {
      runner.abort(await subscriptions.unsubscribe(params, ctx))
      return {}
    },
    deliver: (options) => runner.deliver(options),
    wake: () => runner.wake(),
    async terminate({ id, name, principal }, error) {
      if (!(error instanceof ProtocolError)) throw error
      const query = {
        ...(name !== undefined && { name }),
        ...(principal !== undefined && { principal }),
      }
      let after: string | undefined
      for (;;) {
        const one = id === undefined ? undefined : await storage.load(id, name)
        const found =
          id === undefined ? await storage.list(query, PAGE_SUBSCRIPTIONS, after) : one ? [one] : []
        for (const subscription of found) await end(subscription, error)
        after = found.at(-1)?.id
        if (after === undefined || id !== undefined) break
      }
      runner.wake()
    },
    close: () => runner.close(),
  }
}
