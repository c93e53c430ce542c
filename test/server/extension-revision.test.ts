// The lifecycle of extensions: stages, ids, and revisions of those that are not Stable yet.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { appResource, appsClient } from '../../src/apps/index.ts'
import { clientExtension, connect } from '../../src/presets/client.ts'
import {
  createHandler,
  createServer,
  serverExtension,
  type Handler,
} from '../../src/presets/server.ts'
import * as ids from '../../src/protocol/extension-ids.ts'
import type { ServerExtensionOptions } from '../../src/server/composition/server-extension.ts'
import { skills } from '../../src/skills/index.ts'
import { taskPolling, tasks } from '../../src/tasks/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { everything, modernPeer, result } from '../client/peers.ts'
import { Random } from '../fuzz/random.ts'
import { sessionHandler } from '../handler.ts'
import { root } from '../root.ts'
import { lastMessage, openSession, postModern } from '../transport/streamable-http/post.ts'

const ID = 'com.example/search'
const SKILL = { 'SKILL.md': '---\nname: letters\ndescription: Writes letters\n---\n' }

/** A server with an extension whose method returns the revision that was negotiated. */
function searching(options: Partial<ServerExtensionOptions> = {}): Handler {
  const server = createServer({ name: 's', version: '1' }, { onError: () => {} })
  const handle: NonNullable<NonNullable<ServerExtensionOptions['methods']>[string]['handle']> = (
    _params,
    ctx,
    revision,
  ) => ({ found: revision, in: ctx.revision })
  server.extend(serverExtension({ id: ID, methods: { 'search/query': { handle } }, ...options }))
  return sessionHandler(server)
}

/** Calls the method as a client that declares these settings. */
async function query(handle: Handler, settings: unknown): Promise<object> {
  const extensions = settings === undefined ? {} : { extensions: { [ID]: settings as object } }
  return lastMessage(await postModern(handle, 'search/query', {}, extensions as never))
}

/** The extensions that a client with these options declares. */
async function declaredBy(options: Parameters<typeof connectInMemory>[1]): Promise<object> {
  const server = createServer({ name: 's', version: '1' })
  let declared: object | undefined
  server.tool('see', {}, (_args, ctx) => void (declared = ctx.client.capabilities?.extensions))
  await using client = await connectInMemory(server, options)
  await client.callTool('see')
  return declared ?? {}
}

const found = (revision: string): object =>
  expect.objectContaining({ result: expect.objectContaining({ found: revision }) })
const refused = (required: object = {}): object =>
  expect.objectContaining({
    error: expect.objectContaining({
      code: -32021,
      data: { requiredCapabilities: { extensions: { [ID]: required } } },
    }),
  })

