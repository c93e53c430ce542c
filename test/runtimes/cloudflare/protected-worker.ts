// A protected server as a Worker, whose tools return the caller and the remaining headers of its request.
import { env } from 'cloudflare:workers'
import type { JSONWebKeySet } from 'jose'
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { aiCatalog, cardHandler, serverCard } from '../../../src/cards/index.ts'
import { jwtTokens, protectedResource } from '../../../src/protected-resource/index.ts'
import { createServer } from '../../../src/presets/server.ts'
import { tasks } from '../../../src/tasks/index.ts'

const server = createServer({ name: 'protected', version: '1.0.0' })
server.tool('whoami', {}, (_args, { principal, auth, request }) =>
  JSON.stringify({
    principal,
    ...auth,
    headers: [...(request?.headers.keys() ?? [])],
  }),
)
server.extend(tasks())
server.tool('write', { scopes: ['notes:write'], task: 'optional' }, () => 'Written')

const card = serverCard(server, {
  name: 'example.mcp/protected',
  description: 'Returns the caller.',
  remotes: ['https://mcp.example/mcp'],
  // The tests use a reserved domain
  development: true,
})

const worker = createWorker(server, {
  card: cardHandler(card, { catalog: aiCatalog([card], { development: true }) }),
  auth: protectedResource({
    resource: 'https://mcp.example/mcp',
    authorizationServers: ['https://issuer.example'],
    verify: jwtTokens({ jwks: env.JWKS as JSONWebKeySet }),
    scopes: ['mcp'],
  }),
  ssePath: '/sse',
  allowedOrigins: ['https://app.example'],
})

export default worker
export const { McpSession, McpHub, McpTask } = worker.durableObjects
