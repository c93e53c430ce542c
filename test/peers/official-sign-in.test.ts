// Our client signs in to servers that the official SDKs protect: v1 with its own authorization
// server, v2 as a resource server.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import {
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  requireBearerAuth,
} from '@modelcontextprotocol/server'
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js'
import { requireBearerAuth as requireBearerAuthV1 } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { describe, expect, it } from 'vitest'
import { loopback } from '../../runtimes/node/index.ts'
import { signIn } from '../../src/authorization/index.ts'
import { connect } from '../../src/presets/client.ts'
import { createWorld, ISSUER, MCP } from '../authorization/world.ts'
import { createV1Server } from './servers/v1.ts'
import { createV2Server } from './servers/v2.ts'

describe('a server of the official SDK v2', () => {
  it.each(['2026-07-28', '2025-11-25'] as const)(
    'is signed in to, and steps up, at %s',
    async (revision) => {
      const metadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(MCP))
      const handler = createMcpHandler(createV2Server)
      const gate = (requiredScopes: string[]) =>
        requireBearerAuth({
          requiredScopes,
          resourceMetadataUrl: metadataUrl,
          verifier: {
            async verifyAccessToken(token) {
              const given = world.valid.get(token)
              if (!given) throw new OAuthError(OAuthErrorCode.InvalidToken, 'Unknown token')
              const expiresAt = Math.floor(Date.now() / 1000) + 60
              return { token, clientId: 'c', scopes: [...given.scopes], expiresAt }
            },
          },
        })
      const world = createWorld()
      const fetch: typeof world.fetch = async (url, init) => {
        const request = new Request(url, init)
        const metadata = oauthMetadataResponse(request, {
          resourceServerUrl: new URL(MCP),
          oauthMetadata: {
            issuer: ISSUER,
            authorization_endpoint: `${ISSUER}/authorize`,
            token_endpoint: `${ISSUER}/token`,
            response_types_supported: ['code'],
          },
        })
        if (metadata && url.startsWith(new URL(MCP).origin)) return metadata
        if (url !== MCP) return world.fetch(url, init)
        const calls = typeof init?.body === 'string' && init.body.includes('tools/call')
        const auth = await gate(calls ? ['read', 'write'] : ['read'])(request)
        return auth instanceof Response ? auth : handler.fetch(request, { authInfo: auth })
      }
      await using client = await connect(MCP, { fetch, revision, auth: world.signIn({ fetch }) })
      const { content } = await client.callTool('greet', { name: 'Ada' })
      expect(JSON.stringify(content)).toContain('Ada')
      expect(world.to(`${ISSUER}/authorize`).map(({ query }) => query.scope)).toEqual([
        'read',
        'read write',
      ])
      // Another user's token does not open it
      expect(
        await fetch(MCP, { method: 'POST', headers: { authorization: 'Bearer x' } }),
      ).toMatchObject({ status: 401 })
    },
  )
})

/** As much of express as is used here; it has no types of its own. */
interface ExpressApp {
  (...args: unknown[]): void
  use(...handlers: unknown[]): void
  all(path: string, ...handlers: unknown[]): void
}

describe('a server of the official SDK v1, with its own authorization server', () => {
  it('is signed in to by registration, PKCE and a port of this machine', async () => {
    const express: () => ExpressApp = createRequire(import.meta.url)('express')
    const app = express()
    const http = createServer(app)
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    const resource = new URL('/mcp', origin)
    const provider = new DemoInMemoryAuthProvider((asked) => asked?.href === resource.href)
    app.use(
      mcpAuthRouter({
        provider,
        issuerUrl: new URL(origin),
        resourceServerUrl: resource,
        scopesSupported: ['mcp:tools'],
      }),
    )
    const resourceMetadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`
    const bearer = requireBearerAuthV1({
      verifier: provider,
      requiredScopes: ['mcp:tools'],
      resourceMetadataUrl,
    })
    app.all(
      '/mcp',
      bearer,
      async (
        ...[request, response]: Parameters<StreamableHTTPServerTransport['handleRequest']>
      ) => {
        const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
        await createV1Server().connect(transport)
        await transport.handleRequest(request, response)
      },
    )
    let visits = 0
    const auth = signIn({
      client: { name: 'Test' },
      interaction: loopback({
        async open(url) {
          visits++
          const { headers } = await fetch(url, { redirect: 'manual' })
          await (await fetch(headers.get('location') ?? '')).text()
        },
      }),
    })
    try {
      await using client = await connect(resource, { auth })
      const { content } = await client.callTool('greet', { name: 'Ada' })
      expect(JSON.stringify(content)).toContain('Ada')
      expect(visits).toBe(1)
    } finally {
      http.closeAllConnections()
      http.close()
    }
  })
})
