// A Worker that finds out who calls, and says no in every way there is.
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { authenticate } from '../../../src/presets/server.ts'
import { makeServer } from '../../server/fixture.ts'

const { server } = makeServer({ onError: (error) => console.error(error) })

server.tool('count', {}, async (_args, ctx) => {
  for (let n = 1; n <= 3; n++) await ctx.progress(n)
  return 'done'
})

const worker = createWorker(server, {
  path: '/mcp',
  ssePath: '/sse',
  allowedOrigins: ['https://app.example'],
  maxBodyBytes: 5000,
  sessionKey: (request) => request.headers.get('x-tenant') ?? undefined,
  auth: authenticate((request) => {
    switch (request.headers.get('authorization')) {
      case 'ann':
      case 'cid':
        return { principal: String(request.headers.get('authorization')) }
      case 'elsewhere':
        return Response.redirect('https://login.example/')
      case 'trouble':
        throw new Error('The directory is down')
      default:
        return Response.json({ error: 'Who are you?' }, { status: 401 })
    }
  }),
})

export default {
  async fetch(...args: Parameters<typeof worker.fetch>): Promise<Response> {
    const { pathname } = new URL(args[0].url)
    if (pathname !== '/notify') return worker.fetch(...args)
    await worker.notify.toolsListChanged()
    return new Response('told')
  },
}
export const { McpSession, McpHub } = worker.durableObjects
