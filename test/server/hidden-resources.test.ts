import { describe, expect, it } from 'vitest'
import type { JsonRpcMessage } from '../../src/index.ts'
import { createHandler, statefulSessions, serveTransport } from '../../src/presets/server.ts'
import { inMemoryTransports } from '../../src/testing/index.ts'
import { closing } from '../closing.ts'
import { EventReader, listen } from '../runtimes/cloudflare/events.ts'
import { initializeRequest, openSession } from '../transport/streamable-http/post.ts'
import { checkListening, checkSession, makeRestricted } from './hidden-resources.ts'

function makeHost() {
  const server = makeRestricted()
  const handle = createHandler(server, { sessions: statefulSessions() })
  closing(handle)
  return {
    as: (principal: string) =>
      Object.assign((request: Request) => handle(request, { principal }), { close: handle.close }),
    updated: async (uri: string) => server.notify.resourceUpdated(uri),
  }
}

describe('A resource that is hidden from a caller', () => {
  it('is never notified to its subscriptions/listen, under any prefix [S006]', async () => {
    await checkListening(makeHost())
  })

  it('is never notified to its session, neither live nor on a resumed stream [S006]', async () => {
    await checkSession(makeHost())
  })

  it('is no longer notified once the caller may not see it, even if the session is subscribed [S006]', async () => {
    const server = makeRestricted()
    const handle = createHandler(server, { sessions: statefulSessions() })
    closing(handle)
    let scopes = ['all']
    const known = (request: Request) => handle(request, { principal: 'eve', auth: { scopes } })
    const eve = Object.assign(known, { close: handle.close })
    server.resource(
      'notes://scoped',
      { name: 'scoped', visible: ({ auth }) => auth?.scopes?.includes('all') === true },
      () => 'scoped',
    )
    const { id, send } = await openSession(eve)
    for (const uri of ['notes://scoped', 'notes://all']) {
      await send({ jsonrpc: '2.0', id: uri, method: 'resources/subscribe', params: { uri } })
    }
    scopes = []
    const reader = new EventReader(await listen(eve, id))
    server.notify.resourceUpdated('notes://scoped')
    server.notify.resourceUpdated('notes://all')
    const notification = await reader.until('notes://')
    expect(notification.message?.params).toEqual({ uri: 'notes://all' })
    await reader.cancel()
  })

  it('is never notified on a connection [S006]', async () => {
    const server = makeRestricted()
    const [near, far] = inMemoryTransports()
    closing(near)
    void serveTransport(server, far, { caller: { principal: 'bob' } })
    const got: JsonRpcMessage[] = []
    await near.start({
      message: (frame) => void got.push(...[frame as JsonRpcMessage].flat()),
      malformed: () => {},
      closed: () => {},
    })
    await near.send(initializeRequest())
    await near.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    const params = { uri: 'notes://all' }
    await near.send({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params })
    await expect.poll(() => got.length).toBe(2)
    server.notify.resourceUpdated('notes://all/secret')
    server.notify.resourceUpdated('notes://all/open')
    await expect.poll(() => got.length).toBe(3)
    expect(got.at(-1)).toMatchObject({ params: { uri: 'notes://all/open' } })
  })
})
