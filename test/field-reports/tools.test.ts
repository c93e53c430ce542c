/** Public reports of tools, their schemas and results that went wrong, replayed. */
import { Validator } from '@cfworker/json-schema'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { jsonSchema } from '../../src/json-schema/index.ts'
import { connect } from '../../src/presets/client.ts'
import { ProtocolError, type JsonObject } from '../../src/index.ts'
import type { StandardSchema } from '../../src/protocol/standard-schema.ts'
import { createServer, type Server } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { connectTo, legacyPeer, modernPeer, result } from '../client/peers.ts'
import { lastMessage, openSession, postModern } from '../transport/streamable-http/post.ts'

const tree: z.ZodType = z.object({ name: z.string(), children: z.array(z.lazy(() => tree)) })

const circle = z.object({ kind: z.literal('circle'), r: z.number() })
const square = z.object({ kind: z.literal('square'), side: z.number() })

/** Schemas with arguments that fit and arguments that do not. */
const schemas: [name: string, schema: StandardSchema, good: JsonObject[], bad: JsonObject[]][] = [
  [
    'an object of everything',
    z.object({
      optional: z.string().optional(),
      defaulted: z.number().default(1),
      nullable: z.string().nullable(),
      record: z.record(z.string(), z.number()),
      choice: z.enum(['a', 'b']),
      nested: z.object({ inner: z.boolean().optional() }).optional(),
    }),
    [
      { nullable: null, record: {}, choice: 'a' },
      { nullable: 'x', record: { n: 1 }, choice: 'b', nested: {}, defaulted: 2, optional: '' },
    ],
    [{}, { nullable: null, record: { n: 'x' }, choice: 'a' }, { nullable: 1, record: {} }],
  ],
  ['a union', z.union([circle, square]), [{ kind: 'circle', r: 1 }], [{}, { kind: 'circle' }]],
  [
    'a discriminated union',
    z.discriminatedUnion('kind', [circle, square]),
    [{ kind: 'square', side: 1 }],
    [{}, { kind: 'square', r: 1 }, { kind: 'other' }],
  ],
  [
    'an intersection',
    z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
    [{ a: '', b: '' }],
    [{ a: '' }],
  ],
  [
    'a transform',
    z.object({ n: z.string() }).transform(({ n }) => ({ n: Number(n) })),
    [{ n: '1' }],
    [{ n: 1 }, {}],
  ],
  [
    'a pipe',
    z.object({ n: z.string().transform(Number).pipe(z.number()) }),
    [{ n: '1' }],
    [{ n: 1 }],
  ],
  ['a refinement', z.object({ n: z.number() }).refine(() => true), [{ n: 1 }], [{ n: 'x' }]],
  [
    'a recursive object',
    tree,
    [{ name: '', children: [{ name: '', children: [] }] }],
    [{ name: '', children: [{}] }],
  ],
  ['an empty object', z.object({}), [{}, { extra: 1 }], []],
  ['a strict object', z.strictObject({}), [{}], [{ extra: 1 }]],
  [
    'raw JSON Schema',
    jsonSchema({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }),
    [{ a: '' }, { a: '', extra: 1 }],
    [{}, { a: 1 }],
  ],
]

describe('the arguments of a tool', () => {
  it.each(schemas)(
    'are validated against the advertised schema: %s [B063]',
    async (_, input, good, bad) => {
      const server = createServer({ name: 's', version: '1' })
      server.tool('t', { input }, () => 'ok')
      await using client = await connectInMemory(server, { revision: '2025-11-25' })
      const [tool] = await client.listAllTools()
      expect(tool?.inputSchema.type).toBe('object')
      const validator = new Validator(tool?.inputSchema as object, '2020-12')
      for (const args of good) {
        expect([args, validator.validate(args).valid]).toEqual([args, true])
        expect([args, await client.callTool('t', args)]).toEqual([args, { content: [ok] }])
      }
      for (const args of bad) {
        expect([args, validator.validate(args).valid]).toEqual([args, false])
        expect(await client.callTool('t', args)).toMatchObject({ isError: true })
      }
    },
  )

  const ok = { type: 'text', text: 'ok' }

  it.each([
    ['text', z.string()],
    ['an array', z.array(z.object({}))],
    ['a union of texts', z.union([z.string(), z.literal('x')])],
    ['what JSON Schema cannot say', z.object({ when: z.date() })],
  ])('cannot be described by a schema that is not of an object: %s [B063]', (kind, input) => {
    const server = createServer({ name: 's', version: '1' })
    expect(() => server.tool('t', { input }, () => 'x')).toThrow()
    if (kind !== 'what JSON Schema cannot say') {
      expect(() => server.prompt('p', { input }, () => 'x')).toThrow(TypeError)
    }
  })

  it.each(['2025-06-18', '2025-11-25', '2026-07-28'] as const)(
    'are neither advertised nor passed on without a schema, in %s [I012] [B065]',
    async (revision) => {
      const server = createServer({ name: 's', version: '1' })
      const taken: unknown[] = []
      server.tool('t', {}, (args) => `${taken.push(args)}`)
      await using client = await connectInMemory(server, { revision })
      const [tool] = await client.listAllTools()
      expect(tool?.inputSchema).toEqual({ type: 'object', additionalProperties: false })
      expect((await client.callTool('t')).isError).toBeUndefined()
      expect((await client.callTool('t', {})).isError).toBeUndefined()
      expect((await client.callTool('t', { extra: 1 })).isError).toBeUndefined()
      expect(taken).toEqual([{}, {}, {}])
    },
  )
})

