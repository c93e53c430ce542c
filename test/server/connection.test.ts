import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonRpcMessage } from '../../src/index.ts'
import { createServer, serveTransport } from '../../src/presets/server.ts'
import { inMemoryTransports } from '../../src/testing/index.ts'
import { modernRequest } from '../transport/streamable-http/post.ts'
import { makeServer } from './fixture.ts'
import { closing } from '../closing.ts'

/** A raw peer of a server: sends any frame, and keeps what comes back. */
async function peer(server = makeServer().server, options = {}) {
  const [near, far] = inMemoryTransports()
  closing(near)
  const served = serveTransport(server, far, options)
  const got: (JsonRpcMessage & JsonObject)[] = []
  let closed = false
  await near.start({
    message: (frame) => void got.push(...([frame].flat() as (JsonRpcMessage & JsonObject)[])),
    malformed: () => {},
    closed: () => void (closed = true),
  })
  const send = (frame: unknown): Promise<void> => near.send(frame as JsonRpcMessage)
  const answer = (id: unknown) =>
    expect.poll(() => got.find((message) => message.id === id && !('method' in message)))
  const initialize = async (protocolVersion: string, capabilities = {}): Promise<void> => {
    const params = { protocolVersion, capabilities, clientInfo: { name: 'c', version: '1' } }
    await send({ jsonrpc: '2.0', id: 'init', method: 'initialize', params })
    await answer('init').toHaveProperty('result')
    await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }
  return { got, send, answer, initialize, served, near, isClosed: () => closed }
}

