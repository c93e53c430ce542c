// The Worker. Its endpoint is /mcp.
import { createHandler } from 'edgewise/server/tiny'
import { server } from './server.ts'

const handle = createHandler(server)

export default {
  fetch(request, env, ctx) {
    const { pathname } = new URL(request.url)
    if (pathname !== '/mcp') return new Response('Not found', { status: 404 })
    return handle(request, { env, waitUntil: (work) => ctx.waitUntil(work) })
  },
} satisfies ExportedHandler
