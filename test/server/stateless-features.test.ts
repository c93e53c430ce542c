import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { META_LOG_LEVEL } from '../../src/protocol/meta.ts'
import type { JsonObject } from '../../src/index.ts'
import {
  audio,
  createServer,
  embedded,
  image,
  serverObserver,
  pagesOf,
  text,
  ToolError,
  uriTemplate,
} from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { allMessages, lastMessage, postModern } from '../transport/streamable-http/post.ts'
import { makeServer } from './fixture.ts'

const LISTS = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const

function many(options = {}) {
  const server = createServer({ name: 'many', version: '1' }, options)
  for (let n = 0; n < 5; n++) {
    server.tool(`tool${n}`, {}, () => text(''))
    server.prompt(`prompt${n}`, {}, () => '')
    server.resource(`r://${n}`, { name: `r${n}` }, () => '')
    server.resourceTemplate(uriTemplate(`t${n}://{x}`), { name: `t${n}` }, () => '')
  }
  return server
}

describe('lists of 2026-07-28', () => {
  it.each(LISTS)(
    '%s has what was registered, independent of earlier requests [M-TOOL-001] [M-TOOL-002] [M-TOOL-003] [M-RES-001] [M-RES-002] [M-RES-003] [M-PROMPT-001] [M-PROMPT-002] [M-PROMPT-003]',
    async (method, member) => {
      const server = many()
      const handle = sessionHandler(server)
      const { result } = await lastMessage(await postModern(handle, method))
      expect(result[member]).toHaveLength(5)
      await postModern(handle, 'tools/call', { name: 'tool0' })
      const others = await lastMessage(await postModern(sessionHandler(server), method))
      expect(others.result).toEqual(result)
      const { capabilities } = (await lastMessage(await postModern(handle, 'server/discover')))
        .result
      expect(capabilities).toHaveProperty(member === 'resourceTemplates' ? 'resources' : member)
    },
  )

  it.each(LISTS)(
    '%s comes in pages, each with its type and the same hints [M-PAGE-001] [M-PAGE-013] [M-CACHE-002] [M-CACHE-003] [M-CACHE-004] [M-CACHE-005] [M-CACHE-037]',
    async (method, member) => {
      const handle = sessionHandler(
        many({ pages: pagesOf(2), cache: { ttlMs: 1000, cacheScope: 'public' } }),
      )
      const names: unknown[] = []
      let cursor: unknown
      for (let pages = 0; pages < 3; pages++) {
        const params = cursor === undefined ? {} : { cursor }
        const { result } = await lastMessage(await postModern(handle, method, params))
        expect(result).toMatchObject({ resultType: 'complete', ttlMs: 1000, cacheScope: 'public' })
        names.push(...(result[member] as { name: string }[]).map(({ name }) => name))
        cursor = result.nextCursor
      }
      expect(cursor).toBeUndefined()
      expect(new Set(names).size).toBe(5)
    },
  )

  it.each(LISTS)('%s refuses a cursor that is not from it', async (method) => {
    const handle = sessionHandler(many({ pages: pagesOf(2) }))
    const other = method === 'tools/list' ? 'prompts/list' : 'tools/list'
    const { result } = await lastMessage(await postModern(handle, other))
    for (const cursor of ['', 'x', '2', 5, result.nextCursor]) {
      const { error } = await lastMessage(await postModern(handle, method, { cursor }))
      expect(error.code).toBe(-32602)
    }
  })

  it('that differ by caller are for that caller alone, and hidden ones cannot be used [M-CACHE-038] [M-CACHE-039] [M-TOOL-042]', async () => {
    const server = createServer({ name: 's', version: '1' }, { cache: { cacheScope: 'public' } })
    const visible = ({ principal }: { principal?: string | undefined }): boolean =>
      principal === 'ada'
    server.tool('open', {}, () => text('open'))
    server.tool('hers', { visible }, () => text('hers'))
    server.resource('r://hers', { name: 'hers', visible }, () => 'hers')
    const inner = sessionHandler(server)
    const as = (principal: string) =>
      Object.assign((request: Request) => inner(request, { principal }), { close: inner.close })
    const list = async (principal: string) =>
      (await lastMessage(await postModern(as(principal), 'tools/list'))).result
    expect(await list('ada')).toMatchObject({
      cacheScope: 'private',
      tools: [{}, { name: 'hers' }],
    })
    expect(await list('eve')).toMatchObject({ cacheScope: 'private', tools: [{ name: 'open' }] })
    for (const [method, params] of [
      ['tools/call', { name: 'hers' }],
      ['resources/read', { uri: 'r://hers' }],
    ] as const) {
      expect((await lastMessage(await postModern(as('ada'), method, params))).result).toBeDefined()
      expect((await lastMessage(await postModern(as('eve'), method, params))).error.code).toBe(
        -32602,
      )
    }
  })
})