describe('The revision of an extension', () => {
  it('is written into the settings of server and client, the newest for all [E-EXT-018] [E-EXT-022] [E-EXT-028]', async () => {
    const options = { id: ID, revisions: ['2', '1'], settings: { facets: true } }
    const server = createServer({ name: 's', version: '1' })
    server.extend(serverExtension(options))
    const handle = createHandler(server)
    const bodies: string[] = []
    const fetch = (url: string, init: RequestInit): Promise<Response> => {
      bodies.push(String(init.body))
      return handle(new Request(url, init))
    }
    const settings = { ...options.settings, revision: '2' }
    const extensions = [clientExtension({ ...options, settings })]
    await using client = await connect('https://s.example/mcp', { fetch, extensions })
    await client.request('search/query').catch(() => {})
    const declared = { [ID]: { facets: true, revision: '2' } }
    expect(client.serverCapabilities?.extensions).toEqual(declared)
    for (const body of bodies) expect(body).toContain(JSON.stringify(declared))
    expect(bodies.length).toBeGreaterThan(1)
  })

  it('is a text [E-EXT-018]', () => {
    const server = createServer({ name: 's', version: '1' })
    const extend = (options: object) => () => server.extend(serverExtension({ id: ID, ...options }))
    expect(extend({ settings: { revision: 2 } })).toThrow(
      `The revisions of "${ID}" must be strings`,
    )
    expect(extend({ revisions: [2] })).toThrow('must be strings')
  })

  it('is the first one if it is not named [E-EXT-019]', async () => {
    expect(await query(searching(), {})).toEqual(found(''))
    expect(await query(searching({ revisions: ['2', ''] }), {})).toEqual(found(''))
    expect(await query(searching({ revisions: ['2'] }), {})).toEqual(refused({ revision: '2' }))
  })

  it.each([
    [['a'], 'a', 'a'],
    [['a'], 'b', undefined],
    [['b', 'a'], 'a', 'a'],
    [['b', 'a'], 'b', 'b'],
    [['b', 'a'], 'c', undefined],
    [['b', 'a'], undefined, undefined],
    [['b', 'a', ''], undefined, ''],
  ])(
    'of a server with %j and a client with %s is %s [E-EXT-020] [E-EXT-021]',
    async (revisions, declared, expected) => {
      const settings = declared === undefined ? {} : { revision: declared }
      const answer = await query(searching({ revisions }), settings)
      expect(answer).toEqual(
        expected === undefined ? refused({ revision: revisions[0] }) : found(expected),
      )
    },
  )

  it('is unknown if it is not a text [E-EXT-023]', async () => {
    for (const revision of [2, null, true, ['a'], {}]) {
      expect(await query(searching(), { revision })).toEqual(refused())
      expect(await query(searching({ revisions: ['2', ''] }), { revision })).toEqual(
        refused({ revision: '2' }),
      )
    }
  })

  it('is ignored for an extension that has none [E-EXT-024]', async () => {
    expect(await query(searching({ revisions: false }), { revision: '9' })).toEqual(found(''))
    const server = createServer({ name: 's', version: '1' })
    appResource(server, 'ui://a', { name: 'a' }, '<!doctype html>')
    const ui = {
      extensions: {
        'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'], revision: '9' },
      },
    }
    const answer = await lastMessage(
      await postModern(createHandler(server), 'resources/list', {}, ui),
    )
    expect(answer).toHaveProperty('result.resources.0.uri', 'ui://a')
  })

  it('turns the extension off with the error of an undeclared one, in both eras [E-EXT-020] [E-EXT-025]', async () => {
    const handle = searching({ revisions: ['2'] })
    const modern = await query(handle, { revision: 'zz' })
    expect(modern).toEqual(refused({ revision: '2' }))
    expect(modern).toHaveProperty(
      'error.message',
      expect.stringContaining('revision \\"zz\\"'.replaceAll('\\', '')),
    )
    const { send } = await openSession(handle, '2025-11-25', {
      extensions: { [ID]: { revision: 'zz' } },
    })
    const legacy = await lastMessage(await send({ jsonrpc: '2.0', id: 1, method: 'search/query' }))
    expect(legacy).toHaveProperty('error.code', -32601)
    const known = await openSession(handle, '2025-11-25', {
      extensions: { [ID]: { revision: '2' } },
    })
    expect(
      await lastMessage(await known.send({ jsonrpc: '2.0', id: 1, method: 'search/query' })),
    ).toEqual(found('2'))
  })

  it('is the only setting that turns an extension off [E-EXT-026]', async () => {
    expect(await query(searching(), { future: 1, version: 'x', enabled: false })).toEqual(found(''))
  })

  it('is read from each request [E-EXT-027]', async () => {
    const handle = searching({ revisions: ['2', '1'] })
    expect(await query(handle, { revision: '2' })).toEqual(found('2'))
    expect(await query(handle, { revision: '3' })).toEqual(refused({ revision: '2' }))
    expect(await query(handle, { revision: '1' })).toEqual(found('1'))
  })

  it('of a server that a client does not know turns the client’s part off [E-EXT-020]', async () => {
    const completed: unknown[] = []
    const sent: string[] = []
    const extension = clientExtension({
      id: ID,
      send: ({ method }) => void sent.push(method),
      resultTypes: {
        found: (_result, { method }) => ({ content: [], completed: completed.push(method) }),
      },
    })
    const callWith = async (settings: object): Promise<unknown> => {
      const peer = modernPeer((request) => result(request, { resultType: 'found' }), {
        ...everything,
        extensions: { [ID]: settings },
      })
      await using client = await connect('https://s.example/mcp', {
        fetch: peer.fetch,
        extensions: [extension],
      })
      return await client.callTool('search')
    }
    const error: unknown = await callWith({ revision: 'zz' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'CAPABILITY_MISSING',
      message: `The client does not support revision "zz" of "${ID}"`,
    })
    expect([completed, sent]).toEqual([[], []])
    expect(await callWith({ future: 1 })).toMatchObject({ completed: 1 })
    expect(sent).toEqual(['tools/call'])
  })
})