describe('a server on a connection', () => {
  it('answers a ping at any time, and nothing else before initialize [L-LIFE-001] [L-LIFE-007]', async () => {
    const { send, answer } = await peer()
    await send({ jsonrpc: '2.0', id: 1, method: 'ping' })
    await answer(1).toMatchObject({ result: {} })
    await send({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    await answer(2).toMatchObject({ error: { code: -32600 } })
  })

  it('preserves the type of ids [L-RPC-006] [M-BASE-007]', async () => {
    const { send, answer } = await peer()
    for (const id of [1, '1', 'é', 2 ** 53 - 1, '']) {
      await send({ jsonrpc: '2.0', id, method: 'ping' })
      await answer(id).toMatchObject({ id, result: {} })
    }
  })

  it.each(['session', 'none'])(
    'refuses an id that is in flight, whichever era used it first: %s [L-RPC-006]',
    async (first) => {
      const { send, got, answer, initialize } = await peer()
      await initialize('2025-11-25')
      const params = { name: 'wait', arguments: {} }
      const requests = [
        { jsonrpc: '2.0', id: 7, method: 'tools/call', params },
        { ...modernRequest('tools/call', params), id: 7 },
      ]
      if (first === 'none') requests.reverse()
      for (const request of requests) await send(request)
      await answer(7).toMatchObject({ error: { code: -32600 } })
      await send({ jsonrpc: '2.0', id: '7', method: 'ping' })
      await answer('7').toMatchObject({ result: {} })
      await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
      await send({ jsonrpc: '2.0', id: 8, method: 'ping' })
      await answer(8).toMatchObject({ result: {} })
      expect(got.filter(({ id }) => id === 7)).toHaveLength(1)
    },
  )

  it('serves clients of both eras at once; neither changes the other [M-VER-011] [M-BASE-045]', async () => {
    const { send, answer, initialize } = await peer()
    await send(modernRequest('tools/list'))
    await answer(1).toMatchObject({ result: { resultType: 'complete' } })
    await initialize('2025-06-18')
    await send({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    await answer(2).not.toHaveProperty('result.resultType')
    await send({ ...modernRequest('server/discover'), id: 3 })
    await answer(3).toMatchObject({ result: { supportedVersions: expect.any(Array) as unknown } })
    await send({ jsonrpc: '2.0', id: 4, method: 'ping' })
    await answer(4).toMatchObject({ result: {} })
    await send({ ...modernRequest('ping'), id: 5 })
    await answer(5).toMatchObject({ error: { code: -32601 } })
  })

  it('checks each request by its own declared capabilities [M-BASE-044]', async () => {
    const { send, answer } = await peer()
    const confirm = { name: 'confirm', arguments: { what: 'tea' } }
    await send(modernRequest('tools/call', confirm, { elicitation: {} }))
    await answer(1).toMatchObject({ result: { resultType: 'input_required' } })
    await send({ ...modernRequest('tools/call', confirm), id: 2 })
    await answer(2).toMatchObject({ error: { code: -32021 } })
  })

  it('refuses a second initialize and continues [L-LIFE-014]', async () => {
    const { send, answer, initialize } = await peer()
    await initialize('2025-11-25')
    await send({ jsonrpc: '2.0', id: 2, method: 'initialize', params: {} })
    await answer(2).toMatchObject({ error: { code: -32600 } })
    await send({ jsonrpc: '2.0', id: 3, method: 'ping' })
    await answer(3).toMatchObject({ result: {} })
  })

  it('refuses an id that is in flight, in either era; the first call is unaffected [L-RPC-005]', async () => {
    const { send, answer, initialize, got } = await peer()
    await initialize('2025-11-25')
    for (const [id, extra] of [
      [10, {}],
      [11, modernRequest('x').params],
    ] as const) {
      const params = { name: 'wait', arguments: {}, ...extra }
      await send({ jsonrpc: '2.0', id, method: 'tools/call', params })
      await send({ jsonrpc: '2.0', id, method: 'tools/call', params })
      await answer(id).toMatchObject({ error: { code: -32600 } })
      await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
      await send({ jsonrpc: '2.0', id: `after ${id}`, method: 'ping' })
      await answer(`after ${id}`).toMatchObject({ result: {} })
      expect(got.filter((message) => message.id === id)).toHaveLength(1)
    }
  })

  it('does not answer unknown notifications and responses [L-RPC-012] [L-RPC-016] [M-BASE-022] [M-BASE-023]', async () => {
    const { send, answer, got } = await peer()
    await send({ jsonrpc: '2.0', method: 'notifications/unknown' })
    await send({ jsonrpc: '2.0', method: 'tools/list' })
    await send({ jsonrpc: '2.0', id: 99, result: {} })
    await send({ jsonrpc: '2.0', id: 1, method: 'ping' })
    await answer(1).toBeDefined()
    expect(got).toHaveLength(1)
  })

  it('reports an invalid message, with the id where it can be read [L-RPC-011] [M-BASE-016]', async () => {
    const { send, answer, got } = await peer()
    await send({ id: 7, method: 'ping' })
    await answer(7).toMatchObject({ error: { code: -32600 } })
    await send(42)
    await expect.poll(() => got.at(-1)).toMatchObject({ error: { code: -32600 } })
    expect(got.at(-1)).not.toHaveProperty('id')
  })

  it('accepts batches in 2025-03-26 only [L-RPC-019] [L-RPC-022]', async () => {
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/unknown' },
      { jsonrpc: '2.0', id: 2, method: 'nope' },
      { jsonrpc: '1.0', id: 3, method: 'ping' },
    ]
    const old = await peer()
    await old.initialize('2025-03-26')
    await old.send(batch)
    await old.answer(1).toMatchObject({ result: {} })
    await old.answer(2).toMatchObject({ error: { code: -32601 } })
    await old.answer(3).toMatchObject({ error: { code: -32600 } })
    await old.send([])
    await expect.poll(() => old.got.at(-1)).toMatchObject({ error: { code: -32600 } })
    for (const version of ['2024-11-05', '2025-06-18', '2025-11-25']) {
      const other = await peer()
      await other.initialize(version)
      await other.send(batch)
      await expect.poll(() => other.got.at(-1)).toMatchObject({ error: { code: -32600 } })
      expect(other.got).toHaveLength(2)
    }
  })

  it('never accepts initialize as part of a batch [L-LIFE-018]', async () => {
    const { send, answer, got } = await peer()
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: {} }
    await send([{ jsonrpc: '2.0', id: 1, method: 'initialize', params }])
    await expect.poll(() => got.at(-1)).toMatchObject({ error: { code: -32600 } })
    await send({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    await answer(2).toMatchObject({ error: { code: -32600 } })
  })

  it('of one revision names it to clients of another era [M-VER-026] [M-VER-027]', async () => {
    const modern = createServer({ name: 's', version: '1' }, { revisions: ['2026-07-28'] })
    const { send, answer } = await peer(modern)
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} }
    await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    await answer(1).toMatchObject({
      error: {
        code: -32601,
        message: expect.stringContaining('2026-07-28') as unknown,
        data: { supported: ['2026-07-28'] },
      },
    })
    await send({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    await answer(2).toMatchObject({ error: { code: -32602 } })
  })

  it('cancels running requests when the connection closes', async () => {
    const { server, ran } = makeServer()
    const { send, near, served } = await peer(server)
    await send(modernRequest('tools/call', { name: 'wait' }))
    await expect.poll(() => ran).toContain('wait')
    await near.close()
    await served
    await expect.poll(() => ran).toContain('aborted')
  })
})

describe('listeners on a connection', () => {
  const listen = (id: unknown, notifications: JsonObject) => ({
    ...modernRequest('subscriptions/listen', { notifications }),
    id,
  })
  const META = 'io.modelcontextprotocol/subscriptionId'

  it('receive the acknowledged filter first, then their notifications, each with its own id [M-SUB-014] [M-SUB-015] [M-SUB-016] [M-SUB-018] [M-SUB-027] [M-SUB-050]', async () => {
    const { server } = makeServer()
    const { send, got } = await peer(server)
    await send(listen(7, { toolsListChanged: true, foo: true }))
    await send(listen('7', { resourceSubscriptions: ['note://one'] }))
    await expect.poll(() => got.length).toBe(2)
    expect(got).toMatchObject([
      { params: { notifications: { toolsListChanged: true }, _meta: { [META]: 7 } } },
      {
        params: {
          notifications: { resourceSubscriptions: ['note://one'] },
          _meta: { [META]: '7' },
        },
      },
    ])
    expect(got[0]?.params).not.toHaveProperty('notifications.foo')
    server.tool('late', {}, () => 'x')
    server.notify.promptsListChanged()
    server.notify.resourceUpdated('note://bytes')
    server.notify.resourceUpdated('note://one')
    server.notify.resourceUpdated('note://one/below')
    await expect.poll(() => got.length).toBe(5)
    expect(got.slice(2).map(({ method, params }) => [method, params])).toEqual([
      ['notifications/tools/list_changed', { _meta: { [META]: 7 } }],
      ['notifications/resources/updated', { uri: 'note://one', _meta: { [META]: '7' } }],
      ['notifications/resources/updated', { uri: 'note://one/below', _meta: { [META]: '7' } }],
    ])
  })

  it('receive nothing more once they are cancelled, and hold no resources [M-SUB-028] [M-SUB-030]', async () => {
    const { server } = makeServer()
    const { send, got, answer } = await peer(server)
    await send(listen(1, { toolsListChanged: true }))
    await expect.poll(() => got.length).toBe(1)
    await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await send({ ...modernRequest('server/discover'), id: 2 })
    await answer(2).toBeDefined()
    server.tool('late', {}, () => 'x')
    await send({ ...modernRequest('server/discover'), id: 3 })
    await answer(3).toBeDefined()
    expect(got.map(({ id, method }) => method ?? id)).toEqual([
      'notifications/subscriptions/acknowledged',
      2,
      3,
    ])
  })

  it('end gracefully with the host: cancelled, then the closing result [M-SUB-031] [M-SUB-032] [M-SUB-034]', async () => {
    const ending = new AbortController()
    const { send, got, served } = await peer(makeServer().server, { signal: ending.signal })
    await send(listen('x', { toolsListChanged: true }))
    await expect.poll(() => got.length).toBe(1)
    ending.abort()
    await served
    expect(got.slice(1)).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: 'x' } },
      { id: 'x', result: { resultType: 'complete', _meta: { [META]: 'x' } } },
    ])
  })

  it.each([
    [undefined, -32602],
    [{ resourceSubscriptions: [1] }, -32602],
    [{ resourceSubscriptions: Array.from({ length: 1001 }, () => 'a://b') }, -32602],
  ])(
    'with a malformed filter are refused before any acknowledgement [M-SUB-047]',
    async (notifications, code) => {
      const { send, answer, got } = await peer()
      await send({ ...modernRequest('subscriptions/listen', { notifications }), id: 1 })
      await answer(1).toMatchObject({ error: { code } })
      expect(got).toHaveLength(1)
    },
  )

  it('are rejected by a server without notifications [M-SUB-013]', async () => {
    const { send, answer } = await peer(createServer({ name: 's', version: '1' }))
    await send(listen(1, {}))
    await answer(1).toMatchObject({ error: { code: -32601 } })
  })
})
