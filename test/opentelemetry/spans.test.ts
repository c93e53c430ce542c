import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AlwaysOffSampler, BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { AsyncResource } from 'node:async_hooks'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { JsonObject } from '../../src/index.ts'
import { openTelemetry } from '../../src/opentelemetry/index.ts'
import {
  clientObserver,
  connect,
  type Client,
  type ConnectOptions,
  type Transport,
} from '../../src/presets/client.ts'
import {
  createHandler,
  createServer,
  ProtocolError,
  serveTransport,
  ToolError,
  toolError,
} from '../../src/presets/server.ts'
import { taskPolling, tasks } from '../../src/tasks/index.ts'
import { connectInMemory, inMemoryTransports } from '../../src/testing/index.ts'
import { until } from '../client/peers.ts'
import { sessionHandler } from '../handler.ts'
import { postModern } from '../transport/streamable-http/post.ts'
import { errorTable, spanTable, transportTable, violations } from './conventions.ts'
import { record, useGlobalContext, type Recorded } from './recording.ts'

useGlobalContext()

const url = 'https://mcp.example.com/mcp'
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

function makeServer(recorded?: Recorded) {
  const server = createServer({ name: 's', version: '1' }, recorded && { observe: recorded.server })
  const input = z.object({ city: z.string().optional() })
  server.tool('weather', { input }, ({ city = '' }) => `Rain in ${city}`)
  server.tool('ask', {}, async (_args, ctx) => JSON.stringify(await ctx.roots()))
  server.prompt('greet', { input: z.object({ language: z.string() }) }, () => 'Hello')
  server.resource('file:///a.md', { name: 'a' }, () => 'a')
  return server
}

/** Connects over HTTP, within this process. */
function connectTo(
  server: ReturnType<typeof makeServer>,
  recorded: Recorded,
  options: ConnectOptions = {},
  bodies: string[] = [],
) {
  const isLegacy = options.revision === '2025-11-25'
  const handle = isLegacy ? sessionHandler(server) : createHandler(server)
  return connect(url, {
    ...options,
    observe: recorded.client,
    async fetch(input, init) {
      if (typeof init.body === 'string') bodies.push(init.body)
      return handle(new Request(input, init))
    },
  })
}