describe('The declaration of an extension', () => {
  it.each([
    ['nobody', false, undefined, -32601],
    ['the client', false, {}, -32601],
    ['the client in another revision', false, { revision: 'zz' }, -32601],
    ['the server', true, undefined, -32021],
    ['both', true, {}, undefined],
    ['both in different revisions', true, { revision: 'zz' }, -32021],
    ['the server, and the client by a value that is not an object', true, true, -32021],
  ])(
    'by %s has the right outcome [E-EXT-016] [E-EXT-029]',
    async (_who, offered, declared, code) => {
      const without = createHandler(createServer({ name: 's', version: '1' }))
      const answer = await query(offered ? searching() : without, declared)
      if (code === undefined) expect(answer).toEqual(found(''))
      else expect(answer).toHaveProperty('error.code', code)
    },
  )

  it('is needed from both sides for tasks, and from the server alone for skills [E-EXT-030]', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.extend(tasks())
    server.extend(skills([{ files: SKILL }]))
    const handle = createHandler(server)
    const task = await lastMessage(await postModern(handle, 'tasks/get', { taskId: 'x' }))
    expect(task).toHaveProperty('error.code', -32021)
    const listed = await lastMessage(await postModern(handle, 'skills/list'))
    expect(listed).toHaveProperty('result.skills')
    expect(searching({ serverOnly: true })).toBeDefined()
    expect(await query(searching({ serverOnly: true }), undefined)).toEqual(found(''))
    expect(await query(searching({ serverOnly: true }), { revision: 'zz' })).toEqual(refused())
  })

  it('is made by nobody by default [E-EXT-003]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const bodies: string[] = []
    const handle = createHandler(server)
    const fetch = (url: string, init: RequestInit): Promise<Response> => {
      bodies.push(String(init.body))
      return handle(new Request(url, init))
    }
    await using client = await connect('https://s.example/mcp', { fetch })
    expect(client.serverCapabilities).not.toHaveProperty('extensions')
    expect(bodies.join()).not.toContain('"extensions"')
  })

  it('has settings without an envelope [E-EXT-017]', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.extend(tasks())
    server.extend(skills([{ files: SKILL }]))
    appResource(server, 'ui://a', { name: 'a' }, '<!doctype html>')
    const client = await connectInMemory(server)
    const own = await declaredBy({ extensions: [taskPolling(), appsClient()] })
    const declared = [client.serverCapabilities?.extensions ?? {}, own].flatMap(Object.values)
    expect(declared).toHaveLength(5)
    for (const settings of declared) {
      for (const member of ['config', 'version', 'specVersion', 'stability', 'id']) {
        expect(settings).not.toHaveProperty(member)
      }
    }
  })

  it('is read safely, whatever it contains [E-EXT-010]', async () => {
    const random = new Random(20)
    const handle = searching({ revisions: ['2', ''] })
    const value = (depth: number): unknown => {
      if (depth === 0 || random.chance(0.4))
        return random.pick([null, true, 0, -1.5, '', '2', 'zz', []])
      const members = random.list(3, () => [
        random.pick(['revision', '__proto__', 'x']),
        value(depth - 1),
      ])
      return random.chance(0.3) ? members : Object.fromEntries(members as [string, unknown][])
    }
    for (let count = 0; count < 200; count++) {
      const answer = await query(handle, value(3))
      const { error, result: done } = answer as { error?: { code: number }; result?: object }
      expect(done !== undefined || [-32021, -32602, -32600].includes(error?.code ?? 0)).toBe(true)
    }
  })
})

