/** Public reports of streams of changes that went wrong, replayed. */
import { describe, expect, it } from 'vitest'
import { META_SUBSCRIPTION_ID } from '../../src/protocol/meta.ts'
import type { JsonObject } from '../../src/index.ts'
import { createServer, type Server } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { connectTo, discovered, duplexPeer, refuse, reply } from '../client/peers.ts'
import { makeServer } from '../server/fixture.ts'
import { modernRequest, postModern } from '../transport/streamable-http/post.ts'
import { rawPeer } from './raw-peer.ts'

const listen = (id: number, notifications: object): JsonObject => ({
  ...modernRequest('subscriptions/listen', { notifications }),
  id,
})
const idOf = ({ params, result }: JsonObject): unknown =>
  ((params ?? result) as { _meta?: JsonObject } | undefined)?._meta?.[META_SUBSCRIPTION_ID]

describe('a stream of changes', () => {
  it('of a server that offers nothing is refused, with 404 over HTTP [B097]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const params = { notifications: { toolsListChanged: true } }
    const response = await postModern(sessionHandler(server), 'subscriptions/listen', params)
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { error: { code: -32601 } },
    ])
  })

  it('sends the acknowledgement first, then only what was requested, with its own id [B097]', async () => {
    const { server } = makeServer()
    await using peer = await rawPeer(server)
    const acknowledged = 'notifications/subscriptions/acknowledged'
    await peer.send(listen(1, { toolsListChanged: true }))
    await peer.send(listen(2, { promptsListChanged: true, unknown: true }))
    await peer.until((message) => message.method === acknowledged && idOf(message) === 2)
    change(server, 'a')
    await peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await peer.send({ ...modernRequest('server/discover'), id: 3 })
    await peer.until(({ id }) => id === 3)
    change(server, 'b')
    await peer.send({ ...modernRequest('server/discover'), id: 4 })
    await peer.until(({ id }) => id === 4)
    expect(peer.got.map((message) => [message.method ?? message.id, idOf(message)])).toEqual([
      [acknowledged, 1],
      [acknowledged, 2],
      ['notifications/tools/list_changed', 1],
      ['notifications/prompts/list_changed', 2],
      [3, undefined],
      ['notifications/prompts/list_changed', 2],
      [4, undefined],
    ])
    const filters = peer.got.flatMap(({ method, params }) =>
      method === acknowledged ? [(params as JsonObject).notifications] : [],
    )
    expect(filters).toEqual([{ toolsListChanged: true }, { promptsListChanged: true }])
  })

  function change(server: Server, name: string): void {
    server.tool(name, {}, () => 'x')
    server.prompt(name, {}, () => 'x')
  }

  it('that was rejected, or never acknowledged, is an error for the client [B097]', async () => {
    const refusing = duplexPeer((message) =>
      message.method === 'server/discover' ? reply(message, discovered()) : refuse(message, -32601),
    )
    await using client = await connectTo(refusing)
    const refused = client.listen({ toolsListChanged: true })
    await expect(refused).rejects.toMatchObject({ code: 'UNSUPPORTED' })
    const silent = duplexPeer((message) =>
      message.method === 'server/discover' ? reply(message, discovered()) : undefined,
    )
    await using other = await connectTo(silent)
    const waiting = other.listen({ toolsListChanged: true }, { timeoutMs: 20 })
    await expect(waiting).rejects.toMatchObject({ code: 'TIMEOUT' })
  })

  it.each(['cancelled', 'a result'])(
    'may be ended by the server with %s alone [B097]',
    async (how) => {
      const peer = duplexPeer((message) => {
        if (message.method === 'server/discover') return reply(message, discovered())
        if (message.method !== 'subscriptions/listen') return undefined
        const _meta = { [META_SUBSCRIPTION_ID]: message.id }
        const params = { notifications: {}, _meta }
        peer.send({
          jsonrpc: '2.0',
          method: 'notifications/subscriptions/acknowledged',
          params,
        })
        return how === 'cancelled'
          ? {
              jsonrpc: '2.0',
              method: 'notifications/cancelled',
              params: { requestId: message.id },
            }
          : reply(message, { resultType: 'complete', _meta })
      })
      await using client = await connectTo(peer)
      const feed = await client.listen({ toolsListChanged: true })
      const received: unknown[] = []
      for await (const message of feed) received.push(message)
      expect(received).toEqual([])
    },
  )
})
