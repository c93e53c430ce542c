// The capabilities and changes that a gateway passes on between both sides.
import { describe, expect, it } from 'vitest'
import { connect, type ConnectOptions } from '../../src/presets/client.ts'
import type { JsonObject, Revision } from '../../src/index.ts'
import {
  createGateway,
  createServer,
  text,
  fromClient,
  uriTemplate,
} from '../../src/presets/server.ts'
import { connectInMemory, scriptedPeer } from '../../src/testing/index.ts'
import { closing } from '../closing.ts'

const BOTH = ['2025-11-25', '2026-07-28'] as const

/** A server with sessions that offers nothing at first. */
function emptyAtFirst() {
  const names: string[] = []
  const peer = scriptedPeer(({ id, method }) => {
    if (id === undefined) return undefined
    const results: Record<string, JsonObject> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: {
          tools: { listChanged: true },
          resources: { listChanged: true },
          completions: {},
          experimental: { 'com.example/search': { depth: 2 } },
        },
        serverInfo: { name: 'empty', version: '1' },
      },
      'tools/list': { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) },
      'resources/list': { resources: [] },
      'resources/templates/list': { resourceTemplates: [] },
      'tools/call': { content: [text('called')] },
    }
    const result = results[method ?? '']
    if (result) return { jsonrpc: '2.0', id, result }
    return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
  })
  const add = (...added: string[]): void => {
    names.push(...added)
    peer.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  }
  return { peer, add }
}

