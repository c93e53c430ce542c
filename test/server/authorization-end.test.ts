// Open calls and streams end when a token expires or is revoked; a client with a new token misses nothing.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connect } from '../../src/presets/client.ts'
import { protectedResource, type TokenVerifier } from '../../src/protected-resource/index.ts'
import {
  createHandler,
  createServer,
  createSseHandler,
  statefulSessions,
  type Handler,
} from '../../src/presets/server.ts'
import { EventReader, type Event } from '../runtimes/cloudflare/events.ts'
import { until } from '../client/peers.ts'
import { closing } from '../closing.ts'
import { gate } from '../tasks/fixture.ts'
import {
  initializeRequest,
  modernHeaders,
  modernRequest,
  postModern,
} from '../transport/streamable-http/post.ts'
import { bearer, open, send } from '../protected-resource/endpoint.ts'
import { RESOURCE } from '../protected-resource/issuer.ts'

const LIFE_MS = 60_000
const EXPIRED = 'The access token expired'

/** A protected server; a token is good for as long as it says, from when it is looked at. */
function makeProtected(options: { revocationCheckMs?: number } = {}) {
  const revoked = new Set<string>()
  const errors: unknown[] = []
  let isDown = false
  const verify: TokenVerifier = async (token) => {
    if (isDown) throw new Error('The issuer is down')
    const expiresAt = Date.now() + Number(token.split('-')[1])
    if (revoked.has(token)) return { refused: 'It was revoked' }
    return { subject: 'ada', audience: RESOURCE, scopes: [], expiresAt }
  }
  const server = createServer(
    { name: 'protected', version: '1' },
    { onError: (error) => errors.push(error) },
  )
  const { opened, open: finish } = gate()
  const aborted: unknown[] = []
  server.tool('long', {}, async (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => aborted.push(ctx.signal.reason))
    await ctx.progress(1)
    await opened
    return 'done'
  })
  const auth = protectedResource({
    resource: RESOURCE,
    authorizationServers: ['https://issuer.example'],
    verify,
    clockSkewMs: 0,
    ...options,
  })
  const handle = createHandler(server, { auth, sessions: statefulSessions() })
  closing(handle)
  let serial = 0
  const token = (lifeMs: number): string => `${++serial}-${lifeMs}`
  return {
    server,
    handle,
    auth,
    token,
    finish,
    aborted,
    errors,
    revoke: (one: string) => revoked.add(one),
    break: (down: boolean) => void (isDown = down),
  }
}

/** Opens the stream of a session. */
async function listenIn(
  handle: Handler,
  session: string,
  token: string,
  after?: string,
): Promise<EventReader> {
  const headers = { ...bearer(token), accept: 'text/event-stream', 'mcp-session-id': session }
  const resumed = after === undefined ? {} : { 'last-event-id': after }
  return new EventReader(
    await handle(new Request(RESOURCE, { headers: { ...headers, ...resumed } })),
  )
}

const long = { name: 'long', arguments: {}, _meta: { progressToken: 1 } }
const modern = (handle: Handler, method: string, params: object, token: string) =>
  send(handle, modernRequest(method, params as never), {
    ...(modernHeaders(method, (params as { name?: string }).name) as Record<string, string>),
    ...bearer(token),
  })

/** Every event up to the end of a stream. */
async function rest(reader: EventReader): Promise<Event[]> {
  const events: Event[] = []
  for (let event = await reader.next(); event; event = await reader.next()) events.push(event)
  return events
}

