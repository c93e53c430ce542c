import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { AppResourceOptions } from '../../src/apps/app-resource.ts'
import { APP_MIME_TYPE, APPS_EXTENSION } from '../../src/apps/ui.ts'
import {
  appResource,
  appsClient,
  appTool,
  isAppVisible,
  isModelVisible,
  supportsApps,
  getContentsUi,
  getToolUi,
} from '../../src/apps/index.ts'
import type { Tool } from '../../src/index.ts'
import { createServer, type Server, text } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { createHandler } from '../../src/presets/server.ts'
import { lastMessage, postModern } from '../transport/streamable-http/post.ts'

const PAGE = '<!doctype html><html lang="en"><title>Weather</title></html>'
const URI = 'ui://weather/dashboard'
const DECLARED = { extensions: { [APPS_EXTENSION]: { mimeTypes: [APP_MIME_TYPE] } } }
const inputSchema = { type: 'object' as const }

/** A server with a tool for all, one for the interface only, and one without an interface. */
function weather(): { server: Server; errors: unknown[]; remove: () => void } {
  const errors: unknown[] = []
  const server = createServer(
    { name: 'weather', version: '1' },
    { onError: (error) => errors.push(error) },
  )
  const csp = {
    connectDomains: ['https://api.example.com'],
    resourceDomains: ['https://*.cdn.example'],
  }
  const page = appResource(server, URI, { name: 'dashboard', csp, prefersBorder: true }, PAGE)
  appTool(
    server,
    'forecast',
    { input: z.object({ city: z.string() }), ui: URI, meta: { 'com.example/x': 1 } },
    ({ city }, ctx) => ({
      content: [text(supportsApps(ctx) ? `Shown: ${city}` : `Sunny in ${city}`)],
      structuredContent: { city },
    }),
  )
  appTool(server, 'refresh', { ui: URI, visibility: ['app'] }, () => text('fresh'))
  server.tool('plain', {}, () => text('plain'))
  return { server, errors, remove: () => page.remove() }
}

