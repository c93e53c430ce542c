// Streams and calls of a Worker end when their token expires or is revoked; a client with a new token misses
// nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, open, send } from '../../protected-resource/endpoint.ts'
import { RESOURCE } from '../../protected-resource/issuer.ts'
import { modernHeaders, modernRequest } from '../../transport/streamable-http/post.ts'
import { EventReader, type Event } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

const LIFE_MS = 1000
const EXPIRED = 'The access token expired'
const REVOKED = 'The access token was revoked'
const long = { name: 'long', arguments: {}, _meta: { progressToken: 1 } }
let workerd: Workerd
let serial = 0

beforeAll(async () => {
  workerd = await startWorker(await bundleWorker('tokens-worker.ts'))
})
afterAll(() => workerd.stop())

const token = (lifeMs: number): string => `${++serial}-${lifeMs}`
const revoke = (one: string): Promise<Response> => workerd.get(`/revoke?token=${one}`)

/** How a token ends while something is open. */
const ends = {
  expired: { reason: EXPIRED, make: () => token(LIFE_MS), end: async () => {} },
  revoked: { reason: REVOKED, make: () => token(600_000), end: revoke },
}

async function listenIn(session: string, one: string, after?: string): Promise<Response> {
  const headers = { ...bearer(one), accept: 'text/event-stream', 'mcp-session-id': session }
  const resumed = after === undefined ? {} : { 'last-event-id': after }
  return workerd.handle(new Request(RESOURCE, { headers: { ...headers, ...resumed } }))
}

/** Opens a session whose handshake is done. */
async function openSession(one: string): Promise<string> {
  const session = await open(workerd.handle, bearer(one))
  const headers = { ...bearer(one), 'mcp-session-id': session }
  await send(workerd.handle, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
  return session
}

async function rest(reader: EventReader): Promise<Event[]> {
  const events: Event[] = []
  for (let event = await reader.next(); event; event = await reader.next()) events.push(event)
  return events
}

describe.each(Object.entries(ends))('When a token has %s', (_how, { reason, make, end }) => {
  it('subscriptions/listen ends with its closing result, and says why [S032]', async () => {
    const one = make()
    const request = modernRequest('subscriptions/listen', {
      notifications: { toolsListChanged: true },
    })
    const headers = modernHeaders('subscriptions/listen') as Record<string, string>
    delete headers['mcp-name']
    const response = await send(workerd.handle, request, { ...headers, ...bearer(one) })
    await end(one)
    const text = await response.text()
    expect(text).toContain(`: ${reason}\n`)
    expect(text.trim().split('\n').at(-1)).toMatch(/^data: .*"result"/)
  })

  it("a session's stream ends, and a new token gets what happened since [S032]", async () => {
    const one = make()
    const session = await openSession(one)
    const [mine, theirs] = (await listenIn(session, one)).body!.tee()
    await end(one)
    expect(await new Response(mine).text()).toContain(`: ${reason}\n`)
    const events = await rest(new EventReader(new Response(theirs)))
    await (await workerd.get('/changed')).text()
    const again = new EventReader(await listenIn(session, token(60_000), events.at(-1)?.id))
    expect((await again.until('tools/list_changed')).message).toBeDefined()
    await again.cancel()
  })

  it('the stream of a call in a session ends, and a new token gets the answer [S032]', async () => {
    const one = make()
    const session = await openSession(one)
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: long }
    const headers = { ...bearer(one), 'mcp-session-id': session }
    const reader = new EventReader(await send(workerd.handle, call, headers))
    await end(one)
    const events = await rest(reader)
    expect(JSON.stringify(events)).not.toContain('done')
    const release = { ...call, id: 2, params: { name: 'release' } }
    await (await send(workerd.handle, release, { ...headers, ...bearer(token(60_000)) })).text()
    const again = new EventReader(
      await listenIn(session, token(60_000), events.findLast(({ id }) => id)?.id),
    )
    expect((await again.until('done')).message).toHaveProperty('result')
    await again.cancel()
  })

  it('the stream of HTTP+SSE ends [S032]', async () => {
    const one = make()
    const response = await workerd.handle(
      new Request(new URL('/sse', RESOURCE), { headers: bearer(one) }),
    )
    await end(one)
    expect(await response.text()).toContain(`: ${reason}\n`)
  })
})