describe('At the end of its token', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('subscriptions/listen ends with its closing result, and says why [S032]', async () => {
    const { handle, token } = makeProtected()
    const notifications = { toolsListChanged: true }
    const response = await modern(handle, 'subscriptions/listen', { notifications }, token(LIFE_MS))
    vi.advanceTimersByTime(LIFE_MS)
    const text = await response.text()
    expect(text).toContain(`: ${EXPIRED}\n`)
    expect(text.trim().split('\n').at(-1)).toMatch(/^data: .*"result"/)
  })

  it('a call of 2026-07-28 ends with an error, and its handler is aborted [S032]', async () => {
    const { handle, token, aborted, finish } = makeProtected()
    const response = await modern(handle, 'tools/call', long, token(LIFE_MS))
    vi.advanceTimersByTime(LIFE_MS)
    const text = await response.text()
    expect(text).toContain(`: ${EXPIRED}\n`)
    expect(text).toContain(`"error":{"code":-32600,"message":"${EXPIRED}"}`)
    expect(aborted).toEqual([expect.objectContaining({ code: 'ABORTED', message: EXPIRED })])
    finish()
  })

  it("a session's stream ends, and a new token gets the missed events [S032]", async () => {
    const { server, handle, token } = makeProtected()
    const first = token(LIFE_MS)
    const session = await open(handle, bearer(first))
    const headers = { ...bearer(first), 'mcp-session-id': session }
    await send(handle, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
    const reader = await listenIn(handle, session, first)
    server.notify.toolsListChanged()
    vi.advanceTimersByTime(LIFE_MS)
    const events = await rest(reader)
    expect(events.filter(({ message }) => message)).toHaveLength(1)
    server.notify.resourcesListChanged()
    const again = await listenIn(handle, session, token(LIFE_MS), events.at(-1)?.id)
    server.notify.promptsListChanged()
    const notified = [await again.until('list_changed'), await again.until('list_changed')]
    expect(notified.map(({ message }) => message?.method)).toEqual([
      'notifications/resources/list_changed',
      'notifications/prompts/list_changed',
    ])
    await again.cancel()
  })

  it('the stream of a call in a session ends, and a new token gets the answer [S032]', async () => {
    const { handle, token, finish, aborted } = makeProtected()
    const first = token(LIFE_MS)
    const session = await open(handle, bearer(first))
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: long }
    const headers = { ...bearer(first), 'mcp-session-id': session }
    const reader = new EventReader(await send(handle, call, headers))
    vi.advanceTimersByTime(LIFE_MS)
    const events = await rest(reader)
    expect(JSON.stringify(events)).not.toContain('done')
    finish()
    const again = await listenIn(handle, session, token(LIFE_MS), events.at(-1)?.id)
    expect((await again.until('done')).message).toHaveProperty('result')
    expect(aborted).toEqual([])
  })

  it('the stream of HTTP+SSE ends, and the session with it [S032]', async () => {
    const { server, auth, token } = makeProtected()
    const handle = createSseHandler(server, { auth })
    closing(handle)
    const url = new URL('/sse', RESOURCE)
    const response = await handle(new Request(url, { headers: bearer(token(LIFE_MS)) }))
    vi.advanceTimersByTime(LIFE_MS)
    const text = await response.text()
    expect(text).toContain(`: ${EXPIRED}\n`)
    const posted = new URL(/data: (\S+)/.exec(text)?.[1] ?? '', url).href
    const late = await send(handle, initializeRequest('2024-11-05'), bearer(token(LIFE_MS)), posted)
    expect(late.status).toBe(404)
  })

  it('a stream that was opened within the tolerance for clocks stays for 30 seconds [S032]', async () => {
    const server = createServer({ name: 'skewed', version: '1' })
    server.tool('a', {}, () => 'a')
    const handle = createHandler(server)
    closing(handle)
    const auth = { expiresAt: Date.now() - 1000 }
    const known = Object.assign((request: Request) => handle(request, { auth }), {
      close: handle.close,
    })
    const notifications = { toolsListChanged: true }
    const response = await postModern(known, 'subscriptions/listen', { notifications })
    const reader = new EventReader(response)
    expect((await reader.next())?.message?.method).toContain('acknowledged')
    vi.advanceTimersByTime(29_999)
    server.notify.toolsListChanged()
    expect((await reader.next())?.message?.method).toContain('list_changed')
    vi.advanceTimersByTime(1)
    expect((await reader.next())?.message).toHaveProperty('result')
  })
})

describe('Where revocation is checked', () => {
  it('an open stream ends once its token is revoked, but not while that cannot be checked [S032]', async () => {
    const fixture = makeProtected({ revocationCheckMs: 20 })
    const { handle, token, revoke, errors } = fixture
    const first = token(600_000)
    const notifications = { toolsListChanged: true }
    const response = await modern(handle, 'subscriptions/listen', { notifications }, first)
    fixture.break(true)
    await expect.poll(() => errors.length).toBeGreaterThan(1)
    fixture.break(false)
    revoke(first)
    const text = await response.text()
    expect(text).toContain(': The access token was revoked\n')
    expect(text.trim().split('\n').at(-1)).toMatch(/^data: .*"result"/)
  })
})

describe('Our client', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it.each(['2025-11-25', '2026-07-28'] as const)(
    'continues listening in %s with a new token, and loses no change [S032]',
    async (revision) => {
      const { server, handle, token } = makeProtected()
      let changes = 0
      let signedIn = 0
      const auth = {
        headers: () => {
          signedIn++
          return Promise.resolve(bearer(token(LIFE_MS)))
        },
        onChallenge: () => Promise.resolve(false),
      }
      const streams: Promise<unknown>[] = []
      const fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
        const response = await handle(new Request(input, init))
        if (!response.headers.get('content-type')?.includes('event-stream')) return response
        const [mine, theirs] = response.body!.tee()
        streams.push(new Response(mine).text())
        return new Response(theirs, response)
      }
      await using client = await connect(RESOURCE, {
        auth,
        fetch,
        revision,
        onToolsChanged: () => void changes++,
      })
      server.tool('a', {}, () => 'a').enable()
      await expect.poll(() => streams.length).toBeGreaterThan(0)
      vi.advanceTimersByTime(LIFE_MS)
      expect(await streams.at(-1)).toContain(EXPIRED)
      const before = changes
      server.notify.toolsListChanged()
      await until(() => {
        // In the pause before the client listens again
        vi.advanceTimersByTime(100)
        return changes > before
      })
      expect(signedIn).toBeGreaterThan(1)
      expect(client.revision).toBe(revision)
    },
  )
})
