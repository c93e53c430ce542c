// A Worker that serves some hosts only, whose callers see different resources.
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { authenticate } from '../../../src/presets/server.ts'
import { makeRestricted } from '../../server/hidden-resources.ts'
import { traceInWorker } from './trace-in-worker.ts'

const { observe, tracer, spans } = traceInWorker()
const server = makeRestricted({ observe })
server.tool('traced', {}, () =>
  tracer.startActiveSpan('query', (span) => {
    span.end()
    return 'done'
  }),
)

const worker = createWorker(server, {
  allowedHosts: ['127.0.0.1', 'localhost'],
  ssePath: '/sse',
  sessionIdleMs: 2500,
  auth: authenticate(({ headers }) => ({
    principal: headers.get('x-user') ?? undefined,
    ...(headers.has('x-expires') && { auth: { expiresAt: Number(headers.get('x-expires')) } }),
  })),
})

interface Env {
  MCP_SESSION: {
    idFromString(id: string): unknown
    get(id: unknown): { keeps(session: string): Promise<boolean> }
  }
}

export default {
  async fetch(request: Request, env: Env, ctx: never): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/updated') {
      await worker.notify.resourceUpdated(String(searchParams.get('uri')))
      return new Response('notified')
    }
    if (pathname === '/spans') return Response.json(spans())
    if (pathname === '/keeps') {
      const id = String(searchParams.get('session'))
      const { MCP_SESSION: sessions } = env
      const [object = ''] = id.split('.')
      return Response.json(await sessions.get(sessions.idFromString(object)).keeps(id))
    }
    return worker.fetch(request, env, ctx)
  },
}

export const { McpSession, McpHub } = worker.durableObjects