describe('a server with interfaces', () => {
  it('declares the extension once it has one, and not before [M-APPS-001] [M-VER-018]', async () => {
    const client = await connectInMemory(weather().server)
    expect(client.serverCapabilities?.extensions).toEqual({ [APPS_EXTENSION]: {} })
    const plain = createServer({ name: 's', version: '1' })
    plain.tool('t', {}, () => text(''))
    expect((await connectInMemory(plain)).serverCapabilities).not.toHaveProperty('extensions')
  })

  it('links its tools to documents, for clients that show them [M-APPS-002] [M-APPS-009]', async () => {
    const client = await connectInMemory(weather().server, { extensions: [appsClient()] })
    const tools = await client.listAllTools()
    expect(tools.map(({ name, _meta }) => [name, _meta])).toEqual([
      ['forecast', { 'com.example/x': 1, ui: { resourceUri: URI } }],
      ['refresh', { ui: { resourceUri: URI, visibility: ['app'] } }],
      ['plain', undefined],
    ])
  })

  it.each([
    ['nothing', {}],
    ['another type', { extensions: { [APPS_EXTENSION]: { mimeTypes: ['text/html'] } } }],
    ['no types', { extensions: { [APPS_EXTENSION]: {} } }],
    ['invalid types', { extensions: { [APPS_EXTENSION]: { mimeTypes: APP_MIME_TYPE } } }],
  ])(
    'has only plain tools for clients that declare %s, whose results are complete without an interface [M-APPS-002] [M-APPS-003] [M-VER-017]',
    async (_what, capabilities) => {
      const handle = createHandler(weather().server)
      const list = await lastMessage(await postModern(handle, 'tools/list', {}, capabilities))
      const tools = list.result.tools as Tool[]
      expect(tools.map(({ name, _meta }) => [name, _meta])).toEqual([
        ['forecast', { 'com.example/x': 1 }],
        ['plain', undefined],
      ])
      const asked = { name: 'forecast', arguments: { city: 'Oslo' } }
      const call = await lastMessage(await postModern(handle, 'tools/call', asked, capabilities))
      expect(call.result.content).toEqual([{ type: 'text', text: 'Sunny in Oslo' }])
      const hidden = await postModern(handle, 'tools/call', { name: 'refresh' }, capabilities)
      expect((await lastMessage(hidden)).error).toEqual({
        code: -32602,
        message: 'Unknown tool: "refresh"',
      })
      const resources = await lastMessage(
        await postModern(handle, 'resources/list', {}, capabilities),
      )
      expect(resources.result.resources).toEqual([])
    },
  )

  it('lists its tools as each request declares, and no cache mixes the lists up [M-VER-021] [M-TOOL-005]', async () => {
    const { server } = weather()
    const handle = createHandler(server)
    for (let turn = 0; turn < 2; turn++) {
      for (const [capabilities, count] of [
        [DECLARED, 3],
        [{}, 2],
      ] as const) {
        const list = await lastMessage(await postModern(handle, 'tools/list', {}, capabilities))
        expect(list.result.tools).toHaveLength(count)
        expect(list.result.cacheScope).toBe('private')
      }
    }
    const call = { name: 'refresh' }
    const shown = await lastMessage(await postModern(handle, 'tools/call', call, DECLARED))
    expect(shown.result.content).toEqual([{ type: 'text', text: 'fresh' }])
  })

  it('links its tools on sessions for clients that show interfaces, and for no others', async () => {
    const { server } = weather()
    const revision = '2025-11-25'
    const host = await connectInMemory(server, { revision, extensions: [appsClient()] })
    expect((await host.listAllTools()).map(getToolUi)[0]).toEqual({ resourceUri: URI })
    expect(await host.callTool('forecast', { city: 'Oslo' })).toMatchObject({
      content: [{ text: 'Shown: Oslo' }],
    })
    const other = await connectInMemory(server, { revision })
    expect((await other.listAllTools()).map(({ name }) => name)).toEqual(['forecast', 'plain'])
  })

  it('links to no document that is not there [M-APPS-008]', async () => {
    const { server, remove } = weather()
    const client = await connectInMemory(server, { extensions: [appsClient()] })
    remove()
    const tools = await client.listAllTools({ cache: 'reload' })
    expect(tools.map(getToolUi)).toEqual([{}, { visibility: ['app'] }, {}])
    expect(() => appTool(server, 'late', { ui: URI }, () => text(''))).toThrow('is not registered')
  })

  it('reports results that are empty without the interface to its author [M-APPS-004]', async () => {
    const { server, errors } = weather()
    appTool(server, 'silent', { ui: URI }, () => ({ content: [] }))
    appTool(server, 'quiet', { ui: URI }, () => ({}))
    appTool(server, 'data', { ui: URI }, () => ({ structuredContent: { a: 1 } }))
    appTool(server, 'block', { ui: URI }, () => text('said'))
    const client = await connectInMemory(server)
    await client.callTool('silent')
    await client.callTool('quiet')
    expect(errors.map(String)).toEqual([
      'TypeError: The tool "silent" returns no content for clients without UI support',
      'TypeError: The tool "quiet" returns no content for clients without UI support',
    ])
    expect((await client.callTool('data')).content).toEqual([{ type: 'text', text: '{"a":1}' }])
    expect((await client.callTool('block')).content).toEqual([{ type: 'text', text: 'said' }])
    await client.callTool('plain')
    await client.callTool('forecast', { city: 'Oslo' })
    expect(errors).toHaveLength(2)
  })

  it('keeps the interface of a tool when the tool is updated', async () => {
    const { server } = weather()
    const tool = appTool(server, 'changing', { ui: URI }, () => text('one'))
    tool.update({ description: 'New' }, () => text('two'))
    const client = await connectInMemory(server, { extensions: [appsClient()] })
    const changed = (await client.listAllTools()).find(({ name }) => name === 'changing')
    expect(changed).toMatchObject({ description: 'New', _meta: { ui: { resourceUri: URI } } })
    expect(await client.callTool('changing')).toMatchObject({ content: [{ text: 'two' }] })
  })

  it.each<[string, Parameters<typeof appTool>[2]]>([
    ['no caller may call it', { visibility: [] }],
    ['its interface has another scheme', { ui: 'https://example.com/' }],
    ['its interface is unknown', { ui: 'ui://other' }],
  ])('refuses a tool when %s [M-APPS-009]', (_why, options) => {
    const { server } = weather()
    expect(() => appTool(server, 'bad', options, () => text(''))).toThrow(TypeError)
  })
})

