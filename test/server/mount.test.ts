import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import type { ScriptedPeer } from '../../src/testing/scripted-peer.ts'
import type { Mount } from '../../src/server/composition/mount.ts'
import { ProtocolError, revisions, type JsonObject, type Revision } from '../../src/index.ts'
import {
  createGateway,
  createServer,
  text,
  UrlElicitationRequired,
  type Server,
  fromClient,
  fromServer,
} from '../../src/presets/server.ts'
import { connectInMemory, inMemoryTransports, scriptedPeer } from '../../src/testing/index.ts'
import { connect, type Client, type ConnectOptions } from '../../src/presets/client.ts'
import { makeServer } from './fixture.ts'
import { closing } from '../closing.ts'
import { settled } from '../settled.ts'
import { until } from '../client/peers.ts'

const VERSIONS = revisions.map(({ version }) => version)
const ASKING = VERSIONS.filter((version) => version >= '2025-06-18')

async function connected(server: Server, options: ConnectOptions = {}): Promise<Client> {
  return closing(await connectInMemory(server, options))
}

describe('a mounted server', () => {
  it('is part of the other: tools and prompts under the prefix, resources as they are', async () => {
    const { server: inner } = makeServer()
    const outer = createServer({ name: 'outer', version: '1' })
    outer.tool('own', {}, () => text('own'))
    outer.mount('in', fromServer(inner))
    const client = await connected(outer)
    const names = (await client.listAllTools()).map(({ name }) => name)
    expect(names).toEqual(['own', 'in_add', 'in_fail', 'in_chat', 'in_confirm', 'in_wait'])
    expect(await client.callTool('in_add', { a: 1, b: 2 })).toMatchObject({
      structuredContent: { sum: 3 },
    })
    expect(await client.callTool('in_add', { a: 'x' })).toMatchObject({ isError: true })
    expect(await client.readResource('user://7/profile')).toMatchObject({
      contents: [{ text: 'Profile of 7' }],
    })
    expect(await client.getPrompt('in_greet', { who: 'Ada' })).toMatchObject({
      messages: [{ content: { text: 'Hello, Ada!' } }],
    })
    await expect(client.getPrompt('in_greet', {})).rejects.toMatchObject({ code: -32602 })
    await expect(client.callTool('add', {})).rejects.toMatchObject({ code: -32602 })
  })

  it('keeps its middleware and its visibility', async () => {
    const inner = createServer({ name: 'inner', version: '1' })
    inner.tool('open', {}, () => text('open'))
    inner.tool('hidden', { visible: ({ principal }) => principal === 'ada' }, () => text('x'))
    inner.use('tools/call', async ({ params }, _ctx, next) => {
      if (params.name === 'open') throw new ProtocolError(-32602, 'Closed today')
      return next()
    })
    const outer = createServer({ name: 'outer', version: '1' })
    outer.mount('in', fromServer(inner))
    const client = await connected(outer)
    expect((await client.listAllTools()).map(({ name }) => name)).toEqual(['in_open'])
    await expect(client.callTool('in_open')).rejects.toMatchObject({ message: 'Closed today' })
  })

  it('is followed when it changes, and taken away whole', async () => {
    const { server: inner } = makeServer()
    const outer = createServer({ name: 'outer', version: '1' })
    const mounted = outer.mount('in', fromServer(inner))
    let changes = 0
    const client = await connected(outer, { onToolsChanged: () => changes++ })
    // Comes after the request to listen, and so is answered after it
    await client.ping()
    const late = inner.tool('late', {}, () => text('late'))
    await expect.poll(() => changes).toBe(1)
    expect(await client.callTool('in_late')).toMatchObject({ content: [{ text: 'late' }] })
    late.remove()
    await expect.poll(() => changes).toBe(2)
    expect((await client.listAllTools()).map(({ name }) => name)).not.toContain('in_late')
    await mounted.unmount()
    expect(await client.listAllTools()).toEqual([])
  })

  it('whose names are taken leaves nothing behind', async () => {
    const inner = createServer({ name: 'inner', version: '1' })
    inner.tool('act', {}, () => text('inner'))
    inner.prompt('say', {}, () => 'inner')
    inner.resource('test://a', { name: 'a' }, () => 'inner')
    const outer = createServer({ name: 'outer', version: '1' })
    outer.resource('test://a', { name: 'a' }, () => 'outer')
    expect(() => outer.mount('in', fromServer(inner))).toThrow('"test://a" exists already')
    const connect = (options: ConnectOptions) => connectInMemory(inner, options)
    await expect(outer.mount('in', fromClient(connect))).rejects.toThrow(
      '"test://a" exists already',
    )
    const { serverCapabilities } = await connected(outer)
    expect(Object.keys(serverCapabilities ?? {})).toEqual(['resources'])
    outer.tool('own', {}, () => text('outer'))
    const client = await connected(outer)
    expect((await client.listAllTools()).map(({ name }) => name)).toEqual(['own'])
  })

  it('whose later names are taken is followed otherwise, by all that it is part of', async () => {
    const errors: unknown[] = []
    const inner = createServer({ name: 'inner', version: '1' })
    inner.tool('act', {}, () => text('inner'))
    const onError = (error: unknown) => errors.push(error)
    const outer = createServer({ name: 'outer', version: '1' }, { onError })
    const other = createServer({ name: 'other', version: '1' })
    outer.mount('in', fromServer(inner))
    other.mount('in', fromServer(inner))
    outer.tool('in_new', {}, () => text('outer'))
    inner.tool('new', {}, () => text('inner'))
    inner.tool('newer', {}, () => text('inner'))
    const names = async (server: Server) => {
      return (await (await connected(server)).listAllTools()).map(({ name }) => name)
    }
    expect(await names(outer)).toEqual(['in_act', 'in_new', 'in_newer'])
    expect(await names(other)).toEqual(['in_act', 'in_new', 'in_newer'])
    const called = await (await connected(outer)).callTool('in_new')
    expect(called.content).toEqual([text('outer')])
    expect(String(errors[0])).toContain('"in_new" exists already')
  })

  it('cannot be mounted in itself', () => {
    const [one, two, three] = ['one', 'two', 'three'].map((name) => {
      const server = createServer({ name, version: '1' })
      server.tool('act', {}, () => text(name))
      return server
    }) as [Server, Server, Server]
    expect(() => one.mount('one', fromServer(one))).toThrow('A server cannot be mounted in itself')
    one.mount('two', fromServer(two))
    const inner = two.mount('three', fromServer(three))
    expect(() => three.mount('one', fromServer(one))).toThrow(
      'A server cannot be mounted in itself',
    )
    void inner.unmount()
    three.mount('one', fromServer(one))
    three.tool('new', {}, () => text('three'))
  })

  it('is followed when it changes the description of a tool, or a resource', async () => {
    const inner = createServer({ name: 'inner', version: '1' })
    const tool = inner.tool('act', { description: 'Before' }, () => text('before'))
    inner.resource('test://a', { name: 'a' }, () => 'a')
    const outer = createServer({ name: 'outer', version: '1' })
    outer.mount('in', fromServer(inner))
    const updated: string[] = []
    const client = await connected(outer, { onResourceUpdated: (uri) => updated.push(uri) })
    await client.subscribe('test://a')
    // Comes after the request to listen, and so is answered after it
    await client.ping()
    tool.update({ description: 'After' }, () => text('after'))
    inner.notify.resourceUpdated('test://a')

    await expect.poll(() => updated).toEqual(['test://a'])
    expect(await client.listAllTools()).toMatchObject([{ name: 'in_act', description: 'After' }])
    expect(await client.callTool('in_act')).toMatchObject({ content: [{ text: 'after' }] })
  })

  it('is followed when only unlisted properties change', async () => {
    const inner = createServer({ name: 'inner', version: '1' })
    const input = z.object({ city: z.string() })
    const prompt = inner.prompt('go', { input, complete: { city: () => ['Oslo'] } }, () => 'go')
    const outer = createServer({ name: 'outer', version: '1' })
    outer.mount('in', fromServer(inner))
    const client = await connected(outer)
    const complete = async () => {
      const ref = { type: 'ref/prompt', name: 'in_go' } as const
      return (await client.complete(ref, { name: 'city', value: '' })).values
    }
    expect(await complete()).toEqual(['Oslo'])
    prompt.update({ input, complete: { city: () => ['Rome'] } }, () => 'go')
    expect(await complete()).toEqual(['Rome'])
  })

  it('whose names are taken is refused', () => {
    const { server: inner } = makeServer()
    const outer = createServer({ name: 'outer', version: '1' })
    outer.tool('in_add', {}, () => text('mine'))
    expect(() => outer.mount('in', fromServer(inner))).toThrow(/"in_add" exists already/)
  })
})