describe('caching hints', () => {
  it('come with discover and with read resources [M-CACHE-001] [M-CACHE-006] [M-RES-030]', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.resource('r://a', { name: 'a', cache: { ttlMs: 5000, cacheScope: 'public' } }, () => 'a')
    server.resource('r://b', { name: 'b' }, () => 'b')
    const handle = sessionHandler(server)
    const hints = async (method: string, params = {}): Promise<unknown[]> => {
      const { ttlMs, cacheScope } = (await lastMessage(await postModern(handle, method, params)))
        .result
      return [ttlMs, cacheScope]
    }
    expect(await hints('server/discover')).toEqual([0, 'private'])
    expect(await hints('resources/read', { uri: 'r://a' })).toEqual([5000, 'public'])
    expect(await hints('resources/read', { uri: 'r://b' })).toEqual([0, 'private'])
  })

  it.each([-1, 1.5, NaN, Infinity])(
    'a time of %d ms is refused where it is set [M-CACHE-009]',
    (ttlMs) => {
      expect(() => createServer({ name: 's', version: '1' }, { cache: { ttlMs } })).toThrow(
        TypeError,
      )
      const server = createServer({ name: 's', version: '1' })
      expect(() => server.resource('r://a', { name: 'a', cache: { ttlMs } }, () => '')).toThrow(
        TypeError,
      )
    },
  )
})

describe('tools of 2026-07-28', () => {
  it('take an object, and nothing else, as the root of their input [M-TOOL-016]', () => {
    const server = createServer({ name: 's', version: '1' })
    for (const input of [z.string(), z.array(z.string()), z.null()]) {
      expect(() => server.tool('bad', { input }, () => text(''))).toThrow(
        /must be an object schema/,
      )
    }
  })

  it('never run with arguments that their schema refuses [M-TOOL-041]', async () => {
    const { server, ran } = makeServer()
    const handle = sessionHandler(server)
    for (const args of [{}, { a: '1', b: 2 }, { a: null, b: 2 }, { a: [1], b: 2 }, { a: 1 }]) {
      const { result } = await lastMessage(
        await postModern(handle, 'tools/call', { name: 'add', arguments: args }),
      )
      expect(result.isError).toBe(true)
    }
    for (const args of [[], 'x', 5, null]) {
      const { error } = await lastMessage(
        await postModern(handle, 'tools/call', { name: 'add', arguments: args }),
      )
      expect(error.code).toBe(-32602)
    }
    expect(ran).toEqual([])
  })

  it('whose structured content does not fit their schema are an error of the server [M-TOOL-020] [L-TOOL-024]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const output = z.object({ sum: z.number() })
    const wrong: unknown = { structuredContent: { sum: 'x' } }
    server.tool('wrong', { output }, () => wrong as { structuredContent: { sum: number } })
    server.tool('none', { output }, () => ({ content: [text('no structure')] }))
    server.tool('alone', { output }, () => text('Not booked'))
    server.tool('failed', { output }, () => {
      throw new ToolError('Not today')
    })
    const handle = sessionHandler(server)
    for (const name of ['wrong', 'none']) {
      const { error } = await lastMessage(await postModern(handle, 'tools/call', { name }))
      expect([name, error?.code]).toEqual([name, -32603])
    }
    for (const [name, notification] of [
      ['failed', 'Not today'],
      ['alone', 'Not booked'],
    ] as const) {
      const { result } = await lastMessage(await postModern(handle, 'tools/call', { name }))
      expect(result).toMatchObject({ isError: true, content: [{ text: notification }] })
    }
  })

  it('may return any JSON value as structured content, together with text [M-TOOL-026]', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('list', { output: z.array(z.number()) }, () => ({ structuredContent: [1, 2] }))
    const { result } = await lastMessage(
      await postModern(sessionHandler(server), 'tools/call', { name: 'list' }),
    )
    expect(result).toMatchObject({ structuredContent: [1, 2], content: [{ text: '[1,2]' }] })
  })

  it('can be limited and their output cleaned by middleware [M-TOOL-043] [M-TOOL-044] [M-COMP-014]', async () => {
    const { server } = makeServer()
    let calls = 0
    server.use('tools/call', async (_request, _ctx, next) => {
      if (++calls > 1) return { content: [text('Too many calls')], isError: true }
      return { ...(await next()), content: [text('[cleaned]')] }
    })
    let completions = 0
    server.use('completion/complete', async (_request, _ctx, next) => {
      return ++completions > 1 ? { completion: { values: [] } } : next()
    })
    const handle = sessionHandler(server)
    const add = { name: 'add', arguments: { a: 1, b: 2 } }
    expect((await lastMessage(await postModern(handle, 'tools/call', add))).result.content).toEqual(
      [text('[cleaned]')],
    )
    expect((await lastMessage(await postModern(handle, 'tools/call', add))).result.isError).toBe(
      true,
    )
    const complete = {
      ref: { type: 'ref/resource', uri: 'user://{id}/profile' },
      argument: { name: 'id', value: 'x' },
    }
    const values = async () =>
      (await lastMessage(await postModern(handle, 'completion/complete', complete))).result
        .completion
    expect(await values()).toMatchObject({ values: ['x1', 'x2'] })
    expect(await values()).toMatchObject({ values: [] })
  })
})