describe('a malformed policy or visibility', () => {
  const origin = 'https://a.example'

  it.each<[string, unknown]>([
    ['a string where a list belongs', { connectDomains: origin }],
    ['a source that adds a directive', { frameDomains: [`${origin}; script-src *`] }],
    ['a source that adds another', { resourceDomains: [`${origin} *`] }],
    ['a number for a source', { baseUriDomains: [5] }],
    ['an empty source', { baseUriDomains: [''] }],
    ['a source that is missing', { baseUriDomains: [undefined] }],
    ['an unknown name', { scriptDomains: [origin] }],
  ])('with %s is refused where it is registered [P029]', (_what, csp) => {
    const server = createServer({ name: 's', version: '1' })
    const options: AppResourceOptions = { name: 'x', csp: csp as Record<string, string[]> }
    expect(() => appResource(server, 'ui://x', options, PAGE)).toThrow('csp')
  })

  it('is left out of the parsed metadata, and well-formed fields stay [P029]', () => {
    const sent: unknown = {
      csp: {
        connectDomains: origin,
        resourceDomains: [origin, `${origin}; script-src *`, 5, "'unsafe-eval'"],
        frameDomains: [origin],
        scriptDomains: [origin],
      },
      permissions: { camera: {}, microphone: true },
      domain: 5,
      prefersBorder: 'yes',
    }
    const contents = { uri: 'ui://x', text: PAGE, _meta: { ui: sent } }
    expect(getContentsUi(contents)).toEqual({
      csp: { resourceDomains: [origin], frameDomains: [origin] },
      permissions: { camera: {} },
    })
  })

  it('with an invalid visibility of the tool is refused where it is registered [P029]', () => {
    const visibility = ['App'] as unknown as ['app']
    const { server } = weather()
    expect(() => appTool(server, 'bad', { visibility }, () => text(''))).toThrow('"App"')
  })
})

