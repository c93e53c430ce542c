import { SpanKind } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { expect, it } from 'vitest'
import { connect } from '../../src/presets/client.ts'
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
