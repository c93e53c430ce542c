// A protected Worker whose tokens say for how long they are good, and can be revoked.
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { protectedResource } from '../../../src/protected-resource/index.ts'
import { createServer } from '../../../src/presets/server.ts'

const revoked = new Set<string>()
let isReleased = false
const server = createServer({ name: 'tokens', version: '1.0.0' })
server.tool('long', {}, async (_args, ctx) => {
  isReleased = false
  for (let n = 1; !isReleased; n++) {
    await ctx.progress(n)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return 'done'
})
server.tool('release', {}, () => {
  isReleased = true
  return 'released'
})

const worker = createWorker(server, {
  auth: protectedResource({
    resource: 'https://mcp.example/mcp',
    authorizationServers: ['https://issuer.example'],
    verify: async (token) => {
      if (revoked.has(token)) return { refused: 'It was revoked' }
      // From when it is looked at, so that nothing that takes long comes too late
      const expiresAt = Date.now() + Number(token.split('-')[1])
      return { subject: 'ada', audience: 'https://mcp.example/mcp', scopes: [], expiresAt }
    },
    clockSkewMs: 0,
    revocationCheckMs: 50,
  }),
  ssePath: '/sse',
})

export default {
  async fetch(...args: Parameters<typeof worker.fetch>): Promise<Response> {
    const { pathname, searchParams } = new URL(args[0].url)
    switch (pathname) {
      case '/revoke':
        revoked.add(String(searchParams.get('token')))
        return new Response('revoked')
      case '/changed':
        await worker.notify.toolsListChanged()
        return new Response('notified')
    }
    return worker.fetch(...args)
  },
}
export const { McpSession, McpHub } = worker.durableObjects
