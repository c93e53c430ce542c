// A Worker that notifies clients, such as ChatGPT, when an order was shipped. Your shop adds shipments
// to a queue; its consumer emits events, which a Durable Object delivers to webhooks in its alarms.
import { env } from 'cloudflare:workers'
import { createWorker, durableObjectEventStorage } from 'edgewise/cloudflare'
import { events, streams, webhooks } from 'edgewise/events'
import { authenticate, createServer } from 'edgewise/server'
import * as z from 'zod'

const order = z.object({ id: z.string(), city: z.string() })
type Order = z.infer<typeof order>

const storage = durableObjectEventStorage()
const shop = events({
  storage,
  streams: streams(),
  webhooks: webhooks({
    publicNetwork: true,
    fetch: (url, request) => fetch(proxied(url), request),
  }),
})
const shipped = shop.type('order.shipped', {
  description: 'An order was shipped',
  input: z.object({ city: z.string().optional() }),
  payload: order,
  matches: ({ city }, { city: destination }) => city === undefined || city === destination,
})

/** Where a webhook's request is sent; tests replace the origin. */
function proxied(url: string): string {
  const { WEBHOOK_PROXY: proxy } = env
  return proxy === undefined ? url : proxy + new URL(url).pathname
}

const server = createServer({ name: 'shop', version: '1.0.0' })
server.extend(shop)

const worker = createWorker(server, {
  stateless: true,
  // For ChatGPT and other clients that sign in, use `protectedResource` instead
  auth: authenticate((request) => (hasKey(request) ? { principal: 'ada' } : {})),
})

function hasKey({ headers }: Request): boolean {
  return headers.get('authorization') === `Bearer ${env.API_KEY}`
}

export default {
  async fetch(...args: Parameters<typeof worker.fetch>): Promise<Response> {
    const [request] = args
    if (new URL(request.url).pathname !== '/shipments') return worker.fetch(...args)
    if (!hasKey(request)) return new Response(null, { status: 401 })
    await env.SHIPMENTS.send(order.parse(await request.json()))
    return new Response(null, { status: 202 })
  },
  async queue({ messages }: { messages: readonly { id: string; body: Order }[] }): Promise<void> {
    // A message that is delivered twice has the same event id, so it is one event
    for (const { body, id } of messages) await shipped.emit(body, { eventId: id })
  },
}

export const McpEvents = storage.durableObject(shop)
