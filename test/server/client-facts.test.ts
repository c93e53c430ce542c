// What a server decides by what it knows of the client, and by knowing nothing.
import { describe, expect, it } from 'vitest'
import { APP_MIME_TYPE, APPS_EXTENSION } from '../../src/apps/ui.ts'
import { appResource, appTool, supportsApps, getToolUi } from '../../src/apps/index.ts'
import type { Tool } from '../../src/index.ts'
import {
  createHandler,
  createServer,
  sealedSessions,
  text,
  type Context,
  type Handler,
  serverExtension,
  uriTemplate,
} from '../../src/presets/server.ts'
import { protectedResource } from '../../src/protected-resource/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import {
  initializeRequest,
  lastMessage,
  modernHeaders,
  modernRequest,
  openSession,
  post,
  postModern,
} from '../transport/streamable-http/post.ts'

const PAGE = '<!doctype html><title>Weather</title>'
const URI = 'ui://weather/dashboard'
const SHOWS_APPS = { extensions: { [APPS_EXTENSION]: { mimeTypes: [APP_MIME_TYPE] } } }

function weather() {
  const server = createServer({ name: 'weather', version: '1' })
  appResource(server, URI, { name: 'dashboard' }, PAGE)
  appTool(server, 'forecast', { ui: URI }, (_args, ctx) =>
    text(supportsApps(ctx) ? 'Look' : 'Sunny all day'),
  )
  appTool(server, 'refresh', { ui: URI, visibility: ['app'] }, () => text('fresh'))
  return server
}

/** The result of a request of a revision with sessions, outside of any. */
async function sessionless(handle: Handler, method: string, params = {}) {
  const message = { jsonrpc: '2.0', id: 1, method, params }
  const response = await post(handle, message, { 'mcp-protocol-version': '2025-11-25' })
  return lastMessage(response)
}

describe('a request without a session, whose client is unknown', () => {
  it('is shown the interfaces of tools, and their documents [C043]', async () => {
    const handle = createHandler(weather())
    await post(handle, initializeRequest('2025-11-25', { capabilities: SHOWS_APPS }))
    const { result: tools } = await sessionless(handle, 'tools/list')
    expect((tools.tools as Tool[]).map((tool) => [tool.name, getToolUi(tool)])).toEqual([
      ['forecast', { resourceUri: URI }],
    ])
    const { result: resources } = await sessionless(handle, 'resources/list')
    expect(resources.resources).toMatchObject([{ uri: URI, mimeType: APP_MIME_TYPE }])
    const read = await sessionless(handle, 'resources/read', { uri: URI })
    expect(read.result.contents).toMatchObject([{ text: PAGE }])
  })

  it('gets complete results, and may call tools that are for interfaces only [C043]', async () => {
    const handle = createHandler(weather())
    const call = async (name: string): Promise<unknown> =>
      (await sessionless(handle, 'tools/call', { name })).result.content
    expect(await call('forecast')).toEqual([text('Sunny all day')])
    expect(await call('refresh')).toEqual([text('fresh')])
  })

  it('is linked to no document that is gone [C043]', async () => {
    const server = createServer({ name: 'weather', version: '1' })
    const page = appResource(server, URI, { name: 'dashboard' }, PAGE)
    appTool(server, 'forecast', { ui: URI }, () => text('Sunny'))
    appResource(server, 'ui://other', { name: 'other' }, PAGE)
    appTool(server, 'history', { ui: 'ui://other' }, () => text('Rain'))
    page.remove()
    const { result } = await sessionless(createHandler(server), 'tools/list')
    expect((result.tools as Tool[]).map(getToolUi)).toEqual([{}, { resourceUri: 'ui://other' }])
  })

  it('may use the methods of an extension, which shows that its client knows it [C043]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const id = 'com.example/tickets'
    server.extend(
      serverExtension({ id, methods: { 'tickets/get': { handle: () => ({ state: 'served' }) } } }),
    )
    const handle = createHandler(server)
    const { result } = await sessionless(handle, 'tickets/get')
    expect(result).toMatchObject({ state: 'served' })
    // Where a client could have said so, it has to
    const undeclared = await lastMessage(await postModern(handle, 'tickets/get'))
    expect(undeclared.error.code).toBe(-32021)
  })

  it('is marked as such for handlers, unlike one of a session [C043]', async () => {
    const seen: Context['client'][] = []
    const server = createServer({ name: 's', version: '1' })
    server.tool('look', {}, (_args, { client }) => {
      seen.push(client)
      return ''
    })
    await sessionless(createHandler(server), 'tools/call', { name: 'look' })
    expect(seen.pop()).toEqual({ info: undefined, capabilities: {}, unknown: true })
    const secrets = ['0123456789abcdef0123456789abcdef']
    const sealed = createHandler(server, { sessions: sealedSessions({ secrets }) })
    const { send } = await openSession(sealed, '2025-11-25', { roots: {} })
    await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'look' } })
    expect(seen.pop()).toMatchObject({ capabilities: { roots: {} } })
    await postModern(sealed, 'tools/call', { name: 'look' })
    expect(seen.pop()).toEqual({ info: undefined, capabilities: {} })
  })
})

