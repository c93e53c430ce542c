// A protected server as a Worker: tokens are checked where requests arrive, scopes of tools also in
// the objects of sessions, which never see a token.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, call, challengeOf, open, send, textOf } from '../../protected-resource/endpoint.ts'
import { Issuer, RESOURCE } from '../../protected-resource/issuer.ts'
import { initializeRequest, lastMessage } from '../../transport/streamable-http/post.ts'
import { bundleWorker, startWorker, withTasks, type Workerd } from './workerd.ts'

const METADATA = 'https://mcp.example/.well-known/oauth-protected-resource/mcp'
const whoami = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } }
const write = { ...whoami, params: { name: 'write' } }
let issuer: Issuer
let workerd: Workerd

beforeAll(async () => {
  issuer = await Issuer.make()
  const script = await bundleWorker('protected-worker.ts')
  workerd = await startWorker(script, { ...withTasks, bindings: { JWKS: issuer.jwks as never } })
})
afterAll(() => workerd.stop())

describe('A protected Worker', () => {
  it('publishes its metadata and refuses who has no token [L-AUTH-008] [L-AUTH-009] [M-ADISC-001] [M-ADISC-003]', async () => {
    for (const path of ['/mcp', '']) {
      const response = await workerd.get(`/.well-known/oauth-protected-resource${path}`)
      expect(await response.json()).toMatchObject({ resource: RESOURCE, scopes_supported: ['mcp'] })
    }
    for (const method of ['POST', 'GET', 'DELETE']) {
      const origin = 'https://app.example'
      const response = await workerd.handle(new Request(RESOURCE, { method, headers: { origin } }))
      expect(response.status).toBe(401)
      expect(challengeOf(response)).toMatchObject({ resource_metadata: METADATA, scope: 'mcp' })
      expect(response.headers.get('access-control-allow-origin')).toBe(origin)
    }
    const bad = await call(workerd.handle, 'whoami', bearer(await issuer.token({ aud: 'other' })))
    expect(bad.status).toBe(401)
  })

  it('serves its card and catalog to callers without a token [E-CARD-058] [E-CARD-060]', async () => {
    for (const path of ['/mcp/server-card', '/.well-known/ai-catalog.json']) {
      const response = await workerd.get(path)
      expect(response.status).toBe(200)
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      const etag = response.headers.get('etag') ?? ''
      expect(await response.text()).toContain('https://mcp.example/mcp')
      const request = new Request(`https://mcp.example${path}`, {
        headers: { 'if-none-match': etag },
      })
      expect((await workerd.handle(request)).status).toBe(304)
    }
  })

  it('passes the caller to handlers in both eras, and never the token [L-AUTH-070]', async () => {
    const headers = bearer(await issuer.token())
    const modern = JSON.parse(await textOf(await call(workerd.handle, 'whoami', headers))) as object
    const session = await open(workerd.handle, headers)
    const response = await send(workerd.handle, whoami, { ...headers, 'mcp-session-id': session })
    const legacy = JSON.parse(await textOf(response)) as { headers: string[] }
    for (const caller of [modern, legacy]) {
      expect(caller).toMatchObject({ principal: 'ada', scopes: ['mcp'], clientId: 'client-1' })
      expect(caller).not.toHaveProperty('headers', expect.arrayContaining(['authorization']))
    }
    expect(legacy.headers).toContain('mcp-session-id')
  })

  it('asks for the scopes of a tool, in both eras [L-AUTH-052] [M-ASEC-033]', async () => {
    const headers = { ...bearer(await issuer.token()), origin: 'https://app.example' }
    const session = await open(workerd.handle, headers)
    const refused = [
      await call(workerd.handle, 'write', headers),
      await send(workerd.handle, write, { ...headers, 'mcp-session-id': session }),
    ]
    for (const response of refused) {
      expect(response.status).toBe(403)
      expect(challengeOf(response)).toMatchObject({
        error: 'insufficient_scope',
        scope: 'mcp notes:write',
        resource_metadata: METADATA,
      })
      expect(response.headers.get('access-control-expose-headers')).toContain('www-authenticate')
    }
    const more = { ...headers, ...bearer(await issuer.token({ scope: 'mcp notes:write' })) }
    const done = await send(workerd.handle, write, { ...more, 'mcp-session-id': session })
    expect(await textOf(done)).toBe('Written')
  })

  it("covers the tasks of a tool by its scopes, for the same user's other clients [S007]", async () => {
    const ask = async (scope: string, method: string, params: object): Promise<object> => {
      const headers = bearer(await issuer.token({ scope }))
      const session = { 'mcp-session-id': await open(workerd.handle, headers) }
      const request = { jsonrpc: '2.0', id: 1, method, params }
      return lastMessage(await send(workerd.handle, request, { ...headers, ...session }))
    }
    const full = 'mcp notes:write'
    const made = await ask(full, 'tools/call', { name: 'write', task: {} })
    const { result } = made as { result: { task: { taskId: string } } }
    const { taskId } = result.task
    expect(await ask(full, 'tasks/result', { taskId })).toHaveProperty('result.content')
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      const refused = await ask('mcp', method, { taskId })
      expect(refused).toHaveProperty('error.message', 'Unknown task')
    }
  })

  it('has no session for another principal, also after it was replaced [L-HTTP-061] [L-HTTP-062]', async () => {
    const ada = bearer(await issuer.token())
    const bob = bearer(await issuer.token({ sub: 'bob' }))
    const session = { 'mcp-session-id': await open(workerd.handle, ada) }
    for (const restart of [false, true]) {
      if (restart) await workerd.restart()
      const stolen = { ...bob, ...session, accept: 'text/event-stream' }
      const responses = [
        await send(workerd.handle, whoami, { ...bob, ...session }),
        await workerd.handle(new Request(RESOURCE, { headers: stolen })),
        await workerd.handle(new Request(RESOURCE, { method: 'DELETE', headers: stolen })),
      ]
      expect(responses.map(({ status }) => status)).toEqual([404, 404, 404])
      expect((await send(workerd.handle, whoami, { ...session })).status).toBe(401)
      const mine = await send(workerd.handle, whoami, { ...ada, ...session })
      expect(JSON.parse(await textOf(mine))).toMatchObject({ principal: 'ada' })
    }
  })

  it('requires a token over HTTP+SSE too [L-HTTP-060] [L-AUTH-008]', async () => {
    const { handle } = workerd
    const sse = 'https://mcp.example/sse'
    expect((await handle(new Request(sse))).status).toBe(401)
    const ada = bearer(await issuer.token())
    const bob = bearer(await issuer.token({ sub: 'bob' }))
    const gone = new AbortController()
    const { signal } = gone
    const headers = { ...ada, accept: 'text/event-stream' }
    const stream = await handle(new Request(sse, { headers, signal }))
    const { value } = await stream.body!.getReader().read()
    const path = /data: (\S+)/.exec(new TextDecoder().decode(value))?.[1] ?? ''
    const url = new URL(path, sse).href
    const initialize = initializeRequest('2024-11-05')
    expect((await send(handle, initialize, {}, url)).status).toBe(401)
    expect((await send(handle, initialize, bob, url)).status).toBe(404)
    expect((await send(handle, initialize, ada, url)).status).toBe(202)
    const refused = await send(handle, write, ada, url)
    expect(refused.status).toBe(403)
    expect(challengeOf(refused)).toMatchObject({ error: 'insufficient_scope' })
    expect((await send(handle, whoami, ada, url)).status).toBe(202)
    gone.abort()
  })

  it('ignores a header that names the caller', async () => {
    const ada = bearer(await issuer.token())
    const session = await open(workerd.handle, ada)
    const identity = encodeURIComponent(JSON.stringify({ principal: 'ada' }))
    const bob = bearer(await issuer.token({ sub: 'bob' }))
    const headers = { ...bob, 'mcp-session-id': session, 'edgewise-caller': identity }
    expect((await send(workerd.handle, whoami, headers)).status).toBe(404)
  })
})