describe.each(ASKING)('a gateway to a server of %s', (upstream: Revision) => {
  async function gateway() {
    const made = makeServer()
    const outer = createServer({ name: 'outer', version: '1' })
    const mounted = await outer.mount(
      'in',
      fromClient((options) => connectInMemory(made.server, { ...options, revision: upstream })),
    )
    closing({ close: () => mounted.unmount() })
    return { ...made, outer }
  }

  it('passes results, errors, progress and logs', async () => {
    const { outer } = await gateway()
    const progress: unknown[] = []
    const logs: unknown[] = []
    const client = await connected(outer, { onLog: (message) => logs.push(message) })
    expect(await client.callTool('in_add', { a: 1, b: 2 })).toMatchObject({
      structuredContent: { sum: 3 },
    })
    expect(await client.callTool('in_fail', { how: 'ToolError' })).toMatchObject({
      isError: true,
      content: [{ text: 'Out of stock' }],
    })
    await client.callTool(
      'in_chat',
      {},
      {
        logLevel: 'info',
        onProgress: ({ progress: done }) => progress.push(done),
      },
    )
    expect(progress).toEqual([1, 2])
    expect(logs).toMatchObject([{ data: { note: 'halfway' } }])
    await expect(client.readResource('note://none')).rejects.toMatchObject({
      data: { uri: 'note://none' },
    })
    expect(await client.readResource('note://one')).toMatchObject({
      contents: [{ text: 'First note' }],
    })
  })

  it.each(ASKING)('passes questions to a client of %s, and the answers back', async (revision) => {
    const { outer } = await gateway()
    const client = await connected(outer, {
      revision,
      onElicit: ({ message }) => {
        expect(message).toBe('Buy tea for 42?')
        return { action: 'accept', content: { yes: true } }
      },
    })
    expect(await client.callTool('in_confirm', { what: 'tea' })).toMatchObject({
      content: [{ text: 'bought: true' }],
    })
  })

  it('passes cancellation, and follows changes', async () => {
    const { outer, ran, server } = await gateway()
    let changes = 0
    const client = await connected(outer, { onToolsChanged: () => changes++ })
    const controller = new AbortController()
    const call = client.callTool('in_wait', {}, { signal: controller.signal })
    await expect.poll(() => ran).toContain('wait')
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    await expect.poll(() => ran).toContain('aborted')
    server.tool('late', { input: z.object({}) }, () => text('late'))
    await expect.poll(() => changes).toBe(1)
    expect(await client.callTool('in_late')).toMatchObject({ content: [{ text: 'late' }] })
  })
  it.each(VERSIONS)(
    'forwards completions of the upstream server to a client of %s',
    async (revision) => {
      const { outer } = await gateway()
      const client = await connected(outer, { revision })
      const prompt = { type: 'ref/prompt', name: 'in_greet' } as const
      const greeted = await client.complete(prompt, { name: 'who', value: 'A' })
      expect(greeted.values).toHaveLength(100)
      expect(greeted.values[3]).toBe('A3')
      const template = { type: 'ref/resource', uri: 'user://{id}/profile' } as const
      expect(await client.complete(template, { name: 'id', value: '7' })).toMatchObject({
        values: ['71', '72'],
      })
    },
  )

  it.each(VERSIONS)(
    'forwards updates of the upstream server to subscribers of %s',
    async (revision) => {
      const { outer, server } = await gateway()
      const updated: string[] = []
      const client = await connected(outer, {
        revision,
        onResourceUpdated: (uri) => updated.push(uri),
      })
      await client.subscribe('note://one')
      server.notify.resourceUpdated('note://one')
      server.notify.resourceUpdated('note://bytes')
      await expect.poll(() => updated).toEqual(['note://one'])
    },
  )
})