describe('a server behind a gateway whose lists are long', () => {
  /** Pages of one tool each, with a description of so many characters. */
  function paged() {
    const state = { pages: 3, length: 100 }
    const peer = scriptedPeer(({ id, method, params }) => {
      if (id === undefined) return undefined
      if (method === 'initialize') {
        const capabilities = { tools: { listChanged: true } }
        const serverInfo = { name: 'paged', version: '1' }
        const protocolVersion = '2025-11-25'
        return { jsonrpc: '2.0', id, result: { protocolVersion, capabilities, serverInfo } }
      }
      if (method !== 'tools/list') {
        return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
      }
      const page = Number((params as JsonObject | undefined)?.cursor ?? 0)
      const description = 'x'.repeat(state.length)
      const tools = [{ name: `tool${page}`, description, inputSchema: { type: 'object' } }]
      const nextCursor = page + 1 < state.pages ? `${page + 1}` : undefined
      return { jsonrpc: '2.0', id, result: { tools, nextCursor } }
    })
    const open = (options: ConnectOptions) =>
      connect(peer.transport, { ...options, maxListLength: 1_000 })
    return { state, peer, open }
  }

  it('is refused when a list is longer than the connection allows, however its pages are cut [S013]', async () => {
    const { state, peer, open } = paged()
    state.pages = Infinity
    await expect(createGateway(open)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect(peer.received('tools/list').length).toBeLessThan(10)
  })

  it('keeps its last list when a list has grown too long, and reports why to its owner [S013]', async () => {
    const { state, peer, open } = paged()
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const { server } = closing(await createGateway(open, { onError }))
    state.pages = 30
    peer.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    await expect.poll(() => errors).toMatchObject([{ code: 'LIMIT_EXCEEDED' }])
    const client = closing(await connectInMemory(server))
    expect((await client.listAllTools()).map(({ name }) => name)).toEqual([
      'tool0',
      'tool1',
      'tool2',
    ])
  })
})

describe.each(BOTH)('a client of %s', (revision) => {
  it('is offered the capabilities of the server behind a gateway though its lists are empty [I004]', async () => {
    const behind = emptyAtFirst()
    const { server } = closing(await createGateway((o) => connect(behind.peer.transport, o)))
    let changes = 0
    const client = closing(
      await connectInMemory(server, { revision, onToolsChanged: () => changes++ }),
    )
    expect(client.serverCapabilities).toMatchObject({
      tools: { listChanged: true },
      resources: { subscribe: false, listChanged: true },
      completions: {},
      experimental: { 'com.example/search': { depth: 2 } },
    })
    expect(client.serverCapabilities?.prompts).toBeUndefined()
    expect(await client.listAllTools()).toEqual([])
    await client.ping()
    behind.add('one')
    await expect.poll(() => changes).toBe(1)
    expect(await client.callTool('one')).toMatchObject({ content: [text('called')] })
  })

  it('of a server that something empty is mounted in is offered its lists too [I004]', async () => {
    const behind = emptyAtFirst()
    const outer = createServer({ name: 'outer', version: '1' })
    expect((await connectInMemory(outer, { revision })).serverCapabilities).toEqual({})
    closing({
      close: () => mounted.unmount(),
    })
    const mounted = await outer.mount(
      'in',
      fromClient((o) => connect(behind.peer.transport, o)),
    )
    const client = closing(await connectInMemory(outer, { revision }))
    expect(client.serverCapabilities?.tools).toEqual({ listChanged: true })
  })

  it.each(BOTH)(
    'is notified once of several tools of a server of %s that announces them once [I010]',
    async (upstream: Revision) => {
      const behind = emptyAtFirst()
      const inner = createServer({ name: 'inner', version: '1' })
      inner.tool('first', {}, () => 'first')
      inner.resource('test://a', { name: 'a' }, () => 'a')
      const announced = upstream === '2025-11-25' ? behind.peer.transport : undefined
      const open = (options: ConnectOptions) =>
        announced
          ? connect(announced, options)
          : connectInMemory(inner, { ...options, revision: upstream })
      const { server } = closing(await createGateway(open))
      const received: string[] = []
      const client = closing(
        await connectInMemory(server, {
          revision,
          onToolsChanged: () => received.push('tools'),
          onResourcesChanged: () => received.push('resources'),
        }),
      )
      await client.ping()
      const names = Array.from({ length: 20 }, (_, n) => `tool${n}`)
      if (announced) behind.add(...names)
      else {
        inner.notify.batch(() => {
          for (const name of names) inner.tool(name, {}, () => name)
          inner.resource('test://b', { name: 'b' }, () => 'b')
          inner.resourceTemplate(uriTemplate('test://c/{d}'), { name: 'c' }, () => 'c')
        })
        await expect.poll(() => received).toContain('resources')
      }
      await expect.poll(async () => (await client.listAllTools()).length).toBeGreaterThan(19)
      await client.ping()
      expect(received.filter((list) => list === 'tools')).toHaveLength(1)
      expect(received.filter((list) => list === 'resources')).toHaveLength(announced ? 0 : 1)
    },
  )

  it.each(BOTH)(
    'lets its model use tools for a server of %s behind a gateway [I003]',
    async (upstream: Revision) => {
      const inner = createServer({ name: 'inner', version: '1' })
      inner.tool('ask', {}, async (_args, ctx) => {
        const answer = await ctx.sample({
          messages: [{ role: 'user', content: text('Weather?') }],
          maxTokens: 10,
          tools: [{ name: 'weather', inputSchema: { type: 'object' } }],
          includeContext: 'thisServer',
        })
        return answer.model
      })
      const { server } = closing(
        await createGateway((options) =>
          connectInMemory(inner, { ...options, revision: upstream }),
        ),
      )
      const asked: unknown[] = []
      const client = closing(
        await connectInMemory(server, {
          revision,
          capabilities: { sampling: { tools: {}, context: {} } },
          onSample: ({ tools, includeContext }) => {
            asked.push([tools?.map(({ name }) => name), includeContext])
            return {
              role: 'assistant',
              content: text('Sunny'),
              model: 'sun',
              stopReason: 'endTurn',
            }
          },
        }),
      )
      expect(await client.callTool('ask')).toMatchObject({ content: [text('sun')] })
      expect(asked).toEqual([[['weather'], 'thisServer']])
    },
  )
})

it.each(['2025-06-18', ...BOTH] as const)(
  'an upstream server of 2026-07-28 receives the capabilities of the client of %s with each call [I003]',
  async (revision) => {
    const inner = createServer({ name: 'inner', version: '1' })
    inner.tool('facts', {}, (_args, { client }) => {
      const { elicitation, sampling, roots } = client.capabilities
      return JSON.stringify([elicitation, sampling, roots].map((one) => one !== undefined))
    })
    inner.tool('form', {}, async (_args, ctx) => {
      const properties = { name: { type: 'string' } } as const
      const schema = { type: 'object', properties } as const
      return (await ctx.elicit({ message: 'Who?', schema })).action
    })
    const { server } = closing(
      await createGateway((options) =>
        connectInMemory(inner, { ...options, revision: '2026-07-28' }),
      ),
    )
    const onElicit = () => ({ action: 'decline' as const })
    const able = closing(await connectInMemory(server, { revision, onElicit }))
    const unable = closing(await connectInMemory(server, { revision, roots: [] }))
    expect(await able.callTool('facts')).toMatchObject({ content: [text('[true,false,false]')] })
    expect(await unable.callTool('facts')).toMatchObject({ content: [text('[false,false,true]')] })
    expect(await able.callTool('form')).toMatchObject({ content: [text('decline')] })
    await expect(unable.callTool('form')).rejects.toMatchObject({ code: -32021 })
  },
)
