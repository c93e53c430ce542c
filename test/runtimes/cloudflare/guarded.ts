// A Worker that finds out who calls, and says no in every way there is.
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { authenticate, type Authenticator, type Caller } from '../../../src/presets/server.ts'
import { makeServer } from '../../server/fixture.ts'

const { server } = makeServer({ onError: (error) => console.error(error) })

server.tool('count', {}, async (_args, ctx) => {
  for (let n = 1; n <= 3; n++) await ctx.progress(n)
  return 'done'
})

const directory = authenticate((request) => {
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
})

/** An authenticator of the application's own, whose methods are those of a class. */
class Directory implements Authenticator {
  readonly paths = directory.paths
  readonly credentialHeaders = directory.credentialHeaders
  handleMetadata(request: Request): Response | undefined {
    return directory.handleMetadata(request)
  }
  authenticate(
    ...args: Parameters<Authenticator['authenticate']>
  ): Promise<Caller | Response> | Caller {
    return directory.authenticate(...args)
  }
  authorize(...args: Parameters<Authenticator['authorize']>): void {
    directory.authorize(...args)
  }
}

const worker = createWorker(server, {
  path: '/mcp',
  ssePath: '/sse',
  allowedOrigins: ['https://app.example'],
  maxBodyBytes: 5000,
  sessionKey: (request) => request.headers.get('x-tenant') ?? undefined,
  auth: new Directory(),
})

export default {
  async fetch(...args: Parameters<typeof worker.fetch>): Promise<Response> {
    const { pathname } = new URL(args[0].url)
    if (pathname !== '/notify') return worker.fetch(...args)
    await worker.notify.toolsListChanged()
    return new Response('notified')
  },
}
export const { McpSession, McpHub } = worker.durableObjects