describe('resources of 2026-07-28', () => {
  const server = createServer({ name: 's', version: '1' })
  const reads: string[] = []
  server.resourceTemplate(uriTemplate('file:///srv/{+path}'), { name: 'files' }, ({ uri }) => {
    reads.push(uri)
    return 'content'
  })
  server.resource('bytes://all', { name: 'bytes' }, () =>
    Uint8Array.from({ length: 256 }, (_, n) => n),
  )
  const handle = sessionHandler(server)
  const read = async (uri: unknown) =>
    lastMessage(await postModern(handle, 'resources/read', { uri }))

  it.each([
    '',
    'nothing',
    '/etc/passwd',
    'no://such',
    '://x',
    'file://',
    `x://${'y'.repeat(20_000)}`,
    '%',
  ])(
    'are answered with -32602 for the URI "%.20s", never with empty contents [M-RES-010] [M-RES-012] [M-RES-017]',
    async (uri) => {
      expect((await read(uri)).error.code).toBe(-32602)
    },
  )

  it.each([
    'file:///srv/../etc/passwd',
    'file:///srv/a/../../etc/passwd',
    'file:///srv/%2e%2e/etc/passwd',
    'file:///srv/..%2fetc/passwd',
    'file:///srv/%2E%2E%5Cetc',
    'file:///srv/a%00.txt',
    'file:///srv/..',
    'FILE:///srv/../etc',
  ])('are not reached outside of their folder by %s [M-RES-019]', async (uri) => {
    expect((await read(uri)).error.code).toBe(-32602)
    expect(reads).toEqual([])
  })

  it('are read from a file inside the folder', async () => {
    expect((await read('file:///srv/a..b/c.txt')).result).toMatchObject({
      contents: [{ text: 'content' }],
    })
  })

  it('return bytes as standard Base64 [M-RES-018]', async () => {
    const { result } = await read('bytes://all')
    const [{ blob }] = result.contents as [{ blob: string }]
    expect(blob).toMatch(/^[A-Za-z0-9+/]+={0,2}$/)
    expect(Array.from(atob(blob), (character) => character.charCodeAt(0))).toEqual(
      Array.from({ length: 256 }, (_, n) => n),
    )
  })

  it.each(['my scheme://x', '1a://x', 'nothing', 'a://b c', 'a://<b>'])(
    'cannot be registered with the URI "%s" [M-RES-022]',
    (uri) => {
      expect(() => server.resource(uri, { name: 'bad' }, () => '')).toThrow(TypeError)
    },
  )
})

