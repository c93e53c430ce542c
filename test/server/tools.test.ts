import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { ToolReturn } from '../../src/server/features/tool-result.ts'
import type { ReadRequest } from '../../src/server/features/resources.ts'
import {
  ProtocolError,
  revisions,
  type JsonObject,
  type Revision,
  type StandardSchema,
} from '../../src/index.ts'
import {
  audio,
  createServer,
  image,
  json,
  rateLimit,
  toolError,
  createHandler,
  text,
} from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { connect } from '../../src/presets/client.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { contents } from '../protocol/rich.ts'
import { lastMessage, openSession, post, postModern } from '../transport/streamable-http/post.ts'
import { makeRichServer } from '../traffic/server.ts'
import { openWire } from './wire.ts'

const LEGACY = revisions.filter(({ era }) => era === 'legacy').map(({ version }) => version)
const info = { name: 's', version: '1' }

/** A schema that returns the given JSON Schema. */
function schemaOf(jsonSchema: unknown): StandardSchema {
  const give = (): Record<string, unknown> => jsonSchema as Record<string, unknown>
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => ({ value }),
      jsonSchema: { input: give, output: give },
    },
  }
}

describe.each(LEGACY)('tools in %s', (revision) => {
  it('are offered if there are any, and are an unknown method otherwise [L-TOOL-001]', async () => {
    const server = createServer(info)
    const without = await openWire(server, revision)
    expect(without.welcome.capabilities).not.toHaveProperty('tools')
    expect(await without.code('tools/list')).toBe(-32601)
    expect(await without.code('tools/call', { name: 'a' })).toBe(-32601)
    server.tool('a', {}, () => 'a')
    const withTools = await openWire(server, revision)
    expect(withTools.welcome.capabilities).toHaveProperty('tools')
    expect(await withTools.result('tools/list')).toMatchObject({ tools: [{ name: 'a' }] })
  })

  it('are listed as an array, and an empty one when all are gone [L-TOOL-003]', async () => {
    const server = createServer(info)
    const tool = server.tool('a', {}, () => 'a')
    const wire = await openWire(server, revision)
    tool.remove()
    expect(await wire.result('tools/list')).toEqual({ tools: [] })
  })

  it('without arguments have an object schema, and none has a boolean as a property [L-TOOL-008]', async () => {
    const server = createServer(info)
    server.tool('none', {}, () => 'a')
    const properties = { any: true, never: false, n: { type: 'number' } }
    server.tool('odd', { input: schemaOf({ type: 'object', properties }) }, () => 'a')
    const { tools } = await (await openWire(server, revision)).result('tools/list')
    expect(tools).toEqual([
      { name: 'none', inputSchema: { type: 'object', additionalProperties: false } },
      {
        name: 'odd',
        inputSchema: {
          type: 'object',
          properties: { any: {}, never: { not: {} }, n: { type: 'number' } },
        },
      },
    ])
  })

  it('keep "$schema" [L-TOOL-010]', async () => {
    const server = createServer(info)
    const $schema = 'https://json-schema.org/draft/2020-12/schema'
    const schema = schemaOf({ $schema, type: 'object' })
    server.tool('a', { input: schema, output: schema }, () => ({ structuredContent: {} }))
    const wire = await openWire(server, revision)
    const [tool] = (await wire.result('tools/list')).tools as Record<string, { $schema: string }>[]
    expect(tool?.inputSchema?.$schema).toBe($schema)
    if (revision >= '2025-06-18') expect(tool?.outputSchema?.$schema).toBe($schema)
  })

  it.each([
    {},
    { name: 7 },
    { name: null },
    { name: 'a', arguments: [] },
    { name: 'a', arguments: 'x' },
    { name: 'a', arguments: null },
  ])('called with the params %j are answered with -32602 [L-TOOL-015]', async (params) => {
    const server = createServer(info)
    server.tool('a', { input: z.object({}) }, () => 'a')
    const wire = await openWire(server, revision)
    expect(await wire.code('tools/call', params as never)).toBe(-32602)
  })

  it('get {} when the call has no arguments [L-TOOL-016]', async () => {
    const server = createServer(info)
    const seen: unknown[] = []
    server.tool('a', { input: z.object({ b: z.string().optional() }) }, (args) => {
      seen.push(args)
      return 'a'
    })
    server.tool('none', {}, (args) => void seen.push(args) as never)
    const wire = await openWire(server, revision)
    await wire.result('tools/call', { name: 'a' })
    await wire.result('tools/call', { name: 'none' })
    expect(seen).toEqual([{}, {}])
  })

  it('are not run with arguments that their schema refuses [L-TOOL-029]', async () => {
    const server = createServer(info)
    let runs = 0
    server.tool('a', { input: z.object({ n: z.number().max(3) }) }, () => `${++runs}`)
    const wire = await openWire(server, revision)
    for (const n of ['1', 4, null, undefined]) {
      await wire.request('tools/call', { name: 'a', arguments: { n } })
    }
    expect(runs).toBe(0)
    await wire.result('tools/call', { name: 'a', arguments: { n: 3 } })
    expect(runs).toBe(1)
  })

  it('always give content, of the kinds that the client knows [L-TOOL-020]', async () => {
    const server = createServer(info)
    server.tool('all', {}, () => [...contents])
    server.tool('empty', {}, () => ({ content: [] }))
    server.tool('nothing', {}, () => undefined as never)
    server.tool('structured', {}, () => ({ structuredContent: { a: 1 } }))
    const wire = await openWire(server, revision)
    const call = async (name: string): Promise<{ type: string }[]> =>
      (await wire.result('tools/call', { name })).content as { type: string }[]
    const known = ['text', 'image', 'resource']
    if (revision >= '2025-03-26') known.push('audio')
    if (revision >= '2025-06-18') known.push('resource_link')
    const types = (await call('all')).map(({ type }) => type)
    expect(types).toHaveLength(contents.length)
    expect(new Set(types)).toEqual(new Set(known))
    expect(await call('empty')).toEqual([])
    expect(await call('nothing')).toEqual([])
    expect(await call('structured')).toEqual([{ type: 'text', text: '{"a":1}' }])
  })

  it('give objects as structured content; anything else is text [L-TOOL-022]', async () => {
    const server = createServer(info)
    server.tool('list', {}, () => json([1, 2]))
    server.tool('bare', {}, () => ({ structuredContent: 7, content: [] }))
    const wire = await openWire(server, revision)
    for (const [name, said] of Object.entries({ list: '[1,2]', bare: '7' })) {
      const result = await wire.result('tools/call', { name })
      expect(result).toEqual({ content: [{ type: 'text', text: said }] })
    }
  })

  it('never send structured content that their schema refuses [L-TOOL-024]', async () => {
    const server = createServer(info)
    const output = z.object({ n: z.number() })
    server.tool('wrong', { output }, () => ({ structuredContent: { n: 'secret' as never } }))
    server.tool('missing', { output }, () => text('no structure'))
    server.tool('also', { output }, () => ({ content: [text('no structure')] }))
    server.tool('failed', { output }, () => ({ content: [text('sorry')], isError: true }))
    const wire = await openWire(server, revision)
    for (const name of ['wrong', 'also']) {
      const response = await wire.request('tools/call', { name })
      expect(response.error?.code, name).toBe(-32603)
      expect(JSON.stringify(response)).not.toContain('secret')
    }
    for (const name of ['missing', 'failed']) {
      const result = await wire.result('tools/call', { name })
      expect(result).toMatchObject({ isError: true })
      expect(result).not.toHaveProperty('structuredContent')
    }
  })

  it('show an output schema only if it is one of objects [L-TOOL-026]', async () => {
    const server = createServer(info)
    server.tool('list', { output: z.array(z.number()) }, () => ({ structuredContent: [1] }))
    server.tool('object', { output: z.object({}) }, () => ({ structuredContent: {} }))
    const { tools } = await (await openWire(server, revision)).result('tools/list')
    const shown = (tools as { outputSchema?: object }[]).map(({ outputSchema }) => outputSchema)
    expect(shown[0]).toBeUndefined()
    if (revision >= '2025-06-18') expect(shown[1]).toMatchObject({ type: 'object' })
    else expect(shown[1]).toBeUndefined()
  })

  it('are described with the fields of the revision [L-TOOL-038]', async () => {
    const { server } = makeRichServer()
    const wire = await openWire(server, revision)
    const [tool, structured] = (await wire.result('tools/list')).tools as Record<string, object>[]
    const members = ['description', 'inputSchema', 'name']
    if (revision >= '2025-03-26') members.push('annotations')
    if (revision >= '2025-06-18') members.push('_meta', 'title')
    if (revision >= '2025-11-25') members.push('icons')
    expect(Object.keys(tool ?? {}).toSorted()).toEqual(members.toSorted())
    expect('outputSchema' in (structured ?? {})).toBe(revision >= '2025-06-18')
  })
})