describe('URLs behind a gateway', () => {
  const url = 'https://pay.example/'
  const legacy = {
    revision: '2025-11-25',
    capabilities: { elicitation: { url: {}, form: {} } },
  } as const

  /** A server that has users visit a page, and one in front of it. */
  async function payable() {
    const ids: string[] = []
    let paid = false
    const source = createServer({ name: 'shop', version: '1' })
    source.tool('ask', {}, async (_args, ctx) => {
      const { action, elicitationId } = await ctx.elicitUrl({ message: 'Pay', url })
      if (elicitationId !== undefined) ids.push(elicitationId)
      return action
    })
    source.tool('gated', {}, () => {
      if (paid) return 'welcome'
      paid = true
      throw new UrlElicitationRequired([{ mode: 'url', elicitationId: 'e', message: 'Pay', url }])
    })
    const server = createServer({ name: 'front', version: '1' })
    await server.mount(
      'shop',
      fromClient((options) => connected(source, { ...options, revision: '2025-11-25' })),
    )
    return { source, server, ids }
  }

  it('are requested under ids of its own, and their completion is notified by these [L-ELIC-025]', async () => {
    const { source, server, ids } = await payable()
    const asked: unknown[] = []
    const ended: unknown[] = []
    const client = await connected(server, {
      ...legacy,
      onElicit: (params) => {
        asked.push('elicitationId' in params && params.elicitationId)
        return { action: 'accept' }
      },
      onNotification: ({ params }) => ended.push(params?.elicitationId),
    })
    expect(await client.callTool('shop_ask')).toMatchObject({ content: [{ text: 'accept' }] })
    source.notify.elicitationComplete(ids[0] ?? '')
    await expect.poll(() => ended).toEqual(asked)
    expect(asked).not.toEqual(ids)
  })

  it('that are required first are reported as the revision defines [L-ELIC-030] [L-ELIC-031]', async () => {
    const { source, server } = await payable()
    const ended: unknown[] = []
    const client = await connected(server, {
      ...legacy,
      onElicit: () => ({ action: 'accept' }),
      onNotification: ({ params }) => ended.push(params?.elicitationId),
    })
    await expect(client.callTool('shop_gated')).rejects.toMatchObject({
      code: -32042,
      data: { elicitations: [{ elicitationId: 'e', url }] },
    })
    source.notify.elicitationComplete('e')
    await expect.poll(() => ended).toEqual(['e'])
    for (const revision of VERSIONS) {
      const { server: other } = await payable()
      const plain = await connected(other, { revision })
      const error: unknown = await plain.callTool('shop_gated').catch((e: unknown) => e)
      expect(error).toMatchObject({ code: revision === '2026-07-28' ? -32021 : -32603 })
    }
  })

  it('cannot be requested of clients that open none, and the upstream server gets the reason', async () => {
    const { server } = await payable()
    const client = await connected(server, { revision: '2024-11-05' })
    await expect(client.callTool('shop_ask')).rejects.toMatchObject({
      message: expect.stringContaining('does not support "elicitation/create"'),
    })
  })
})

