import { SpanKind } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { events, forwardEvents } from '../../src/events/index.ts'
import type { JsonObject } from '../../src/index.ts'
import { connect, type ConnectOptions } from '../../src/presets/client.ts'
import { createGateway, createHandler, createServer } from '../../src/presets/server.ts'
import { callTask, taskPolling, tasks } from '../../src/tasks/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { sessionHandler } from '../handler.ts'
import { record, useGlobalContext } from './recording.ts'

useGlobalContext()

it('a call through a gateway to a tool in a session is one tree', async () => {
  const recorded = record()
  const upstream = createServer({ name: 'upstream', version: '1' }, { observe: recorded.server })
  upstream.tool('work', {}, async (_args, ctx) => {
    await ctx.progress(1)
    return recorded.tracer.startActiveSpan('query', (span) => {
      span.end()
      return 'done'
    })
  })
  const serveUpstream = sessionHandler(upstream)
  const gateway = await createGateway(
    (options) =>
      connect('https://upstream.example/mcp', {
        ...options,
        revision: '2025-11-25',
        observe: recorded.client,
        fetch: (input, init) => serveUpstream(new Request(input, init)),
      }),
    { observe: recorded.server },
  )
  const serveGateway = createHandler(gateway.server)
  await using client = await connect('https://gateway.example/mcp', {
    observe: recorded.client,
    fetch: (input, init) => serveGateway(new Request(input, init)),
  })
  await recorded.tracer.startActiveSpan('agent', async (agent) => {
    await client.callTool('work')
    agent.end()
  })
  const { traceId } = recorded
    .spans()
    .find(({ name }) => name === 'agent')!
    .spanContext()
  const spans = recorded.spans().filter((span) => span.spanContext().traceId === traceId)
  expect(treeOf(spans)).toEqual([
    'INTERNAL agent',
    '  CLIENT tools/call work at gateway.example',
    '    SERVER tools/call work',
    '      CLIENT tools/call work at upstream.example',
    '        SERVER tools/call work',
    '          INTERNAL query',
  ])
  await gateway.close()
})

describe('A gateway without an observer', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  it.each<[string, JsonObject, JsonObject]>([
    [
      'passes the context of its caller on',
      { traceparent, tracestate: 'a=1', baggage: 'tenant=red' },
      { traceparent, tracestate: 'a=1', baggage: 'tenant=red' },
    ],
    [
      'passes no malformed context on',
      { traceparent: `${traceparent}-x`, tracestate: 'a=1', baggage: 'a\nb' },
      {},
    ],
  ])(
    '%s, in calls, completions and requests for events [M-TRACE-010]',
    async (_, sent, expected) => {
      const seen: [method: string, JsonObject][] = []
      const upstream = createServer({ name: 'upstream', version: '1' })
      upstream.tool('work', {}, () => 'done')
      const input = z.object({ code: z.string() })
      upstream.prompt('review', { input, complete: { code: () => ['ts'] } }, () => 'Review this')
      const served = events()
      served.type('build.finished', {})
      upstream.extend(served)
      upstream.use(async ({ method, params }, _ctx, next) => {
        const { traceparent: parent, tracestate, baggage } = params._meta as JsonObject
        seen.push([
          method,
          JSON.parse(JSON.stringify({ traceparent: parent, tracestate, baggage })),
        ])
        return next()
      })
      const connectUpstream = (options: ConnectOptions) => connectInMemory(upstream, options)
      const gateway = await createGateway(connectUpstream)
      const forwarded = forwardEvents({ connect: connectUpstream })
      gateway.server.extend(forwarded)
      await using client = await connectInMemory(gateway.server)
      seen.length = 0
      const options = { meta: sent }
      await client.callTool('work', {}, options)
      const ref = { type: 'ref/prompt', name: 'review' } as const
      await client.complete(ref, { name: 'code', value: 't' }, {}, options)
      await client.request('events/poll', { name: 'build.finished', cursor: null }, options)
      expect(seen.filter(([method]) => method !== 'server/discover')).toEqual([
        ['tools/call', expected],
        ['completion/complete', expected],
        ['events/poll', expected],
      ])
      await forwarded.close()
      await gateway.close()
    },
  )
})

it('the run of a task is a span below the call that started it, and has the spans of its tool', async () => {
  const recorded = record()
  const server = createServer({ name: 's', version: '1' }, { observe: recorded.server })
  server.extend(tasks({ pollIntervalMs: 1 }))
  server.tool('work', { task: 'optional' }, () => {
    recorded.tracer.startSpan('query').end()
    return 'done'
  })
  await using client = await connectInMemory(server, {
    observe: recorded.client,
    extensions: [taskPolling()],
  })
  await callTask(client, 'work')
  const spans = recorded.spans()
  const run = spans.find(({ name }) => name === 'task work')
  const query = spans.find(({ name }) => name === 'query')
  expect(query?.parentSpanContext?.spanId).toBe(run?.spanContext().spanId)
  const parentId = run?.parentSpanContext?.spanId
  const call = spans.find((span) => span.spanContext().spanId === parentId)
  expect(call?.name).toBe('tools/call work')
  expect(run?.attributes).toMatchObject({ 'gen_ai.tool.name': 'work' })
})

/** The spans below a parent, one a line, indented. */
function treeOf(spans: readonly ReadableSpan[], parent?: string, indent = ''): string[] {
  return spans
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)
    .flatMap((span) => {
      const server = span.attributes['server.address']
      const line = `${indent}${SpanKind[span.kind]} ${span.name}`
      return [
        server === undefined ? line : `${line} at ${String(server)}`,
        ...treeOf(spans, span.spanContext().spanId, `${indent}  `),
      ]
    })
}