describe('a tool', () => {
  it.each([null, [], true, { type: 'string' }, {}])(
    'whose input schema is %j is refused at registration [L-TOOL-007]',
    (schema) => {
      const server = createServer(info)
      const register = (): unknown => server.tool('a', { input: schemaOf(schema) }, () => 'a')
      expect(register).toThrow('The input of the tool "a" must be an object schema')
    },
  )

  it('whose content is not Base64, or has no type, fails where the content is created [L-TOOL-021] [L-PROM-008] [L-PROM-009]', () => {
    for (const make of [image, audio]) {
      expect(make(new Uint8Array([255, 0]), 'image/png').data).toBe('/wA=')
      expect(make('/wA=', 'image/svg+xml').data).toBe('/wA=')
      for (const data of ['no', 'a_b=', '/wA', 'a b=', 'data:,a']) {
        expect(() => make(data, 'image/png'), data).toThrow('Base64')
      }
      for (const type of ['', 'png', 'image/', '/png', 'a b/c']) {
        expect(() => make('/wA=', type), type).toThrow('MIME')
      }
    }
  })

  it('is available to callers who may use it, and receives the caller [L-TOOL-030]', async () => {
    const server = createServer(info)
    const visible = ({ principal }: { principal?: string | undefined }): boolean =>
      principal === 'ada'
    server.tool(
      'secret',
      { visible },
      (_args, ctx) => `${ctx.principal} ${String(ctx.auth?.scopes)}`,
    )
    for (const principal of ['ada', 'bob', undefined]) {
      const caller = { principal, auth: { scopes: ['token'] } }
      const wire = await openWire(server, '2025-11-25', {}, { caller })
      const { tools } = await wire.result('tools/list')
      const response = await wire.request('tools/call', { name: 'secret' })
      expect(tools).toHaveLength(principal === 'ada' ? 1 : 0)
      if (principal === 'ada') {
        expect(response.result).toMatchObject({ content: [{ text: 'ada token' }] })
      } else expect(response.error?.code).toBe(-32602)
    }
  })

  it('can be called only so often by each principal [L-TOOL-031] [L-COMP-010]', async () => {
    const server = createServer(info)
    server.tool('a', {}, () => 'a')
    server.prompt(
      'p',
      { input: z.object({ x: z.string() }), complete: { x: () => ['1'] } },
      () => '',
    )
    server.use('tools/call', rateLimit({ requests: 2, perMs: 60_000 }))
    server.use('completion/complete', rateLimit({ requests: 1, perMs: 60_000 }))
    const handle = sessionHandler(server)
    const send = async (principal: string) => {
      const as = Object.assign((request: Request) => handle(request, { principal }), handle)
      return (await openSession(as)).send
    }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } }
    const ada = await send('ada')
    for (const code of [undefined, undefined, 429]) {
      const { error } = await lastMessage(await ada(call))
      expect(error?.code).toBe(code)
      if (code) expect((error?.data as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(0)
    }
    const bob = await send('bob')
    expect((await lastMessage(await bob(call))).error).toBeUndefined()
    const ref = { type: 'ref/prompt', name: 'p' }
    const params = { ref, argument: { name: 'x', value: '' } }
    const complete = { ...call, method: 'completion/complete', params }
    expect((await lastMessage(await bob(complete))).error).toBeUndefined()
    expect((await lastMessage(await bob(complete))).error?.code).toBe(429)
    await handle.close()
  })

  it('with an output schema may return toolError instead of structured content [P004]', async () => {
    const server = createServer(info)
    const output = z.object({ price: z.number() })
    server.tool('quote', { input: z.object({ city: z.string() }), output }, ({ city }) =>
      // That this compiles is half of the test
      city === 'Oslo' ? { structuredContent: { price: 240 } } : toolError(`No way to ${city}`),
    )
    server.tool('ask', { output }, async () => toolError('Not now'))
    await using client = await connectInMemory(server)
    expect((await client.callTool('quote', { city: 'Oslo' })).structuredContent).toEqual({
      price: 240,
    })
    const failed = { isError: true, content: [{ type: 'text', text: 'No way to Rome' }] }
    expect(await client.callTool('quote', { city: 'Rome' })).toMatchObject(failed)
    expect(await client.callTool('ask')).toMatchObject({ isError: true })
  })

  it.each(['2025-11-25', '2026-07-28'] as const)(
    'beyond a rate limit answers HTTP 429 with Retry-After in %s [E-EXT-074]',
    async (revision) => {
      for (const [options, code] of [
        [{}, 429],
        [{ code: -32023 }, -32023],
      ] as const) {
        const server = createServer(info)
        server.tool('a', {}, async (_args, ctx) => {
          await ctx.progress(1)
          return 'a'
        })
        server.use('tools/call', rateLimit({ requests: 1, perMs: 60_000, ...options }))
        const handle = createHandler(server)
        const call = (): Promise<Response> => {
          if (revision === '2026-07-28') return postModern(handle, 'tools/call', { name: 'a' })
          const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } }
          return post(handle, message, { 'mcp-protocol-version': revision })
        }
        expect((await call()).status).toBe(200)
        const refused = await call()
        expect(refused.status).toBe(429)
        const { error } = await lastMessage(refused)
        expect(error).toMatchObject({ code, message: 'Too many requests' })
        const { retryAfterMs } = error.data as { retryAfterMs: number }
        expect(refused.headers.get('retry-after')).toBe(String(Math.ceil(retryAfterMs / 1000)))
        expect(refused.headers.get('content-type')).toBe('application/json')
        const client = await connect('http://localhost/mcp', {
          revision,
          fetch: (url, init) => handle(new Request(url, init)),
        })
        await expect(client.callTool('a', {})).rejects.toMatchObject({ code, status: 429 })
        await client.close()
      }
    },
  )

  it.each([
    [{ requests: 10, perMS: 1000 }, 'The rate limit has no option "perMS"'],
    [{ requests: 10 }, 'A rate limit needs numbers for "requests" and "perMs"'],
    [{ requests: Number.NaN, perMs: 1000 }, 'A rate limit needs numbers'],
  ])('is not limited by %j, which is refused where it is written [P033]', (options, why) => {
    expect(() => rateLimit(options as never)).toThrow(why)
  })

  it.each([Number.NaN, Infinity, -1, 1e300, '5'])(
    'answers without Retry-After if its error asks to wait for %s ms',
    async (retryAfterMs) => {
      const server = createServer(info)
      server.tool('a', {}, () => {
        throw new ProtocolError(429, 'Not now', { retryAfterMs })
      })
      const response = await postModern(createHandler(server), 'tools/call', { name: 'a' })
      expect([response.status, response.headers.get('retry-after')]).toEqual([200, null])
      expect(await response.json()).toMatchObject({ error: { code: 429 } })
    },
  )

  it('that costs more than what is left of a quota leaves the rest to cheaper requests', async () => {
    const server = createServer(info)
    server.tool('a', {}, () => 'a')
    server.tool('b', {}, () => 'b')
    const costOf = ({ params }: { params: JsonObject }): number => (params.name === 'b' ? 100 : 1)
    server.use('tools/call', rateLimit({ requests: 3, perMs: 60_000, costOf }))
    await using client = await connectInMemory(server)
    await client.callTool('a')
    await expect(client.callTool('b')).rejects.toMatchObject({ code: 429 })
    await client.callTool('a')
    await client.callTool('a')
    for (const name of ['b', 'a']) {
      await expect(client.callTool(name)).rejects.toMatchObject({ code: 429 })
    }
  })

  it('can be rate-limited by any key', async () => {
    const server = createServer(info)
    server.tool('a', {}, () => 'a')
    const keyOf = ({ method }: { method: string }): string => method
    server.use(rateLimit({ requests: 1, perMs: 60_000, keyOf }))
    const handle = sessionHandler(server)
    const as = (principal: string) =>
      openSession(Object.assign((request: Request) => handle(request, { principal }), handle))
    const [ada, bob] = [await as('ada'), await as('bob')]
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } }
    expect((await lastMessage(await ada.send(call))).error).toBeUndefined()
    expect((await lastMessage(await bob.send(call))).error?.code).toBe(429)
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    expect((await lastMessage(await bob.send(list))).error).toBeUndefined()
    await handle.close()
  })

  it('can have its results sanitized, and never exposes the original failure [L-TOOL-032]', async () => {
    const server = createServer(info)
    server.tool('leak', {}, () => 'the key is hunter2')
    server.tool('crash', {}, () => {
      throw new Error('cannot open hunter2')
    })
    server.use('tools/call', async (_request, _ctx, next) => {
      const result = await next()
      return JSON.parse(JSON.stringify(result).replaceAll('key is hunter2', 'key is hidden'))
    })
    const client = await connectInMemory(server, { revision: '2025-11-25' })
    expect(await client.callTool('leak')).toEqual({
      content: [{ type: 'text', text: 'the key is hidden' }],
    })
    expect(JSON.stringify(await client.callTool('crash'))).not.toContain('hunter2')
    await client.close()
  })
})

