// A Worker whose events are stored in objects, and whose webhooks go to the receiver of the test.
import { env } from 'cloudflare:workers'
import * as z from 'zod'
import { createWorker, durableObjectEventStorage } from '../../../runtimes/cloudflare/index.ts'
import { events, streams, webhooks } from '../../../src/events/index.ts'
import { authenticate, createServer } from '../../../src/presets/server.ts'

/** Where the receiver of the test listens. */
const { RECEIVER: receiver } = env as { RECEIVER: string }

const storage = durableObjectEventStorage({ shards: 2 })
const builds = events({
  storage,
  streams: streams({ heartbeatMs: 500 }),
  webhooks: webhooks({
    publicNetwork: true,
    fetch: (url, request) => fetch(receiver + new URL(url).pathname, request),
  }),
})
const input = z.object({ project: z.string().optional() })
const finished = builds.type('build.finished', {
  input,
  payload: z.object({ project: z.string(), n: z.number() }),
  matches: ({ project }, payload) => project === undefined || project === payload.project,
})
const started = builds.type('build.started', { payload: z.object({ n: z.number() }) })

const server = createServer({ name: 'builds', version: '1' })
server.extend(builds)

const worker = createWorker(server, {
  stateless: true,
  auth: authenticate((request) => {
    const principal = request.headers.get('x-principal')
    return principal === null ? {} : { principal }
  }),
})

export const McpEvents = storage.durableObject(builds)
export const { McpSession, McpHub } = worker.durableObjects

export default {
  async fetch(...args: Parameters<typeof worker.fetch>): Promise<Response> {
    const { pathname, searchParams } = new URL(args[0].url)
    if (pathname === '/emit') {
      const from = Number(searchParams.get('from'))
      const count = Number(searchParams.get('count'))
      for (let n = from; n < from + count; n++) {
        await finished.emit({ project: n % 2 ? 'odd' : 'even', n }, { eventId: `build_${n}` })
      }
      await started.emit({ n: from })
      return new Response()
    }
    if (pathname === '/deliveries') {
      return Response.json(await builds.deliveries(searchParams.get('id') ?? ''))
    }
    return worker.fetch(...args)
  },
}