describe('The spans of both sides', () => {
  it.each(['2025-11-25', '2026-07-28'] as const)(
    'have the names, kinds and attributes of the table in revision %s',
    async (revision) => {
      const recorded = record()
      const client = await connectTo(makeServer(recorded), recorded, {
        revision,
        roots: [{ uri: 'file:///root' }],
      })
      await client.listAllTools()
      await client.callTool('weather', { city: 'MARKER' })
      await client.getPrompt('greet', { language: 'MARKER' })
      await client.readResource('file:///a.md')
      await client.callTool('ask')
      const listening = await client.listen({ toolsListChanged: true })
      listening.close()
      await client.close()
      const isOpen = (): boolean =>
        revision === '2026-07-28' &&
        recorded.spans().filter(({ name }) => name === 'subscriptions/listen').length < 2
      await expect.poll(isOpen).toBe(false)
      const spans = recorded.spans()
      const namesOf = (kind: SpanKind): string[] =>
        spans.filter((span) => span.kind === kind).map(({ name }) => name)
      const common = ['tools/list', 'tools/call weather', 'prompts/get greet', 'resources/read']
      const legacy = ['initialize', 'notifications/initialized', ...common, 'roots/list']
      const modern = ['server/discover', ...common, 'subscriptions/listen']
      for (const kind of [SpanKind.CLIENT, SpanKind.SERVER]) {
        const expected = revision === '2026-07-28' ? modern : legacy
        expect(namesOf(kind)).toEqual(expect.arrayContaining(expected))
      }
      for (const { name, kind, attributes } of spans) {
        const column = kind === SpanKind.CLIENT ? 'requester' : 'responder'
        expect([name, ...violations(attributes, spanTable, column)]).toEqual([name])
        const isNotification = name.startsWith('notifications/')
        expect('jsonrpc.request.id' in attributes).toBe(!isNotification)
      }
      expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain('MARKER')
      const [sent, received] = [SpanKind.CLIENT, SpanKind.SERVER].map((kind) =>
        spans.find((span) => span.kind === kind && span.name === 'tools/call weather'),
      )
      const shared = {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': 'weather',
        'gen_ai.operation.name': 'execute_tool',
        'mcp.protocol.version': revision,
        'network.transport': 'tcp',
        'network.protocol.name': 'http',
        'jsonrpc.request.id': String(sent?.attributes['jsonrpc.request.id']),
      }
      expect(received?.attributes).toEqual(shared)
      const address = { 'server.address': 'mcp.example.com', 'server.port': 443 }
      expect(sent?.attributes).toEqual({ ...shared, ...address })
      for (const span of [sent, received]) expect(span?.status.code).toBe(SpanStatusCode.UNSET)
      const read = spans.find(({ name }) => name === 'resources/read')
      expect(read?.attributes['mcp.resource.uri']).toBe('file:///a.md')
    },
  )

  it('contain arguments and results only with the option for it', async () => {
    const recorded = record({ contents: true })
    const client = await connectTo(makeServer(recorded), recorded)
    await client.callTool('weather', { city: 'Oslo' })
    await client.getPrompt('greet', { language: 'French' })
    for (const { name, kind, attributes } of recorded.spans()) {
      const column = kind === SpanKind.CLIENT ? 'requester' : 'responder'
      expect(violations(attributes, spanTable, column, true)).toEqual([])
      if (name === 'tools/call weather') {
        expect(attributes['gen_ai.tool.call.arguments']).toBe('{"city":"Oslo"}')
        expect(attributes['gen_ai.tool.call.result']).toContain('Rain in Oslo')
      }
      if (name.startsWith('prompts')) {
        expect(attributes['gen_ai.prompt.variable.language']).toBe('French')
      }
    }
  })

  it('read no arguments and results if the sampler drops them, and still send their context', async () => {
    let reads = 0
    const tracerProvider = new BasicTracerProvider({ sampler: new AlwaysOffSampler() })
    const observer = openTelemetry({ contents: true, tracerProvider })
    const observe = clientObserver((operation) => {
      const params = (): undefined => void reads++
      return observer({ ...operation, params })
    })
    const seen: unknown[] = []
    const server = createServer({ name: 's', version: '1' })
    server.tool('weather', {}, (_args, { meta }) => {
      seen.push(meta.traceparent)
      return 'Rain'
    })
    const client = await connectInMemory(server, { observe })
    await client.callTool('weather', { city: 'Oslo' })
    expect(seen).toEqual([expect.stringMatching(/-00$/)])
    expect(reads).toBe(0)
    await client.close()
  })

  it.each(errorTable.map(({ 'what happened': what = '', ...row }) => [what, row] as const))(
    'have the error of the table after %s',
    async (what, row) => {
      const recorded = record()
      const server = makeServer(recorded)
      const code = Number(/-?\d+$/.exec(what)?.[0])
      const controller = new AbortController()
      server.tool('fail', {}, (_args, { signal }) => {
        if (what.includes('isError')) return toolError('Failed')
        if (code) throw new ProtocolError(code, 'It failed')
        controller.abort()
        return new Promise<string>((resolve) => {
          signal.addEventListener('abort', () => resolve('Stopped'))
        })
      })
      const client = await connectInMemory(server, {
        revision: '2025-11-25',
        observe: recorded.client,
      })
      await client.callTool('fail', {}, { signal: controller.signal }).catch(() => {})
      await client.close()
      const isCall = ({ name }: { name: string }): boolean => name === 'tools/call fail'
      await expect.poll(() => recorded.spans().filter(isCall).length).toBe(2)
      for (const span of recorded.spans().filter(isCall)) {
        const side = span.kind === SpanKind.CLIENT ? 'requester' : 'responder'
        const type = row[`${side}'s error.type`] || undefined
        expect([side, span.attributes['error.type']]).toEqual([side, type])
        const status = row['rpc.response.status_code'] || undefined
        expect([side, span.attributes['rpc.response.status_code']]).toEqual([side, status])
        const isError = span.status.code === SpanStatusCode.ERROR
        expect([side, isError]).toEqual([side, type !== undefined])
        if (isError && code) expect(span.status.message).toBe('It failed')
      }
    },
  )

  it.each(['2025-11-25', '2026-07-28'] as const)(
    'have the error type "tool_error" for each failure of a tool that the model reads, in %s',
    async (revision) => {
      const recorded = record()
      const server = createServer(
        { name: 's', version: '1' },
        { observe: recorded.server, onError: () => {} },
      )
      server.tool('failure', {}, () => toolError('Failed'))
      server.tool('error', {}, () => {
        throw new ToolError('Failed')
      })
      server.tool('exception', {}, () => {
        throw new TypeError('A bug')
      })
      server.extend(tasks({ pollIntervalMs: 1 }))
      server.tool('task', { task: 'required' }, () => toolError('Failed'))
      const client = await connectInMemory(server, {
        revision,
        observe: recorded.client,
        extensions: [taskPolling()],
      })
      for (const name of ['failure', 'error', 'exception', 'task']) await client.callTool(name)
      const failed = recorded.spans().filter(({ status }) => status.code === SpanStatusCode.ERROR)
      const names = failed.map(({ name, kind }) => `${SpanKind[kind]} ${name}`)
      for (const name of ['failure', 'error', 'exception']) {
        for (const kind of ['CLIENT', 'SERVER'])
          expect(names).toContain(`${kind} tools/call ${name}`)
      }
      expect(names).toContain('INTERNAL task task')
      const types = new Set(failed.map(({ attributes }) => attributes['error.type']))
      expect([...types]).toEqual(['tool_error'])
      await client.close()
    },
  )

  it('have the transport of the table', async () => {
    const recorded = record()
    const server = makeServer(recorded)
    for (const { transport, ...row } of transportTable) {
      const begun = recorded.spans().length
      const [near, far] = inMemoryTransports()
      const isPipe = transport === 'stdio'
      let client: Client
      if (transport === 'Streamable HTTP') client = await connectTo(server, recorded)
      else {
        void serveTransport(server, far, { caller: { isPipe } })
        client = await connect(Object.assign(near, { isPipe }), { observe: recorded.client })
      }
      await client.callTool('weather')
      const spans = recorded.spans().slice(begun)
      expect(spans.length).toBeGreaterThan(3)
      for (const { attributes } of spans) {
        for (const [attribute, value] of Object.entries(row)) {
          expect([transport, attributes[attribute]]).toEqual([transport, value || undefined])
        }
      }
      await client.close()
    }
  })

  it.each<[string, string, (init: RequestInit) => Promise<Response>]>([
    ['503', 'an HTTP status', async () => new Response('Busy', { status: 503 })],
    ['connection_lost', 'a broken connection', () => Promise.reject(new TypeError('failed'))],
    [
      'timeout',
      'no answer',
      ({ signal }) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    ],
  ])('have the error type "%s" after %s', async (type, _, fetch) => {
    const recorded = record()
    const handle = createHandler(makeServer())
    let isBroken = false
    const client = await connect(url, {
      observe: recorded.client,
      fetch: (input, init) => (isBroken ? fetch(init) : handle(new Request(input, init))),
    })
    isBroken = true
    await expect(client.callTool('weather', {}, { timeoutMs: 1 })).rejects.toThrow()
    expect(recorded.spans().at(-1)?.attributes['error.type']).toBe(type)
  })

  it('end and are measured if a function of the application throws, or the arguments are not texts', async () => {
    const errors: unknown[] = []
    const fail = (): never => {
      throw new Error('It cannot read this')
    }
    const recorded = record({ contents: true, attributes: fail })
    const server = createServer(
      { name: 's', version: '1' },
      {
        observe: recorded.server,
        redact: (name, value) => (name === 'content' ? fail() : value),
        onError: (error) => errors.push(error),
      },
    )
    server.tool('weather', {}, () => 'Rain')
    server.prompt('greet', { input: z.object({ language: z.string() }) }, () => 'Hello')
    const client = await connectInMemory(server, { observe: record().client })
    await client.callTool('weather')
    const call = client.request('prompts/get', {
      name: 'greet',
      arguments: { language: { toString: null } },
    })
    await expect(call).rejects.toMatchObject({ code: -32602 })
    const names = recorded.spans().map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['tools/call weather', 'prompts/get greet']))
    const [metric] = await recorded.metrics()
    expect(metric?.dataPoints.length).toBeGreaterThanOrEqual(2)
    expect(errors).toContainEqual(new Error('It cannot read this'))
  })

  it('contain no long text of a stranger', async () => {
    const recorded = record({ contents: true })
    const handle = createHandler(makeServer(recorded))
    const uri = `file:///${'a'.repeat(100_000)}`
    await postModern(handle, 'resources/read', { uri })
    const args = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`v${at}`, 'x']))
    await postModern(handle, 'prompts/get', { name: 'greet', arguments: args })
    const [read, prompt] = recorded.spans()
    expect(String(read?.attributes['mcp.resource.uri'])).toHaveLength(1_024)
    expect(prompt?.attributes).toMatchObject({ 'rpc.response.status_code': '-32602' })
  })

  it('do not repeat the texts of unknown methods and tools in their names', async () => {
    const recorded = record()
    const handle = createHandler(makeServer(recorded))
    const client = await connect(url, { fetch: (input, init) => handle(new Request(input, init)) })
    await client.request('com.example/stranger').catch(() => {})
    await client.callTool('stranger').catch(() => {})
    const [, method, tool] = recorded.spans()
    expect([method?.name, method?.attributes['mcp.method.name']]).toEqual(['_OTHER', '_OTHER'])
    expect([tool?.name, tool?.attributes['gen_ai.tool.name']]).toEqual(['tools/call', 'stranger'])
  })
})

