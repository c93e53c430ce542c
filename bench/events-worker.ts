/** The Worker of the benchmark of events: an event type and webhooks in a Durable Object. */
import { env } from 'cloudflare:workers'
import { createWorker, durableObjectEventStorage } from '../runtimes/cloudflare/index.ts'
import { events, webhooks } from '../src/events/index.ts'
import { authenticate, createServer } from '../src/presets/server.ts'

interface Namespace {
  idFromName(name: string): object
  get(id: object): { fetch(request: Request): Promise<Response> }
}

const { RECEIVER: receiver, MCP_EVENTS: objects } = env as unknown as {
  RECEIVER: string
  MCP_EVENTS: Namespace
}
const storage = durableObjectEventStorage()
const builds = events({
  storage,
  webhooks: webhooks({
    publicNetwork: true,
    // Instead of TLS
    fetch: (url, request) => fetch(receiver + new URL(url).pathname, request),
    isVerified: () => true,
  }),
})
const finished = builds.type('build.finished', { description: 'A build has ended' })
const server = createServer({ name: 'bench', version: '1.0.0' })
server.extend(builds)
const worker = createWorker(server, {
  stateless: true,
  auth: authenticate(() => ({ principal: 'bench' })),
})

/** The object that stores and delivers all events. */
export class McpEvents extends storage.durableObject(builds) {
  /** Evicts the object: nothing of it remains in memory, also of a delivery that is under way. */
  fetch(): Response {
    this.ctx.abort('Evicted by the benchmark')
    return new Response()
  }
}
export const { McpSession, McpHub } = worker.durableObjects

export default {
  async fetch(...args: Parameters<typeof worker.fetch>): Promise<Response> {
    const { pathname, searchParams } = new URL(args[0].url)
    if (pathname === '/evict') {
      const object = objects.get(objects.idFromName('events 0'))
      await object.fetch(new Request('http://object/')).catch(() => {})
      return new Response()
    }
    if (pathname !== '/emit') return worker.fetch(...args)
    const from = Number(searchParams.get('from'))
    const count = Number(searchParams.get('count'))
    for (let number = from; number < from + count; number++) {
      await finished.emit({ number }, { eventId: `evt_${number}` })
    }
    return new Response()
  },
}