describe('prompts of 2026-07-28', () => {
  it('carry images, sound and resources as the spec writes them [M-PROMPT-011] [M-PROMPT-012] [M-PROMPT-013]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const bytes = new Uint8Array([1, 2, 3])
    server.prompt('rich', {}, () => [
      image(bytes, 'image/png'),
      audio(bytes, 'audio/wav'),
      embedded({ uri: 'r://a', mimeType: 'text/plain', text: 'a' }),
    ])
    const { result } = await lastMessage(
      await postModern(sessionHandler(server), 'prompts/get', { name: 'rich' }),
    )
    expect((result.messages as { content: unknown }[]).map(({ content }) => content)).toEqual([
      { type: 'image', data: 'AQID', mimeType: 'image/png' },
      { type: 'audio', data: 'AQID', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'r://a', mimeType: 'text/plain', text: 'a' } },
    ])
  })

  it('never see arguments that their schema refuses [M-PROMPT-018]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const seen: unknown[] = []
    server.prompt('file', { input: z.object({ name: z.string().regex(/^\w+$/) }) }, (args) => {
      seen.push(args)
      return 'x'
    })
    const handle = sessionHandler(server)
    for (const name of ['../x', '{{7*7}}', '', 5]) {
      const params = { name: 'file', arguments: { name } }
      expect((await lastMessage(await postModern(handle, 'prompts/get', params))).error.code).toBe(
        -32602,
      )
    }
    expect(seen).toEqual([])
  })
})

describe('completion of 2026-07-28', () => {
  const { server } = makeServer()
  const handle = sessionHandler(server)
  const complete = async (params: JsonObject) =>
    lastMessage(await postModern(handle, 'completion/complete', params))
  const ref = { type: 'ref/prompt', name: 'greet' }
  const argument = { name: 'who', value: 'x' }

  it('is offered where something can be completed, and only there [M-COMP-001]', async () => {
    const offered = async (handler: typeof handle) =>
      (await lastMessage(await postModern(handler, 'server/discover'))).result.capabilities
    expect(await offered(handle)).toHaveProperty('completions')
    expect(await offered(sessionHandler(many()))).not.toHaveProperty('completions')
  })

  it('gives a complete result [M-COMP-017]', async () => {
    expect((await complete({ ref, argument })).result.resultType).toBe('complete')
  })

  it.each([
    {},
    { ref },
    { argument },
    { ref: { type: 'ref/tool', name: 'add' }, argument },
    { ref: { type: 'ref/prompt' }, argument },
    { ref: { type: 'ref/prompt', name: 'none' }, argument },
    { ref: { type: 'ref/resource', uri: 'none://{x}' }, argument },
    { ref, argument: { name: 'who' } },
    { ref, argument: 'who' },
    { ref, argument, context: 'x' },
    { ref, argument, context: { arguments: 5 } },
  ])('rejects the params %j [M-COMP-013]', async (params) => {
    expect((await complete(params)).error.code).toBe(-32602)
  })

  it('cannot ask for input [M-COMP-016] [M-MRTR-003]', async () => {
    const asking = createServer({ name: 's', version: '1' })
    const form = z.object({ yes: z.boolean() })
    asking.prompt(
      'p',
      {
        input: z.object({ a: z.string() }),
        complete: {
          a: async (_value, _others, ctx) => {
            await ctx.elicit({ message: 'Sure?', schema: form })
            return []
          },
        },
      },
      () => '',
    )
    asking.use('tools/list', async () => ({ resultType: 'input_required', requestState: 'x' }))
    asking.tool('t', {}, () => text(''))
    const asked = sessionHandler(asking)
    const params = { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }
    for (const [method, given] of [
      ['completion/complete', params],
      ['tools/list', {}],
    ] as const) {
      const { error } = await lastMessage(
        await postModern(asked, method, given, { elicitation: {} }),
      )
      expect(error.code).toBe(-32603)
    }
  })
})