describe('visible', () => {
  function samplers() {
    const server = createServer({ name: 's', version: '1' })
    const visible = ({ client }: { client: Context['client'] }): boolean =>
      client.capabilities.sampling !== undefined
    server.tool('plain', {}, () => 'plain')
    server.tool('draft', { visible }, () => 'drafted')
    server.prompt('draft', { visible }, () => 'drafted')
    server.resource('x://draft', { name: 'draft', visible }, () => 'drafted')
    server.resourceTemplate(
      uriTemplate('x://drafts/{n}'),
      { name: 'drafts', visible },
      () => 'drafted',
    )
    return server
  }

  it('hides a tool from clients that lack what it needs, in every revision [P011]', async () => {
    for (const revision of ['2025-11-25', '2026-07-28'] as const) {
      for (const [able, names] of [
        [true, ['plain', 'draft']],
        [false, ['plain']],
      ] as const) {
        await using client = await connectInMemory(samplers(), {
          revision,
          ...(able && {
            onSample: () => ({
              ...{ model: 'm', role: 'assistant' as const },
              content: { type: 'text' as const, text: '' },
            }),
          }),
        })
        expect((await client.listAllTools()).map(({ name }) => name)).toEqual(names)
        const found = client.callTool('draft', {})
        if (able) expect((await found).content).toEqual([text('drafted')])
        else await expect(found).rejects.toMatchObject({ code: -32602 })
        expect(await client.listAllPrompts()).toHaveLength(able ? 1 : 0)
        expect(await client.listAllResources()).toHaveLength(able ? 1 : 0)
        expect(await client.listAllResourceTemplates()).toHaveLength(able ? 1 : 0)
      }
    }
  })

  it('is passed an unknown client where no session has its capabilities [P011]', async () => {
    const { result } = await sessionless(createHandler(samplers()), 'tools/list')
    expect((result.tools as Tool[]).map(({ name }) => name)).toEqual(['plain'])
  })

  it('lets no call pass without the scopes of a tool that depends on the client [P011]', async () => {
    const calls: string[] = []
    const server = createServer({ name: 's', version: '1' })
    const scopes = ['notes:write']
    server.tool(
      'draft',
      { scopes, visible: ({ client }) => client.capabilities.sampling !== undefined },
      () => {
        calls.push('draft')
        return ''
      },
    )
    server.tool('secret', { scopes, visible: ({ principal }) => principal === 'root' }, () => '')
    const auth = protectedResource({
      resource: 'http://localhost/mcp',
      authorizationServers: ['https://as.example'],
      verify: async () => ({ subject: 'user', audience: 'http://localhost/mcp', scopes: [] }),
    })
    const handle = createHandler(server, { auth })
    const call = (name: string): Promise<Response> =>
      post(handle, modernRequest('tools/call', { name }, { sampling: {} }), {
        ...modernHeaders('tools/call', name),
        authorization: 'Bearer x',
      })
    expect((await call('draft')).status).toBe(403)
    expect(calls).toEqual([])
    // The scopes of a hidden tool do not reveal it
    expect((await lastMessage(await call('secret'))).error.code).toBe(-32602)
  })
})

describe('capabilities', () => {
  const capabilitiesOf = async (add: (server: ReturnType<typeof createServer>) => void) => {
    const server = createServer({ name: 's', version: '1' })
    add(server)
    await using client = await connectInMemory(server, { revision: '2025-11-25' })
    const modern = await lastMessage(await postModern(createHandler(server), 'server/discover'))
    expect('logging' in (modern.result.capabilities as object)).toBe(
      'logging' in (client.serverCapabilities ?? {}),
    )
    return client.serverCapabilities
  }

  it('have logging only where a handler or middleware takes its context [P011]', async () => {
    const silent = await capabilitiesOf((server) => {
      server.tool('a', {}, () => '')
      server.prompt('b', {}, (_args) => '')
      server.resource('x://c', { name: 'c' }, () => '')
    })
    expect(silent).not.toHaveProperty('logging')
    const logs = (
      add: (server: ReturnType<typeof createServer>) => void,
    ): Promise<object | undefined> => capabilitiesOf(add)
    expect(await logs((s) => void s.tool('a', {}, (_args, _ctx) => ''))).toHaveProperty('logging')
    expect(await logs((s) => void s.prompt('a', {}, (_args, _ctx) => ''))).toHaveProperty('logging')
    expect(
      await logs((s) => void s.resource('x://a', { name: 'a' }, (_uri, _ctx) => '')),
    ).toHaveProperty('logging')
    expect(
      await logs((s) => {
        s.tool('a', {}, () => '')
        s.use((_request, _ctx, next) => next())
      }),
    ).toHaveProperty('logging')
  })

  it('promise no list changes where no notification can be sent [P011]', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('a', {}, () => '')
    const handle = createHandler(server)
    const legacy = await lastMessage(await post(handle, initializeRequest()))
    expect(legacy.result.capabilities).toEqual({ tools: {} })
    // Since 2026-07-28 every listener is notified, without a session too
    const modern = await lastMessage(await postModern(handle, 'server/discover'))
    expect(modern.result.capabilities).toEqual({ tools: { listChanged: true } })
  })
})
