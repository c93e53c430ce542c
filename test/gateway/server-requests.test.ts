// Requests and notifications of an upstream server outside of calls.
import { describe, expect, it, vi } from 'vitest'
import {
  clientObserver,
  connect,
  type Client,
  type ConnectOptions,
} from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/index.ts'
import {
  createGateway,
  createServer,
  serverObserver,
  type Server,
} from '../../src/presets/server.ts'
import { connectInMemory, scriptedPeer } from '../../src/testing/index.ts'
import { closing } from '../closing.ts'
import { sessionHandler } from '../handler.ts'
import { recordOperations } from '../observing.ts'

type InMemoryOptions = NonNullable<Parameters<typeof connectInMemory>[1]>

/** A server that asks for roots as soon as it is started, and whenever they changed. */
function rooted() {
  const answers: unknown[] = []
  const asked = new Set<unknown>()
  let lastId = 1000
  const ask = (method = 'roots/list', params?: JsonObject): void => {
    asked.add(++lastId)
    peer.send({ jsonrpc: '2.0', id: lastId, method, ...(params && { params }) })
  }
  const peer = scriptedPeer((message) => {
    const { id, method } = message
    if (method === undefined && asked.delete(id)) {
      const { result, error } = message as { result?: JsonObject; error?: { code: number } }
      answers.push(result?.roots ?? result?.action ?? error?.code)
    } else if (method === 'initialize') {
      const capabilities = { tools: {}, logging: {} }
      const serverInfo = { name: 'rooted', version: '1' }
      return {
        jsonrpc: '2.0',
        id,
        result: { protocolVersion: '2025-11-25', capabilities, serverInfo },
      }
    } else if (method === 'tools/list') {
      const tools = [{ name: 'act', inputSchema: { type: 'object' } }]
      return { jsonrpc: '2.0', id, result: { tools } }
    } else if (method === 'tools/call') {
      return { jsonrpc: '2.0', id, result: { content: [] } }
    } else if (/initialized|roots/.test(method ?? '')) ask()
    else if (id !== undefined) {
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
    }
    return undefined
  })
  const log = (data: string): void => {
    const params = { level: 'error', data }
    peer.send({ jsonrpc: '2.0', method: 'notifications/message', params })
  }
  const elicit = (): void =>
    ask('elicitation/create', {
      message: 'Sure?',
      requestedSchema: { type: 'object', properties: {} },
    })
  return { peer, answers, log, elicit }
}

async function gatewayTo({ peer }: ReturnType<typeof rooted>): Promise<Server> {
  const open = (options: ConnectOptions): Promise<Client> =>
    connect(peer.transport, { ...options, revision: '2025-11-25' })
  return closing(await createGateway(open, { onError: () => {} })).server
}

/** A client with its roots and the messages that it received. */
function having(name: string) {
  const logs: unknown[] = []
  const places = [{ uri: `file:///${name}` }]
  const asked: string[] = []
  const options: ConnectOptions = {
    revision: '2025-11-25',
    roots: () => [...places],
    onLog: ({ data }) => logs.push(data),
    onElicit: ({ message }) => {
      asked.push(message)
      return { action: 'accept', content: {} }
    },
  }
  return { logs, places, asked, options }
}

async function joined(server: Server, name: string, more: InMemoryOptions = {}) {
  const has = having(name)
  const client = closing(await connectInMemory(server, { ...has.options, ...more }))
  return { ...has, client }
}