describe('the document of an interface', () => {
  it('is read with its type and its display settings [M-APPS-006] [M-APPS-007]', async () => {
    const client = await connectInMemory(weather().server, { extensions: [appsClient()] })
    const ui = {
      csp: {
        connectDomains: ['https://api.example.com'],
        resourceDomains: ['https://*.cdn.example'],
      },
      prefersBorder: true,
    }
    const [listed] = await client.listAllResources()
    expect(listed).toEqual({ uri: URI, name: 'dashboard', mimeType: APP_MIME_TYPE, _meta: { ui } })
    const { contents } = await client.readResource(URI)
    expect(contents).toEqual([{ uri: URI, mimeType: APP_MIME_TYPE, text: PAGE, _meta: { ui } }])
  })

  it('can be bytes, or can be created for each reader [M-APPS-007]', async () => {
    const server = createServer({ name: 's', version: '1' })
    appResource(server, 'ui://bytes', { name: 'b' }, new TextEncoder().encode(PAGE))
    appResource(server, 'ui://made', { name: 'm' }, (ctx) => `${PAGE}<!-- ${ctx.revision} -->`)
    const client = await connectInMemory(server)
    expect((await client.readResource('ui://bytes')).contents[0]).toMatchObject({
      mimeType: APP_MIME_TYPE,
      blob: btoa(PAGE),
    })
    expect((await client.readResource('ui://made')).contents[0]).toMatchObject({
      text: `${PAGE}<!-- 2026-07-28 -->`,
    })
  })

  it('may be omitted from the lists of clients that show none, and can still be read [M-APPS-011]', async () => {
    const client = await connectInMemory(weather().server)
    expect(await client.listAllResources()).toEqual([])
    expect((await client.readResource(URI)).contents).toHaveLength(1)
  })

  it.each(['https://example.com/x', 'UI://x', 'ui:x', 'ui://', ''])(
    'cannot have the URI "%s" [M-APPS-005]',
    (uri) => {
      const server = createServer({ name: 's', version: '1' })
      expect(() => appResource(server, uri, { name: 'x' }, PAGE)).toThrow(TypeError)
    },
  )

  it.each(['', '<html></html>', 'Hello', '<!-- open <!doctype html>'])(
    'cannot have the content "%s" [M-APPS-007]',
    async (html) => {
      const errors: unknown[] = []
      const server = createServer(
        { name: 's', version: '1' },
        { onError: (error) => errors.push(error) },
      )
      expect(() => appResource(server, 'ui://x', { name: 'x' }, html)).toThrow(TypeError)
      appResource(server, 'ui://made', { name: 'x' }, () => html)
      const client = await connectInMemory(server)
      await expect(client.readResource('ui://made')).rejects.toMatchObject({ code: -32603 })
      expect(errors).toHaveLength(1)
    },
  )

  it.each(['example.com', "https://a.example; script-src 'unsafe-eval'", '*', "'self'", 'data:'])(
    'cannot request the domain "%s"',
    (origin) => {
      const server = createServer({ name: 's', version: '1' })
      const options: AppResourceOptions = { name: 'x', csp: { connectDomains: [origin] } }
      expect(() => appResource(server, 'ui://x', options, PAGE)).toThrow('list of origins')
    },
  )
})

describe('a host', () => {
  const tool = (_meta: unknown): Tool => ({
    name: 't',
    inputSchema,
    _meta: _meta as Tool['_meta'] & object,
  })

  it('finds the tools that models and interfaces may call [M-APPS-014] [M-APPS-009]', () => {
    for (const [visibility, model, app] of [
      [undefined, true, true],
      [['model', 'app'], true, true],
      [['model'], true, false],
      [['app'], false, true],
      [['future'], false, false],
    ] as const) {
      const one = tool({ ui: { visibility } })
      expect([isModelVisible(one), isAppVisible(one)]).toEqual([model, app])
    }
    expect(isModelVisible({ name: 't', inputSchema })).toBe(true)
  })

  it('finds the document of a tool in the older form too [M-APPS-010]', () => {
    expect(getToolUi(tool({ 'ui/resourceUri': URI }))).toEqual({ resourceUri: URI })
    const both = { 'ui/resourceUri': 'ui://old', ui: { resourceUri: URI } }
    expect(getToolUi(tool(both))).toEqual({ resourceUri: URI })
  })

  it.each([
    null,
    'x',
    { ui: null },
    { ui: { resourceUri: 1, visibility: 'app' } },
    { ui: { resourceUri: 'https://x' } },
  ])('ignores an invalid interface: %j [M-VER-022]', (meta) => {
    expect(getToolUi(tool(meta))).toEqual({})
  })

  it('prefers the metadata of the contents over that of the list [M-APPS-056]', () => {
    const listed = { uri: URI, name: 'x', _meta: { ui: { prefersBorder: true } } }
    const contents = { uri: URI, text: PAGE }
    expect(getContentsUi({ ...contents, _meta: { ui: { domain: 'd' } } }, listed)).toEqual({
      domain: 'd',
    })
    expect(getContentsUi(contents, listed)).toEqual({ prefersBorder: true })
    expect(getContentsUi(contents)).toEqual({})
  })
})