const everything: Revision[] = revisions.map(({ version }) => version)

describe.each(everything)('any error of a handler in %s', (revision) => {
  it.each([
    'text',
    null,
    undefined,
    7,
    { code: 'ENOENT', message: 3 },
    Object.assign(new Error('no'), { code: 'ENOENT' }),
    [],
    Symbol('s'),
  ])('such as %s becomes an error with a code and a message [L-RPC-009]', async (thrown) => {
    const server = createServer(info, { onError: () => {} })
    server.resource('a:b', { name: 'a' }, () => Promise.reject(thrown))
    const client = await connectInMemory(server, { revision })
    const error: unknown = await client.readResource('a:b').catch((e: unknown) => e)
    expect(error).toMatchObject({ code: -32603, message: 'Internal error' })
    await client.close()
  })
})

describe.each(LEGACY)('results in %s', (revision) => {
  it('are objects: nothing becomes {}, and any other value is an internal error [L-RPC-008]', async () => {
    const server = createServer(info, { onError: () => {} })
    server.tool('a', {}, () => undefined as never)
    const wire = await openWire(server, revision)
    expect(await wire.result('tools/call', { name: 'a' })).toEqual({ content: [] })
    let result: unknown
    server.use(() => Promise.resolve(result as never))
    for (result of [undefined, null]) {
      expect(await wire.result('ping')).toEqual({})
      expect(await wire.result('logging/setLevel', { level: 'info' })).toEqual({})
      expect(await wire.code('tools/list')).toBe(-32603)
    }
    for (result of [[], 'x', 7, true]) {
      expect(await wire.code('tools/list')).toBe(-32603)
      expect(await wire.code('ping')).toBe(-32603)
    }
  })
})

