import { describe, expect, it } from 'vitest'
import { clientObserver, connect, retry, SdkError } from '../../src/presets/client.ts'
import {
  clientObserver as tinyObserver,
  connect as connectTiny,
} from '../../src/presets/client-tiny.ts'
import { createHandler, createServer, statefulSessions, text } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { recordOperations } from '../observing.ts'

const url = 'https://mcp.example.com/mcp'

describe('The observer of a client', () => {
  it('observes a tiny client too', async () => {
    const { observer, ended } = recordOperations()
    const server = createServer({ name: 's', version: '1' })
    server.tool('hi', {}, () => text('hi'))
    const handle = createHandler(server)
    await using client = await connectTiny(url, {
      observe: tinyObserver(observer),
      fetch: (input, init) => handle(new Request(input, init)),
    })
    await client.callTool('hi')
    const calls = [{ method: 'server/discover' }, { name: 'hi', outcome: 'complete' }]
    expect(ended).toMatchObject(calls)
  })

  it('receives requests with the server that they are sent to, and how they end', async () => {
    const { observer, begun, ended } = recordOperations()
    const server = createServer({ name: 's', version: '1' })
    server.tool('hi', {}, () => text('hi'))
    const handle = createHandler(server)
    await using client = await connect(url, {
      observe: clientObserver(observer),
      fetch: (input, init) => handle(new Request(input, init)),
    })
    await client.callTool('hi', { password: 'hunter2' })
    await client.callTool('none').catch(() => {})
    expect(ended).toMatchObject([
      { type: 'request', method: 'server/discover', outcome: 'complete' },
      {
        type: 'request',
        side: 'client',
        direction: 'sent',
        method: 'tools/call',
        name: 'hi',
        id: 2,
        url,
        http: true,
        revision: '2026-07-28',
        outcome: 'complete',
      },
      { name: 'none', outcome: 'error', error: { code: -32602 } },
    ])
    expect(begun).toHaveLength(3)
    expect(JSON.stringify(ended)).not.toContain('hunter2')
    expect(ended[1]?.params?.()).toMatchObject({ arguments: { password: 'hunter2' } })
  })

  it('receives one operation for a request that is sent again, and the number of attempts', async () => {
    const { observer, ended } = recordOperations()
    const server = createServer({ name: 's', version: '1' })
    server.tool('hi', {}, () => text('hi'))
    const [first, second] = [1, 2].map(() => {
      return createHandler(server, { sessions: statefulSessions() })
    })
    let handle = first!
    await using client = await connect(url, {
      revision: '2025-11-25',
      observe: clientObserver(observer),
      fetch: (input, init) => handle(new Request(input, init)),
    })
    // The server restarts, and no longer knows the session
    handle = second!
    await client.callTool('hi')
    const calls = ended.filter(({ method }) => method === 'tools/call')
    expect(calls).toMatchObject([{ outcome: 'complete', attempts: 2 }])
    const sessions = ended.filter(({ type }) => type === 'session')
    expect(sessions).toMatchObject([{ revision: '2025-11-25', outcome: 'complete' }])
    await client.close()
    expect(ended.filter(({ type }) => type === 'session')).toHaveLength(2)
  })

  it.each([
    [2, { outcome: 'complete', attempts: 3 }],
    [3, { outcome: 'error', attempts: 3, error: { status: 503 } }],
  ])(
    'receives one operation for a request that `retry` repeats after %i failures',
    async (failures, end) => {
      const { observer, ended } = recordOperations()
      const server = createServer({ name: 's', version: '1' })
      server.prompt('greet', {}, () => 'Hello')
      const handle = createHandler(server)
      let left = 0
      await using client = await connect(url, {
        observe: clientObserver(observer),
        fetch: async (input, init) => {
          if (left-- > 0) return new Response(null, { status: 503 })
          return handle(new Request(input, init))
        },
      })
      client.use(retry({ firstDelayMs: 1 }))
      left = failures
      await client.getPrompt('greet').catch(() => {})
      expect(ended.filter(({ method }) => method === 'prompts/get')).toMatchObject([end])
      // The next request is another operation
      left = 0
      await client.getPrompt('greet')
      expect(ended.filter(({ method }) => method === 'prompts/get')).toHaveLength(2)
    },
  )

  it('receives each round of a request that `retry` may repeat', async () => {
    const { observer, ended } = recordOperations()
    const server = createServer({ name: 's', version: '1' })
    server.tool('ask', {}, async (_args, ctx) => JSON.stringify(await ctx.roots()))
    await using client = await connectInMemory(server, {
      revision: '2026-07-28',
      observe: clientObserver(observer),
      roots: [],
    })
    client.use(retry())
    await client.callTool('ask')
    const rounds = ended.filter(({ method }) => method === 'tools/call')
    expect(rounds).toMatchObject([{ outcome: 'input_required' }, { outcome: 'complete' }])
  })

  it('receives what the server sends, and what becomes of it', async () => {
    const { observer, ended } = recordOperations()
    const server = createServer({ name: 's', version: '1' })
    server.tool('ask', {}, async (_args, ctx) => {
      await ctx.progress(1)
      return JSON.stringify(await ctx.roots())
    })
    const client = await connectInMemory(server, {
      revision: '2025-06-18',
      observe: clientObserver(observer),
      roots: [{ uri: 'file:///a' }],
    })
    await client.callTool('ask', {}, { onProgress: () => {} })
    const received = ended.filter(({ direction }) => direction === 'received')
    expect(received).toMatchObject([
      { type: 'notification', method: 'notifications/progress', isKnown: true },
      { type: 'request', method: 'roots/list', outcome: 'complete', isKnown: true },
    ])
    expect(ended).toContainEqual(
      expect.objectContaining({ direction: 'sent', method: 'notifications/initialized' }),
    )
    await client.close()
  })

  it('receives no credentials of the URL, neither in `url` nor in the text of an error', async () => {
    const { observer, ended } = recordOperations()
    const secret = 'https://ada:hunter2@mcp.example.com/mcp?access_token=hunter2#hunter2'
    const connecting = connect(secret, {
      observe: clientObserver(observer),
      fetch: async (input) => {
        throw new TypeError(`Cannot fetch ${String(input)}`)
      },
    })
    await expect(connecting).rejects.toThrow('Cannot')
    expect(ended[0]).toMatchObject({ url, outcome: 'error' })
    expect(JSON.stringify(ended)).not.toContain('hunter2')
  })

  it('receives the handling of a challenge', async () => {
    const { observer, ended } = recordOperations()
    const handle = createHandler(createServer({ name: 's', version: '1' }))
    let token = ''
    await using client = await connect(url, {
      observe: clientObserver(observer),
      auth: {
        headers: () => ({ authorization: token }),
        onChallenge: () => Boolean((token = 'Bearer hunter2')),
      },
      fetch: async (input, init) => {
        const request = new Request(input, init)
        const isAllowed = request.headers.get('authorization') === 'Bearer hunter2'
        return isAllowed ? handle(request) : new Response(null, { status: 401 })
      },
    })
    expect(client.revision).toBe('2026-07-28')
    expect(ended).toMatchObject([
      { type: 'authorization', side: 'client', url, outcome: 'complete' },
      { type: 'request', method: 'server/discover', outcome: 'complete' },
    ])
    expect(JSON.stringify(ended)).not.toContain('hunter2')
  })

  it.each<[string, () => boolean, object]>([
    ['is not handled', () => false, { outcome: 'failed' }],
    [
      'the user rejects',
      () => {
        throw new SdkError('DENIED', 'Not now')
      },
      { outcome: 'failed', error: { code: 'DENIED' } },
    ],
    [
      'cannot be handled',
      () => {
        throw new SdkError('NETWORK', 'Unreachable')
      },
      { outcome: 'error', error: { code: 'NETWORK' } },
    ],
  ])('receives the outcome of a challenge that %s', async (_, challenged, end) => {
    const { observer, ended } = recordOperations()
    const connecting = connect(url, {
      observe: clientObserver(observer),
      auth: { headers: () => ({}), onChallenge: challenged },
      fetch: async () => new Response(null, { status: 401 }),
    })
    await expect(connecting).rejects.toThrow(SdkError)
    expect(ended.filter(({ type }) => type === 'authorization')).toMatchObject([end])
  })

  it('receives the error of a notification that the transport does not accept', async () => {
    const { observer, ended } = recordOperations()
    const peer = createServer({ name: 's', version: '1' })
    const client = await connectInMemory(peer, { observe: clientObserver(observer) })
    const notify = client.notify('com.example/note', { count: 1n })
    await expect(notify).rejects.toMatchObject({ code: 'INVALID_USE' })
    expect(ended.at(-1)).toMatchObject({
      type: 'notification',
      method: 'com.example/note',
      outcome: 'error',
      error: { code: 'INVALID_USE' },
    })
    await client.close()
  })

  it('receives timeouts and cancellations, which end each operation once', async () => {
    const { observer, begun, ended } = recordOperations()
    const server = createServer({ name: 's', version: '1' })
    server.tool('wait', {}, (_args, { signal }) => {
      return new Promise<string>((resolve) =>
        signal.addEventListener('abort', () => resolve('stopped')),
      )
    })
    const client = await connectInMemory(server, { observe: clientObserver(observer) })
    await expect(client.callTool('wait', {}, { timeoutMs: 1 })).rejects.toThrow(SdkError)
    const controller = new AbortController()
    const call = client.callTool('wait', {}, { signal: controller.signal })
    controller.abort()
    await expect(call).rejects.toThrow(SdkError)
    const calls = ended.filter(({ method }) => method === 'tools/call')
    expect(calls).toMatchObject([
      { outcome: 'error', error: { code: 'TIMEOUT' } },
      { outcome: 'cancelled', error: { code: 'ABORTED' } },
    ])
    await client.close()
    expect(ended).toHaveLength(begun.length)
  })
})