describe('The context', () => {
  it('in "_meta" is that of the span of the sender, whose span the receiver continues', async () => {
    const recorded = record()
    const bodies: string[] = []
    const client = await connectTo(makeServer(recorded), recorded, {}, bodies)
    await recorded.tracer.startActiveSpan('planner', async (planner) => {
      await client.callTool('weather')
      planner.end()
    })
    const [planner, sent, received] = recorded.spans().slice(-3)
    expect(sent?.parentSpanContext?.spanId).toBe(planner?.spanContext().spanId)
    expect(received?.parentSpanContext?.spanId).toBe(sent?.spanContext().spanId)
    expect(received?.spanContext().traceId).toBe(planner?.spanContext().traceId)
    const meta = metaOf(bodies.at(-1))
    expect(String(meta.traceparent).split('-')[2]).toBe(sent?.spanContext().spanId)
  })

  it('of the HTTP server becomes a link, or the parent if the client sends no context', async () => {
    const recorded = record()
    const handle = createHandler(makeServer(recorded))
    const call = async (observe?: Recorded['client']): Promise<void> => {
      const client = await connect(url, {
        ...(observe && { observe }),
        fetch: (input, init) =>
          recorded.tracer.startActiveSpan('POST /mcp', { root: true }, async (span) => {
            const response = await handle(new Request(input, init))
            span.end()
            return response
          }),
      })
      await client.callTool('weather')
    }
    const last = (name: string, kind: SpanKind) =>
      recorded.spans().findLast((span) => span.name === name && span.kind === kind)
    await call(recorded.client)
    const ambient = last('POST /mcp', SpanKind.INTERNAL)?.spanContext().spanId
    const linked = last('tools/call weather', SpanKind.SERVER)
    expect(linked?.links.map((link) => link.context.spanId)).toEqual([ambient])
    await call()
    const unlinked = last('tools/call weather', SpanKind.SERVER)
    expect(unlinked?.links).toEqual([])
    const parent = last('POST /mcp', SpanKind.INTERNAL)?.spanContext().spanId
    expect(unlinked?.parentSpanContext?.spanId).toBe(parent)
  })

  it('of a duplex connection is not what was current when it was opened', async () => {
    const recorded = record()
    const server = makeServer(recorded)
    const client = await recorded.tracer.startActiveSpan('startup', async (span) => {
      const opened = await connectInMemory(server, {
        revision: '2025-11-25',
        observe: recorded.client,
        onToolsChanged() {},
      })
      span.end()
      return opened
    })
    await client.callTool('weather')
    server.tool('new', {}, () => '')
    const changed = 'notifications/tools/list_changed'
    await until(() => recorded.spans().some(({ name }) => name === changed))
    for (const name of [changed, 'tools/call weather']) {
      const span = recorded.spans().findLast((each) => each.name === name)
      expect(span?.kind).toBe(SpanKind.SERVER)
      expect(span?.links).toEqual([])
      const parent = recorded
        .spans()
        .find((each) => each.spanContext().spanId === span?.parentSpanContext?.spanId)
      expect(parent?.name).not.toBe('startup')
    }
  })

  it('of a duplex connection is that of no message, on both sides', async () => {
    const recorded = record()
    /** Delivers each message in the context in which the transport was started, as streams do. */
    const inContext = (transport: Transport): Transport => ({
      start: (receiver) =>
        transport.start({
          message: AsyncResource.bind((frame: unknown) => receiver.message(frame)),
          malformed: (error) => receiver.malformed(error),
          closed: (reason) => receiver.closed(reason),
        }),
      send: (frame) => transport.send(frame),
      close: () => transport.close(),
    })
    const observing = record()
    const server = makeServer(observing)
    const silent = makeServer()
    const [near, far] = inMemoryTransports()
    const [nearSilent, farSilent] = inMemoryTransports()
    const clients = await recorded.tracer.startActiveSpan('startup', async (span) => {
      void serveTransport(server, inContext(far))
      void serveTransport(silent, farSilent)
      const options = { revision: '2025-11-25', onToolsChanged() {} } as const
      const observed = { ...options, observe: recorded.client }
      const opened = [
        await connect(near, options),
        await connect(inContext(nearSilent), observed),
      ] as const
      span.end()
      return opened
    })
    await clients[0].callTool('weather')
    const [received] = observing.spans().filter(({ name }) => name === 'tools/call weather')
    expect([received?.parentSpanContext, received?.links]).toEqual([undefined, []])
    silent.tool('new', {}, () => '')
    const isChange = ({ name }: { name: string }): boolean => name.endsWith('list_changed')
    await until(() => recorded.spans().some(isChange))
    const change = recorded.spans().find(isChange)
    expect([change?.parentSpanContext, change?.links]).toEqual([undefined, []])
    for (const client of clients) await client.close()
  })

  it('of the client replaces that of the application, with its state', async () => {
    const recorded = record()
    const bodies: string[] = []
    const client = await connectTo(makeServer(), recorded, {}, bodies)
    const meta = { traceparent: TRACE, tracestate: 'a=1', baggage: 'tenant=red', 'x.y/z': 1 }
    await client.callTool('weather', {}, { meta })
    const { traceparent, tracestate, baggage, ...others } = metaOf(bodies.at(-1))
    const { traceId = '' } = recorded.spans().at(-1)?.spanContext() ?? {}
    expect(traceparent).toContain(traceId)
    expect([tracestate, baggage]).toEqual([undefined, undefined])
    expect(others).toMatchObject({ 'x.y/z': 1 })
  })

  it.each([
    ['of version 00 with more members', `${TRACE}-extra`],
    ['of a later version with very many', `01${TRACE.slice(2)}-${'a'.repeat(1_000)}`],
  ])('is ignored if it is %s', async (_why, traceparent) => {
    const recorded = record()
    const handle = createHandler(makeServer(recorded))
    await postModern(handle, 'tools/call', { name: 'weather', _meta: { traceparent } })
    expect(recorded.spans()[0]?.parentSpanContext).toBeUndefined()
  })

  it.each([false, true])('has baggage if the option says so: %s', async (baggage) => {
    const recorded = record({ baggage })
    const bodies: string[] = []
    const seen: unknown[] = []
    const server = makeServer(recorded)
    server.tool('bag', {}, () => {
      seen.push(propagation.getActiveBaggage()?.getEntry('tenant')?.value)
      return ''
    })
    const client = await connectTo(server, recorded, {}, bodies)
    const bag = propagation.createBaggage({ tenant: { value: 'red' } })
    await context.with(propagation.setBaggage(context.active(), bag), () => client.callTool('bag'))
    const sent = metaOf(bodies.at(-1))
    expect(sent.baggage).toBe(baggage ? 'tenant=red' : undefined)
    // Outside of the client's context
    const _meta = { ...sent, baggage: 'tenant=blue' }
    await postModern(createHandler(server), 'tools/call', { name: 'bag', _meta })
    expect(seen.at(-1)).toBe(baggage ? 'blue' : undefined)
  })

  it('is not written without a tracer', async () => {
    const bodies: string[] = []
    const noop = { ...record(), client: clientObserver(openTelemetry()) }
    const client = await connectTo(makeServer(), noop, { sendInfo: false }, bodies)
    await client.callTool('weather')
    expect(Object.keys(metaOf(bodies.at(-1)))).toEqual([
      'io.modelcontextprotocol/protocolVersion',
      'io.modelcontextprotocol/clientCapabilities',
    ])
  })

  it('of a request of the server to its client joins the trace', async () => {
    const recorded = record()
    const client = await connectInMemory(makeServer(recorded), {
      revision: '2025-06-18',
      observe: recorded.client,
      roots: () => {
        recorded.tracer.startSpan('read roots').end()
        return []
      },
    })
    await client.callTool('ask')
    const names = recorded.spans().slice(-5)
    const pick = (name: string, kind: SpanKind) =>
      names.find((span) => span.name === name && span.kind === kind)
    const path = [
      pick('tools/call ask', SpanKind.CLIENT),
      pick('tools/call ask', SpanKind.SERVER),
      pick('roots/list', SpanKind.CLIENT),
      pick('roots/list', SpanKind.SERVER),
      pick('read roots', SpanKind.INTERNAL),
    ]
    for (const [at, span] of path.entries()) {
      if (at === 0) continue
      expect(span?.parentSpanContext?.spanId).toBe(path[at - 1]?.spanContext().spanId)
    }
    expect(trace.getActiveSpan()).toBeUndefined()
  })
})

function metaOf(body = '{}'): JsonObject {
  const { params } = JSON.parse(body) as { params?: { _meta?: JsonObject } }
  return params?._meta ?? {}
}