describe('a result whose content is one block', () => {
  it('reaches the client as a list of that block', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('one', {}, () => ({ content: text('alone'), structuredContent: { a: 1 } }))
    const client = await connectInMemory(server)
    expect((await client.callTool('one')).content).toEqual([{ type: 'text', text: 'alone' }])
  })
})

describe('a schema that cannot be listed', () => {
  const server = createServer({ name: 's', version: '1' })

  it('is refused with the names of the tool and of the field', () => {
    const input = z.object({ city: z.string(), day: z.date() })
    expect(() => server.tool('book', { input }, () => '')).toThrow(
      /^The input of the tool "book", "day", has no JSON Schema: Date/,
    )
    const output = z.object({ at: z.date() })
    expect(() =>
      server.tool('when', { output }, () => ({ structuredContent: { at: new Date() } })),
    ).toThrow(/^The output of the tool "when", "at", has no JSON Schema: Date/)
  })

  it('is rejected with a hint when it is a plain object of fields', () => {
    expect(() => server.tool('book', { input: { city: z.string() } as never }, () => '')).toThrow(
      'The input of the tool "book" has no JSON Schema: use z.object() of "zod" 4.2 or newer',
    )
  })
})

describe('the compiler', () => {
  type Takes<Returned> = Returned extends ToolReturn ? true : false

  it('refuses results that are neither content nor structured', () => {
    // What does not compile when it changes
    const content: Takes<'text' | { content: [] } | { structuredContent: { price: number } }> = true
    const data: Takes<{ price: number }> = false
    const anything: Takes<Promise<unknown>> = false
    expect([content, data, anything]).toEqual([true, false, false])
  })

  it('knows that variables of a template may be missing', () => {
    const missing: undefined extends ReadRequest['variables'][string] ? true : false = true
    expect(missing).toBe(true)
  })
})
