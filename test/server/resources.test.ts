import { describe, expect, it } from 'vitest'
import { revisions, type Annotations, type JsonObject } from '../../src/index.ts'
import { createServer, resourceLink, text, uriTemplate } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { lastMessage, openSession, post } from '../transport/streamable-http/post.ts'
import { makeRichServer } from '../traffic/server.ts'
import { openWire } from './wire.ts'

const LEGACY = revisions.filter(({ era }) => era === 'legacy').map(({ version }) => version)
const info = { name: 's', version: '1' }

describe.each(LEGACY)('resources in %s', (revision) => {
  it('are offered if there are any, and are unknown methods otherwise [L-RES-001]', async () => {
    const server = createServer(info)
    const without = await openWire(server, revision)
    expect(without.welcome.capabilities).not.toHaveProperty('resources')
    for (const method of ['list', 'read', 'templates/list', 'subscribe', 'unsubscribe']) {
      expect(await without.code(`resources/${method}`, { uri: 'a:b' })).toBe(-32601)
    }
    server.resource('a:b', { name: 'a' }, () => 'text')
    const withResources = await openWire(server, revision)
    expect(withResources.welcome.capabilities).toHaveProperty('resources')
    expect((await withResources.result('resources/list')).resources).toHaveLength(1)
  })

  it('have contents with a URI, and text or bytes but never both [L-RES-004] [L-RES-005]', async () => {
    const { server } = makeRichServer()
    const wire = await openWire(server, revision)
    const read = async (uri: string): Promise<JsonObject[]> =>
      (await wire.result('resources/read', { uri })).contents as JsonObject[]
    const [one, bytes, many] = [
      await read('note://one'),
      await read('note://bytes'),
      await read('note://many'),
    ]
    expect(one).toEqual([{ uri: 'note://one', mimeType: 'text/plain', text: 'First' }])
    // Not UTF-8, so that it could not be text
    expect(bytes).toEqual([{ uri: 'note://bytes', mimeType: 'text/plain', blob: 'AP8=' }])
    expect(many.map(({ uri, text, blob }) => [uri, text, blob])).toEqual([
      ['note://many', 'a', undefined],
      ['note://many/b', undefined, 'AAAA'],
    ])
  })

  it('keep every byte [L-RES-006]', async () => {
    const server = createServer(info)
    const lengths = [0, 1, 2, 3, 0x8000, 0x8001, 70_000]
    const made = lengths.map((length) => crypto.getRandomValues(new Uint8Array(length % 65_537)))
    made.forEach((bytes, n) => server.resource(`b:${n}`, { name: `${n}` }, () => bytes))
    const client = await connectInMemory(server, { revision })
    for (const [n, bytes] of made.entries()) {
      const [contents] = (await client.readResource(`b:${n}`)).contents
      expect(Buffer.from((contents as { blob: string }).blob, 'base64').equals(bytes)).toBe(true)
    }
    await client.close()
  })

  it.each([
    'one',
    '/etc/passwd',
    'file:///../etc/passwd',
    'file:///a/%2e%2e/%2e%2e/etc/passwd',
    'file:///a/..%2f..%2fetc/passwd',
    'file:///a%00',
    'file:///%zz',
    7,
    null,
    undefined,
  ])('with the URI %j are not read [L-RES-007]', async (uri) => {
    const server = createServer(info)
    const seen: unknown[] = []
    server.resourceTemplate(uriTemplate('file:///{+path}'), { name: 'files' }, ({ variables }) => {
      seen.push(variables.path)
      return 'x'
    })
    const wire = await openWire(server, revision)
    expect(await wire.code('resources/read', { uri })).toBe(-32602)
    expect(seen).toEqual([])
    await wire.result('resources/read', { uri: 'file:///a/b..c' })
    expect(seen).toEqual(['a/b..c'])
  })

  it('cannot have invalid URIs [L-RES-011]', () => {
    const server = createServer(info)
    for (const uri of ['my_scheme://a', '1a:b', 'a', '', '://a', 'a b:c', 'a:b c']) {
      expect(() => server.resource(uri, { name: 'a' }, () => ''), uri).toThrow(TypeError)
    }
    for (const uri of ['a:b', 'my-scheme+x.y://a?b#c', 'urn:isbn:1']) {
      server.resource(uri, { name: 'a' }, () => '')
    }
  })

  it('are subscribed to and no longer with {} [L-RES-015]', async () => {
    const server = createServer(info)
    server.resource('a:b', { name: 'a' }, () => '')
    const wire = await openWire(server, revision)
    for (const method of ['subscribe', 'subscribe', 'unsubscribe', 'unsubscribe']) {
      expect(await wire.result(`resources/${method}`, { uri: 'a:b' })).toEqual({})
    }
  })

  it('have the size of their bytes, not that of the Base64 that carries them [L-RES-019]', async () => {
    const bytes = Uint8Array.from({ length: 1001 }, (_, at) => at)
    const server = createServer(info)
    server.resource('a:b', { name: 'a', size: bytes.byteLength }, () => bytes)
    const wire = await openWire(server, revision)
    const [listed] = (await wire.result('resources/list')).resources as JsonObject[]
    const [read] = (await wire.result('resources/read', { uri: 'a:b' })).contents as JsonObject[]
    expect(listed?.size).toBe(1001)
    expect(atob(String(read?.blob)).length).toBe(1001)
  })

  it('are described with the fields of the revision [L-RES-020]', async () => {
    const wire = await openWire(makeRichServer().server, revision)
    const [resource] = (await wire.result('resources/list')).resources as JsonObject[]
    const members = ['annotations', 'description', 'mimeType', 'name']
    if (revision >= '2025-06-18') members.push('_meta', 'title')
    if (revision >= '2025-11-25') members.push('icons')
    const all = [...members, 'size', 'uri'].toSorted()
    expect(Object.keys(resource ?? {}).toSorted()).toEqual(all)
    const { resourceTemplates } = await wire.result('resources/templates/list')
    const [template] = resourceTemplates as JsonObject[]
    expect(Object.keys(template ?? {}).toSorted()).toEqual([...members, 'uriTemplate'].toSorted())
  })
})