describe('requests of an upstream server outside of calls', () => {
  it('wait for the first client, and are answered by it while it is the only one [I005]', async () => {
    const behind = rooted()
    const server = await gatewayTo(behind)
    expect(behind.answers).toEqual([])
    const { client, places, asked } = await joined(server, 'one')
    await expect.poll(() => behind.answers).toEqual([[{ uri: 'file:///one' }]])
    places.push({ uri: 'file:///more' })
    await client.rootsChanged()
    await expect.poll(() => behind.answers[1]).toEqual(places)
    behind.elicit()
    await expect.poll(() => behind.answers[2]).toBe('accept')
    expect(asked).toEqual(['Sure?'])
  })

  it('are rejected while there are several clients, and answered again once only one is left [I005]', async () => {
    const behind = rooted()
    const server = await gatewayTo(behind)
    const one = await joined(server, 'one')
    await expect.poll(() => behind.answers.length).toBe(1)
    const two = await joined(server, 'two')
    await two.client.ping()
    behind.elicit()
    await expect.poll(() => behind.answers[1]).toBe('cancel')
    await one.client.rootsChanged()
    await one.client.ping()
    expect(behind.peer.received('notifications/roots/list_changed')).toEqual([])
    expect([one.asked, two.asked]).toEqual([[], []])
    await two.client.close()
    await vi.waitFor(async () => {
      await one.client.rootsChanged()
      expect(behind.answers[2]).toEqual([{ uri: 'file:///one' }])
    })
  })

  it('are for the clients of the principal on whose connection they came [I005] [S004]', async () => {
    const behind: ReturnType<typeof rooted>[] = []
    const gateway = await createGateway(
      (options) => {
        const one = rooted()
        behind.push(one)
        return connect(one.peer.transport, { ...options, revision: '2025-11-25' })
      },
      { onError: () => {} },
    )
    const { server } = closing(gateway)
    const users = ['ada', 'bob']
    const joins = users.map((principal) => joined(server, principal, { principal }))
    const clients = await Promise.all(joins)
    // The first call opens the connection
    for (const { client } of clients) await client.callTool('act')
    for (const [n, name] of users.entries()) {
      await expect.poll(() => behind[n + 1]?.answers).toEqual([[{ uri: `file:///${name}` }]])
      behind[n + 1]?.log(`of ${name}`)
      await expect.poll(() => clients[n]?.logs).toEqual([`of ${name}`])
      await clients[n]?.client.rootsChanged()
      await expect.poll(() => behind[n + 1]?.answers.length).toBe(2)
    }
    expect(behind).toHaveLength(3)
    expect(behind[0]?.answers).toEqual([-32601])
  })

  it('reach the client on its listening stream over HTTP [I005]', async () => {
    const behind = rooted()
    const handler = closing(sessionHandler(await gatewayTo(behind)))
    const has = having('web')
    const client = await connect('http://front.example/mcp', {
      ...has.options,
      fetch: (url, init) => handler(new Request(url, init)),
    })
    closing(client)
    await expect.poll(() => behind.answers).toEqual([[{ uri: 'file:///web' }]])
    await client.rootsChanged()
    await expect.poll(() => behind.answers.length).toBe(2)
    behind.log('over HTTP')
    await expect.poll(() => has.logs).toEqual(['over HTTP'])
  })
})

describe('log messages of an upstream server outside of calls', () => {
  it('reach the only client, in the levels that it wants, and none of several [I007]', async () => {
    const behind = rooted()
    const server = await gatewayTo(behind)
    const one = await joined(server, 'one')
    await expect.poll(() => behind.answers.length).toBe(1)
    behind.log('for one')
    await expect.poll(() => one.logs).toEqual(['for one'])
    await one.client.setLogLevel('emergency')
    behind.log('unwanted')
    // A later request arrives after it
    behind.elicit()
    await expect.poll(() => behind.answers[1]).toBe('accept')
    await one.client.setLogLevel('info')
    const two = await joined(server, 'two')
    await two.client.ping()
    behind.log('for no client')
    behind.elicit()
    await expect.poll(() => behind.answers[2]).toBe('cancel')
    await two.client.close()
    await vi.waitFor(() => {
      behind.log('again')
      expect(one.logs).toContain('again')
    })
    expect(two.logs).toEqual([])
    expect(one.logs.filter((data) => data !== 'again')).toEqual(['for one'])
  })
})

it('a question of a server with sessions is no internal error while the user answers it', async () => {
  const { observer, ended } = recordOperations()
  const observe = serverObserver(observer)
  const upstream = createServer({ name: 'up', version: '1' }, { observe, onError: () => {} })
  upstream.tool('ask', {}, async (_args, ctx) => {
    const schema = { type: 'object', properties: {} } as const
    return (await ctx.elicit({ message: 'Sure?', schema })).action
  })
  const open = (options: ConnectOptions): Promise<Client> => {
    const observed = { ...options, observe: clientObserver(observer) }
    return connectInMemory(upstream, { ...observed, revision: '2025-11-25' })
  }
  const gateway = closing(await createGateway(open, { observe }))
  const client = closing(
    await connectInMemory(gateway.server, {
      revision: '2026-07-28',
      onElicit: () => ({ action: 'accept', content: {} }),
    }),
  )
  expect(await client.callTool('ask')).toMatchObject({ content: [{ text: 'accept' }] })
  const codes = ended.map(({ error }) => error?.code)
  expect(codes).toContain(499)
  expect(codes).not.toContain(-32603)
})