describe('The id of an extension', () => {
  it('has a prefix [E-EXT-013]', () => {
    const server = createServer({ name: 's', version: '1' })
    for (const id of ['search', '/x', 'com.example/', '1a.b/x', 'a b/x', 'com.example/x/y']) {
      expect(() => server.extend(serverExtension({ id }))).toThrow('is not an extension id')
      expect(() => clientExtension({ id })).toThrow('is not an extension id')
    }
    expect(() => server.extend(serverExtension({ id: ID }))).not.toThrow()
  })

  it('is not that of an official extension which does not exist [E-EXT-014]', () => {
    const warnings: string[] = []
    const onError = (error: unknown): number => warnings.push(String(error))
    const server = createServer({ name: 's', version: '1' }, { onError })
    server.extend(tasks())
    server.extend(serverExtension({ id: ID }))
    expect(warnings).toEqual([])
    server.extend(serverExtension({ id: 'io.modelcontextprotocol/x' }))
    expect(warnings).toEqual([expect.stringContaining('the prefix of official extensions')])
  })

  it('is compared with upper and lower case [E-EXT-015]', async () => {
    const server = createServer({ name: 's', version: '1' })
    for (const id of ['com.example/Search', ID]) server.extend(serverExtension({ id }))
    const { serverCapabilities } = await connectInMemory(server)
    expect(Object.keys(serverCapabilities?.extensions ?? {})).toEqual(['com.example/Search', ID])
    const answer = await postModern(
      searching(),
      'search/query',
      {},
      { extensions: { 'com.example/Search': {} } },
    )
    expect(await lastMessage(answer)).toHaveProperty('error.code', -32021)
  })

  it('contains no version [E-EXT-006]', () => {
    const all = Object.values(ids)
    expect(all.length).toBeGreaterThan(1)
    for (const id of all) expect(id).toMatch(/^io\.modelcontextprotocol\/[a-z-]+$/)
  })
})

describe('The stage of an extension', () => {
  it('decides nothing in how it is negotiated [E-EXT-002]', () => {
    const files = ['src/server/composition', 'src/client'].flatMap((folder) =>
      readdirSync(join(root, folder)).map((file) => join(root, folder, file)),
    )
    for (const file of files.filter((path) => path.endsWith('.ts'))) {
      const code = readFileSync(file, 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')
      expect(code, file).not.toMatch(/\b(?:experimental|beta|stable|stage)\b/i)
    }
  })

  it('changes no accepted settings of the Stable extension for apps [E-EXT-007]', async () => {
    const server = createServer({ name: 's', version: '1' })
    appResource(server, 'ui://a', { name: 'a' }, '<!doctype html>')
    const accepted = async (revision: '2026-07-28' | '2025-11-25'): Promise<unknown> =>
      (await connectInMemory(server, { revision })).serverCapabilities?.extensions
    const settings = { 'io.modelcontextprotocol/ui': {} }
    expect([await accepted('2026-07-28'), await accepted('2025-11-25')]).toEqual([
      settings,
      settings,
    ])
    expect(await declaredBy({ extensions: [appsClient()] })).toEqual({
      'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] },
    })
  })

  it('lets the extension know the protocol’s revision, and limit itself to an era [E-EXT-008] [E-EXT-009]', async () => {
    expect(await query(searching(), {})).toHaveProperty('result.in', '2026-07-28')
    const declared = { extensions: { [ID]: {} } }
    const old = await openSession(searching(), '2025-06-18', declared)
    const ask = { jsonrpc: '2.0', id: 1, method: 'search/query' }
    expect(await lastMessage(await old.send(ask))).toHaveProperty('result.in', '2025-06-18')
    const modernOnly = await openSession(searching({ era: 'modern' }), '2025-06-18', declared)
    expect(await lastMessage(await modernOnly.send(ask))).toHaveProperty('error.code', -32601)
    expect(await query(searching({ era: 'legacy' }), {})).toHaveProperty('error.code', -32601)
  })

  it('may end in the core, after which requests need no declaration [E-EXT-011]', async () => {
    const handle = searching({ coreSince: '2026-07-28' })
    expect(await query(handle, undefined)).toEqual(found(''))
    const old = await openSession(handle, '2025-11-25')
    const ask = { jsonrpc: '2.0', id: 1, method: 'search/query' }
    expect(await lastMessage(await old.send(ask))).toHaveProperty('error.code', -32601)
    const declaring = await openSession(handle, '2025-11-25', { extensions: { [ID]: {} } })
    expect(await lastMessage(await declaring.send(ask))).toEqual(found(''))
  })

  it.each([
    [undefined, true],
    [['2025-11-25', '2026-07-28'], true],
    ['2026-07-28', false],
    [['2026-07-28'], false],
  ] as const)(
    'of the core is declared by a client of %j: %s [E-EXT-012]',
    async (revision, isDeclared) => {
      const extension = clientExtension({ id: ID, coreSince: '2026-07-28' })
      const limited = revision !== undefined && { revision }
      const declared = await declaredBy({ extensions: [extension], ...limited })
      expect(declared).toEqual(isDeclared ? { [ID]: {} } : {})
    },
  )
})