describe('structured content', () => {
  it.each<[unknown, string]>([
    [{ a: 1 }, '{"a":1}'],
    [[1], '[1]'],
    ['x', '"x"'],
    [null, 'null'],
    [0, '0'],
    [false, 'false'],
  ])('is repeated as text when there is no other: %j [B067]', async (structuredContent, said) => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('t', {}, () => ({ structuredContent }))
    for (const revision of ['2025-11-25', '2026-07-28'] as const) {
      await using client = await connectInMemory(server, { revision })
      const answer = await client.callTool('t')
      expect(answer.content).toEqual([{ type: 'text', text: said }])
      const known = revision === '2026-07-28' || said.startsWith('{')
      expect(answer.structuredContent).toEqual(known ? structuredContent : undefined)
    }
  })

  it.each<[JsonObject, unknown]>([
    [{ structuredContent: { a: 1 } }, { content: [], structuredContent: { a: 1 } }],
    [{ structuredContent: [1] }, { content: [], structuredContent: [1] }],
    [{ content: [] }, { content: [] }],
    [{}, 'INVALID_MESSAGE'],
    [{ toolResult: 1 }, 'INVALID_MESSAGE'],
    [{ content: 'x' }, 'INVALID_MESSAGE'],
  ])('without content is taken, and nothing else: %j [B067]', async (answer, expected) => {
    for (const peer of [legacyPeer, modernPeer]) {
      const server = peer((request) => result(request, answer))
      const revision = peer === legacyPeer ? '2025-11-25' : '2026-07-28'
      await using client = await connectTo(server, { revision })
      const got: unknown = await client.callTool('t').catch((e: unknown) => e)
      if (typeof expected === 'string') expect(got).toMatchObject({ code: expected, data: answer })
      else expect(got).toEqual(expected)
    }
  })

  it('that is an array fails a ping, and nothing else [B067]', async () => {
    const peer = legacyPeer((request) =>
      request.message.method === 'ping'
        ? result(request, [] as unknown as JsonObject)
        : result(request, { content: [] }),
    )
    await using client = await connectTo(peer, { revision: '2025-11-25' })
    await expect(client.ping()).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    expect(await client.callTool('t')).toEqual({ content: [] })
  })
})

describe('calls that fail', () => {
  function failing(): Server {
    const server = createServer({ name: 's', version: '1' })
    const input = z.object({ n: z.number() })
    server.tool('known', { input }, () => 'x')
    server.tool('disabled', { input }, () => 'x').disable()
    server.tool('throws', {}, () => {
      throw new Error('secret')
    })
    server.tool('refuses', {}, () => {
      throw new ProtocolError(1234, 'On purpose', { why: 1 })
    })
    return server
  }

  it.each<[JsonObject, object]>([
    [{ name: 'unknown' }, { error: { code: -32602 } }],
    [{ name: 'disabled', arguments: { n: 1 } }, { error: { code: -32602 } }],
    [{ name: 'known', arguments: { n: 'x' } }, { result: { isError: true } }],
    [{ name: 'known' }, { result: { isError: true } }],
    [{ name: 'known', arguments: [1] }, { error: { code: -32602 } }],
    [{ name: 'known', arguments: 'x' }, { error: { code: -32602 } }],
    [{ name: 'throws' }, { result: { isError: true } }],
    [{ name: 'refuses' }, { error: { code: 1234, message: 'On purpose', data: { why: 1 } } }],
    [{}, { error: { code: -32602 } }],
    [{ name: 5 }, { error: { code: -32602 } }],
  ])('with the params %j are answered with %j [B069]', async (params, expected) => {
    const handle = sessionHandler(failing())
    const { send } = await openSession(handle)
    const old = await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    expect(await lastMessage(old)).toMatchObject(expected)
    expect(await lastMessage(await postModern(handle, 'tools/call', params))).toMatchObject(
      expected,
    )
  })
})

describe('names of tools', () => {
  const names = [
    'a.b-c_1',
    'user/profile',
    'x'.repeat(128),
    'x'.repeat(129),
    'naïve',
    'with space',
    '',
    'Case',
    'case',
    '__proto__',
    ' padded ',
    'tab\tbed',
    '=?base64?eA==?=',
  ]

  it('are advice: all can be listed and called, in every era [B071]', async () => {
    const server = createServer({ name: 's', version: '1' })
    for (const name of names) server.tool(name, {}, () => `I am ${name}`)
    const handle = sessionHandler(server)
    for (const revision of ['2025-11-25', '2026-07-28'] as const) {
      const peer = { fetch: (url: string, init: RequestInit) => handle(new Request(url, init)) }
      await using client = await connect('http://localhost/mcp', { ...peer, revision })
      expect((await client.listAllTools()).map(({ name }) => name)).toEqual(names)
      for (const name of names) {
        const { content } = await client.callTool(name)
        expect(content).toEqual([{ type: 'text', text: `I am ${name}` }])
      }
    }
  })

  it('that are already registered are rejected [B071]', () => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('a', {}, () => 'x')
    expect(() => server.tool('a', {}, () => 'x')).toThrow(TypeError)
  })
})