describe('annotations', () => {
  it.each<object>([
    { priority: 1.5 },
    { priority: -0.1 },
    { priority: NaN },
    { audience: ['system'] },
    { audience: ['user', 'model'] },
    { lastModified: 'yesterday' },
    { lastModified: '7' },
  ])('%j are refused where they are made [L-COM-020]', (annotations) => {
    const server = createServer(info)
    const described = { name: 'a', annotations: annotations as Annotations }
    expect(() => server.resource('a:b', described, () => '')).toThrow(TypeError)
    expect(() => server.resourceTemplate(uriTemplate('a:{b}'), described, () => '')).toThrow(
      TypeError,
    )
    expect(() => resourceLink({ uri: 'a:b', ...described })).toThrow(TypeError)
  })

  it.each(LEGACY)('include no date before 2025-06-18: %s [L-COM-020]', async (revision) => {
    const server = createServer(info)
    const annotations: Annotations = {
      audience: ['user', 'assistant'],
      priority: 1,
      lastModified: '2026-01-31T12:00:00Z',
    }
    server.resource('a:b', { name: 'a', annotations }, () => '')
    server.tool('a', {}, () => ({ ...text('x'), annotations }))
    const wire = await openWire(server, revision)
    const { lastModified: _, ...old } = annotations
    const known = revision >= '2025-06-18' ? annotations : old
    expect(await wire.result('resources/list')).toMatchObject({
      resources: [{ annotations: known }],
    })
    const listed = JSON.stringify(await wire.result('resources/list'))
    expect(listed.includes('lastModified')).toBe(revision >= '2025-06-18')
    const { content } = await wire.result('tools/call', { name: 'a' })
    expect(content).toEqual([{ type: 'text', text: 'x', annotations: known }])
  })
})

it.each(['x://{+path}', 'x://a/{id}', '{scheme}://a'])(
  'the template "%s" in the place of a URI is refused with the method that takes it [P030]',
  (template) => {
    const server = createServer(info)
    expect(() => server.resource(template, { name: 'a' }, () => '')).toThrow('use resourceTemplate')
  },
)

describe('subscribing where no change can be notified', () => {
  it.each(LEGACY)('is neither offered nor a known method in %s [L-RES-015]', async (revision) => {
    const server = createServer(info)
    server.resource('a:b', { name: 'a' }, () => '')
    const handle = sessionHandler(server, { sessions: false })
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: info }
    const open = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
    const { result } = await lastMessage(await post(handle, open))
    expect(result.capabilities).toMatchObject({ resources: {} })
    expect(JSON.stringify(result.capabilities)).not.toContain('subscribe')
    const method = 'resources/subscribe'
    const subscribe = { jsonrpc: '2.0', id: 2, method, params: { uri: 'a:b' } }
    const headers = { 'mcp-protocol-version': revision }
    expect((await lastMessage(await post(handle, subscribe, headers))).error.code).toBe(-32601)
    await handle.close()
    const { send } = await openSession(sessionHandler(server), revision)
    expect((await lastMessage(await send(subscribe))).result).toEqual({})
  })
})
