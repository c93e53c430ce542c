// The same protected server on each runtime, as a program of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Handler } from '../../../src/presets/server.ts'
import { commandOf } from '../../process.ts'
import { root } from '../../root.ts'
import { bearer, call, challengeOf, open, send, textOf } from '../../protected-resource/endpoint.ts'
import { Issuer, Prover, RESOURCE, unsigned } from '../../protected-resource/issuer.ts'
import { modernRequest } from '../../transport/streamable-http/post.ts'

const file = (runtime: string): string => `test/runtimes/protected-resource/main-${runtime}.ts`
const denoFlags = ['--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock']

describe.each([
  { runtime: 'Node', words: ['tsx', file('node')] },
  { runtime: 'Deno', words: ['deno', 'run', ...denoFlags, '--allow-net', file('deno')] },
  { runtime: 'Bun', words: ['bun', '--no-install', file('bun')] },
])('A protected server on $runtime', ({ words }) => {
  let issuer: Issuer
  let child: ChildProcess
  let url: string

  beforeAll(async () => {
    issuer = await Issuer.make()
    const [command, ...args] = commandOf([...words, JSON.stringify(issuer.jwks)])
    const program = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    child = program
    url = await new Promise((resolve, reject) => {
      createInterface({ input: program.stdout }).once('line', resolve)
      program.once('close', (code) => reject(new Error(`It ended with ${code}`)))
    })
  })
  afterAll(() => child.kill('SIGKILL'))

  const handle: Handler = Object.assign(
    async (request: Request) => {
      const { method, headers } = request
      const body = method === 'POST' ? await request.text() : undefined
      return fetch(new URL(new URL(request.url).pathname, url), {
        method,
        headers,
        ...(body !== undefined && { body }),
      })
    },
    { close: () => Promise.resolve() },
  )

  it('publishes its metadata, and rejects requests without a valid token [L-AUTH-008] [L-AUTH-009] [L-AUTH-063]', async () => {
    const path = '/.well-known/oauth-protected-resource'
    for (const each of [`${path}/mcp`, path]) {
      const response = await fetch(new URL(each, url))
      expect(await response.json()).toMatchObject({ resource: RESOURCE })
    }
    const bad = [
      {},
      bearer(await issuer.token({ aud: 'https://other.example' })),
      bearer(unsigned(await issuer.token())),
    ]
    for (const headers of bad) {
      const response = await call(handle, 'whoami', headers)
      expect(response.status).toBe(401)
      expect(challengeOf(response).resource_metadata).toContain(path)
    }
  })

  it('identifies the caller, in both eras, and requires the scopes of tools', async () => {
    const headers = bearer(await issuer.token())
    const modern = await textOf(await call(handle, 'whoami', headers))
    expect(JSON.parse(modern)).toMatchObject({ principal: 'ada', scopes: ['mcp'] })
    const whoami = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } }
    const session = { 'mcp-session-id': await open(handle, headers) }
    const legacy = await textOf(await send(handle, whoami, { ...headers, ...session }))
    expect(JSON.parse(legacy)).toMatchObject({ principal: 'ada' })
    const bob = bearer(await issuer.token({ sub: 'bob' }))
    expect((await send(handle, whoami, { ...bob, ...session })).status).toBe(404)
    const refused = await call(handle, 'write', headers)
    expect(refused.status).toBe(403)
    expect(challengeOf(refused).scope).toBe('mcp notes:write')
  })

  it('ends open streams when the token expires, and reports why [S032]', async () => {
    const exp = Math.floor(Date.now() / 1000) + 3
    const headers = bearer(await issuer.token({ exp }))
    const session = { 'mcp-session-id': await open(handle, headers), accept: 'text/event-stream' }
    const notifications = { toolsListChanged: true }
    const request = modernRequest('subscriptions/listen', { notifications })
    const repeated = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': request.method }
    const responses = await Promise.all([
      send(handle, request, { ...headers, ...repeated }),
      handle(new Request(RESOURCE, { headers: { ...headers, ...session } })),
    ])
    for (const response of responses) {
      expect(response.status).toBe(200)
      expect(await response.text()).toContain(': The access token expired\n')
    }
  })

  it('verifies DPoP proofs', async () => {
    const prover = await Prover.make()
    const token = await issuer.token({ cnf: { jkt: prover.thumbprint } })
    const headers = { authorization: `DPoP ${token}`, dpop: await prover.proof(token) }
    expect((await call(handle, 'whoami', headers)).status).toBe(200)
    expect((await call(handle, 'whoami', headers)).status).toBe(401)
  })
})