describe('the messages of a call of 2026-07-28', () => {
  function noisy() {
    const server = createServer({ name: 's', version: '1' })
    const late: (() => Promise<void>)[] = []
    server.tool('noisy', {}, async (_args, ctx) => {
      for (const progress of [5, 5, 3, NaN, 6]) await ctx.progress(progress)
      await ctx.log('warning', 'careful')
      late.push(async () => {
        await ctx.progress(7)
        await ctx.log('error', 'late')
      })
      return text('done')
    })
    return { server, handle: sessionHandler(server), late }
  }

  it('include logs for requests that set a level, if the server offers logging [M-LOG-001] [M-LOG-002]', async () => {
    const { handle } = noisy()
    const discovered = await lastMessage(await postModern(handle, 'server/discover'))
    expect(discovered.result.capabilities).toHaveProperty('logging')
    const quiet = await allMessages(await postModern(handle, 'tools/call', { name: 'noisy' }))
    expect(quiet).toHaveLength(1)
    const levels = { info: 1, warning: 1, error: 0 }
    for (const [level, count] of Object.entries(levels)) {
      const params = { name: 'noisy', _meta: { [META_LOG_LEVEL]: level } }
      const messages = await allMessages(await postModern(handle, 'tools/call', params))
      expect(
        messages.filter((m) => 'method' in m && m.method === 'notifications/message'),
      ).toHaveLength(count)
    }
  })

  it.each([1, '1'])(
    'include progress that increases, keeps the token %j, and ends with the response [M-PROG-003] [M-PROG-004] [M-PROG-006] [M-PROG-009]',
    async (progressToken) => {
      const { handle, late } = noisy()
      const params = { name: 'noisy', _meta: { progressToken } }
      const response = await postModern(handle, 'tools/call', params)
      await expect.poll(() => late.length).toBe(1)
      await late[0]?.()
      const messages = await allMessages(response)
      expect(messages.map((m) => ('method' in m ? m.params : 'response'))).toEqual([
        { progressToken, progress: 5 },
        { progressToken, progress: 6 },
        'response',
      ])
    },
  )

  it('reach no listener or other call, and the server cancels nothing [M-LOG-006] [M-PROG-007] [M-PROG-008] [M-SUB-020] [M-CANC-011] [M-SUB-035]', async () => {
    const { server, handle } = noisy()
    const meta = (progressToken: string) => ({ progressToken, [META_LOG_LEVEL]: 'debug' })
    const listener = await postModern(handle, 'subscriptions/listen', {
      notifications: { toolsListChanged: true },
      _meta: meta('listen'),
    })
    const calls = await Promise.all(
      ['a', 'b'].map((token) =>
        postModern(handle, 'tools/call', { name: 'noisy', _meta: meta(token) }),
      ),
    )
    server.notify.toolsListChanged()
    await handle.close()
    const received = await allMessages(listener)
    expect(received.map((m) => ('method' in m ? m.method : 'response'))).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
      'response',
    ])
    for (const [n, call] of calls.entries()) {
      const tokens = (await allMessages(call)).flatMap((m) =>
        'method' in m ? [m.params?.progressToken] : [],
      )
      expect(new Set(tokens.filter((token) => token !== undefined))).toEqual(
        new Set([n === 0 ? 'a' : 'b']),
      )
    }
  })
})

describe('trace context', () => {
  const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  it.each([
    [
      { traceparent: PARENT, tracestate: 'a=1,b=2', baggage: 'user=ada' },
      [PARENT, 'a=1,b=2', 'user=ada'],
    ],
    [{ traceparent: 'x' }, [undefined, undefined, undefined]],
    [{ traceparent: PARENT.toUpperCase() }, [undefined, undefined, undefined]],
    [{ traceparent: `ff${PARENT.slice(2)}` }, [undefined, undefined, undefined]],
    [
      { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` },
      [undefined, undefined, undefined],
    ],
    [{ tracestate: 5, baggage: 'a\nb' }, [undefined, undefined, undefined]],
    [{ 'com.example/traceparent': PARENT }, [undefined, undefined, undefined]],
  ])(
    '%j is read as the W3C writes it [M-TRACE-001] [M-TRACE-002] [M-TRACE-003]',
    async (_meta, read) => {
      const traces: unknown[] = []
      const server = createServer(
        { name: 's', version: '1' },
        {
          observe: serverObserver(({ type, trace = {} }) => {
            if (type !== 'request') return
            const { traceparent, tracestate, baggage } = trace
            traces.push(traceparent, tracestate, baggage)
          }),
        },
      )
      server.tool('t', {}, () => text(''))
      await postModern(sessionHandler(server), 'tools/call', { name: 't', _meta })
      expect(traces).toEqual(read)
    },
  )
})