describe('a gateway as a server of its own', () => {
  it('offers the same under the same names, with info and instructions', async () => {
    const { server: inner } = makeServer()
    const gateway = closing(await createGateway((options) => connectInMemory(inner, options)))
    const client = await connected(gateway.server)
    expect(client.serverInfo).toMatchObject({ name: 'fixture', version: '1.0.0' })
    expect(client.instructions).toBe('Use wisely')
    const direct = await connected(inner)
    expect(await client.listAllTools()).toEqual(await direct.listAllTools())
    expect(await client.listAllPrompts()).toEqual(await direct.listAllPrompts())
    expect(await client.listAllResources()).toEqual(await direct.listAllResources())
    expect(await client.listAllResourceTemplates()).toEqual(await direct.listAllResourceTemplates())
    expect(await client.callTool('add', { a: 1, b: 2 })).toMatchObject({
      structuredContent: { sum: 3 },
    })
  })

  it('leaves out a template that it cannot match, and says so', async () => {
    const [near, far] = inMemoryTransports()
    const templates = ['odd://{x:3}', 'fine://{x}'].map((uriTemplate) => ({
      name: uriTemplate,
      uriTemplate,
    }))
    const answers: Record<string, JsonObject> = {
      'server/discover': {
        supportedVersions: ['2026-07-28'],
        capabilities: { resources: {} },
        resultType: 'complete',
      },
      'resources/templates/list': { resourceTemplates: templates, resultType: 'complete' },
      'resources/list': { resources: [], resultType: 'complete' },
    }
    await far.start({
      message: (frame) => {
        const { id, method } = frame as { id: number; method: string }
        void far.send({ jsonrpc: '2.0', id, result: answers[method] ?? {} })
      },
      malformed: () => {},
      closed: () => {},
    })
    const errors: unknown[] = []
    const gateway = await createGateway((options) => connect(near, options), {
      onError: (error) => errors.push(error),
    })
    closing(gateway)
    const client = await connected(gateway.server)
    expect(await client.listAllResourceTemplates()).toMatchObject([{ uriTemplate: 'fine://{x}' }])
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('"odd://{x:3}"') }),
    ])
  })

  /** A server that has tools and no list of templates; it can be lost in the middle of a call. */
  function partial(tools: unknown): ScriptedPeer {
    const answers: Record<string, unknown> = {
      'server/discover': {
        supportedVersions: ['2026-07-28'],
        capabilities: { resources: {}, tools: {} },
      },
      'tools/list': tools,
      'resources/list': { resources: [{ uri: 'a:b', name: 'ab' }] },
    }
    return scriptedPeer(({ id, method = '' }) => {
      if (method === 'tools/call' || method === 'resources/read') return peer.close()
      const result = answers[method]
      if (result) return { jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } }
      return { jsonrpc: '2.0', id, error: { code: -32601, message: `Method not found: ${method}` } }
    })
  }
  let peer: ScriptedPeer

  it('offers what a server can list that does not have all methods of a capability', async () => {
    peer = partial({ tools: [] })
    const gateway = closing(await createGateway((options) => connect(peer.transport, options)))
    const client = await connected(gateway.server)
    expect(await client.listAllResources()).toMatchObject([{ uri: 'a:b' }])
    expect(await client.listAllResourceTemplates()).toEqual([])
    expect(peer.received('resources/templates/list')).toHaveLength(1)
  })

  it('that cannot be made leaves no connection behind', async () => {
    peer = partial({ tools: 'none' })
    const [near] = [peer.transport]
    let closed = false
    const transport = {
      ...near,
      start: near.start.bind(near),
      send: near.send.bind(near),
      close: () => near.close().then(() => void (closed = true)),
    }
    await expect(createGateway((options) => connect(transport, options))).rejects.toThrow()
    expect(closed).toBe(true)
  })

  /** A server with sessions that has one tool, and may be slow to list it. */
  function slowToList() {
    const state = { tool: 'first', turn: 0, answer: () => {} }
    const made = scriptedPeer(async ({ id, method = '' }) => {
      if (id === undefined) return undefined
      const say = (more: JsonObject): JsonObject => ({ jsonrpc: '2.0', id, ...more })
      if (method === 'initialize') {
        const capabilities = { tools: { listChanged: true } }
        const serverInfo = { name: 'slow', version: '1' }
        return say({ result: { protocolVersion: '2025-11-25', capabilities, serverInfo } })
      }
      if (method !== 'tools/list') return say({ error: { code: -32601, message: 'Not found' } })
      const tools = [{ name: state.tool, inputSchema: { type: 'object' } }]
      if (state.turn++ === 1) await new Promise<void>((resolve) => (state.answer = resolve))
      return say({ result: { tools } })
    })
    const change = (tool: string): void => {
      state.tool = tool
      made.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    }
    return { peer: made, state, change }
  }

  it('offers what was listed last, whichever answer comes last', async () => {
    const { peer: behind, state, change } = slowToList()
    const gateway = closing(await createGateway((options) => connect(behind.transport, options)))
    change('second')
    await until(() => state.turn === 2)
    change('third')
    await settled()
    state.answer()
    await settled()
    const client = await connected(gateway.server)
    await expect
      .poll(async () => (await client.listAllTools()).map(({ name }) => name))
      .toEqual(['third'])
    expect(state.turn).toBe(3)
  })

  it('offers nothing and reports nothing once it is closed, even during a listing', async () => {
    const { peer: behind, state, change } = slowToList()
    const errors: unknown[] = []
    const gateway = await createGateway((options) => connect(behind.transport, options), {
      onError: (error) => errors.push(error),
    })
    change('second')
    await until(() => state.turn === 2)
    await gateway.close()
    state.answer()
    await settled()
    expect(errors).toEqual([])
    expect(await (await connected(gateway.server)).listAllTools()).toEqual([])
  })

  it('adds its middleware once, however often a server is mounted and unmounted', async () => {
    const outer = createServer({ name: 'outer', version: '1' })
    const used = vi.spyOn(outer, 'use')
    const { server: inner } = makeServer()
    const mountIt = (): Promise<Mount> =>
      outer.mount(
        'in',
        fromClient((options) => connectInMemory(inner, options)),
      )
    await (await mountIt()).unmount()
    const once = used.mock.calls.length
    await (await mountIt()).unmount()
    const mounted = await mountIt()
    closing({ close: () => mounted.unmount() })
    expect(used.mock.calls).toHaveLength(once)
    const client = await connected(outer)
    const changes = await client.listen({ resourceSubscriptions: ['note://one'] })
    inner.notify.resourceUpdated('note://one')
    expect((await changes[Symbol.asyncIterator]().next()).value).toMatchObject({
      params: { uri: 'note://one' },
    })
    const resourceSubscriptions = Array.from({ length: 1001 }, (_, n) => `user://${n}/profile`)
    await expect(client.listen({ resourceSubscriptions })).rejects.toMatchObject({ code: -32602 })
  })

  it('reports to callers that the upstream server does not answer, and to its owner why', async () => {
    for (const ask of ['tool', 'resource'] as const) {
      peer = partial({ tools: [{ name: 'end', inputSchema: { type: 'object' } }] })
      const errors: unknown[] = []
      const gateway = await createGateway((options) => connect(peer.transport, options), {
        onError: (error) => errors.push(error),
      })
      closing(gateway)
      const client = await connected(gateway.server)
      if (ask === 'tool') {
        expect(await client.callTool('end')).toMatchObject({
          isError: true,
          content: [{ type: 'text', text: 'The upstream server has ended' }],
        })
      } else {
        await expect(client.readResource('a:b')).rejects.toMatchObject({
          code: -32603,
          message: 'The upstream server has ended',
        })
      }
      expect(errors).toEqual([expect.objectContaining({ code: 'CLOSED' })])
    }
  })
})
