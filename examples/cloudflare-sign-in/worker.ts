// A Worker that is its own authorization server. The page in `consent.ts` asks the user, Cloudflare's
// library issues the tokens, and `auth` verifies them.
import { OAuthAuthorizationServer } from '@cloudflare/workers-oauth-provider'
import { env } from 'cloudflare:workers'
import { createWorker } from 'edgewise/cloudflare'
import { protectedResource } from 'edgewise/protected-resource'
import { createServer } from 'edgewise/server'
import * as z from 'zod'
import { answerConsent, askConsent } from './consent.ts'

const issuer = env.ORIGIN
const resource = `${issuer}/mcp`
const authorization = new OAuthAuthorizationServer({
  issuer,
  resources: [resource],
  authorizeEndpoint: '/authorize',
  tokenEndpoint: '/token',
  clientRegistrationEndpoint: '/register',
  scopesSupported: ['notes:read', 'notes:write'],
})

const server = createServer({ name: 'notes', version: '1.0.0' })

server.tool('list', { description: 'Lists your notes.' }, async (_args, { principal = '' }) =>
  [`Notes of ${principal}:`, (await env.NOTES.get(principal)) ?? ''].join('\n'),
)
server.tool(
  'write',
  { description: 'Keeps a note.', input: z.object({ text: z.string() }), scopes: ['notes:write'] },
  async ({ text }, { principal = '' }) => {
    const notes = (await env.NOTES.get(principal)) ?? ''
    await env.NOTES.put(principal, `${notes}${text}\n`)
    return 'Kept'
  },
)

const worker = createWorker(server, {
  auth: protectedResource({
    resource,
    authorizationServers: [issuer],
    scopes: ['notes:read'],
    async verify(token) {
      const grant = await authorization.validateToken(resource, token, env)
      if (!grant) return undefined
      return {
        subject: grant.userId,
        clientId: grant.clientId,
        audience: grant.audience,
        scopes: grant.scope,
        expiresAt: grant.expiresAt * 1000,
      }
    },
  }),
  allowedOrigins: '*',
})

const AUTHORIZATION_PATHS = ['/token', '/register', '/.well-known/oauth-authorization-server']

export default {
  fetch: (async (request, bindings, ctx) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/authorize') {
      const oauth = authorization.getOAuthApi(env)
      return request.method === 'POST' ? answerConsent(request, oauth) : askConsent(request, oauth)
    }
    if (AUTHORIZATION_PATHS.includes(pathname)) return authorization.fetch(request, env, ctx)
    return worker.fetch(request, bindings, ctx)
  }) satisfies typeof worker.fetch,
}
export const { McpSession, McpHub } = worker.durableObjects
