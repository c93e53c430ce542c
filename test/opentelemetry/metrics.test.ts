import type { MetricData } from '@opentelemetry/sdk-metrics'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/presets/client.ts'
import { createHandler, createServer } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { postModern } from '../transport/streamable-http/post.ts'
import { boundaries, metricTable, violations } from './conventions.ts'
import { record } from './recording.ts'

const url = 'https://mcp.example.com/mcp'

/** The attributes of each series. */
function seriesOf({ dataPoints }: MetricData): Record<string, unknown>[] {
  return dataPoints.map(({ attributes }) => ({ ...attributes }))
}

describe('The metrics of both sides', () => {
  it('have the names, the unit, the buckets and the attributes of the table', async () => {
    const recorded = record()
    const server = createServer({ name: 's', version: '1' }, { observe: recorded.server })
    server.tool('weather', {}, () => 'Rain')
    const handle = sessionHandler(server)
    for (const revision of ['2025-11-25', '2026-07-28'] as const) {
      const client = await connect(url, {
        revision,
        observe: recorded.client,
        fetch: (input, init) => handle(new Request(input, init)),
      })
      await client.callTool('weather')
      await client.callTool('none').catch(() => {})
      await client.close()
    }
    const metrics = await recorded.metrics()
    const names = Object.keys(metricTable[0] ?? {}).filter((name) => name !== 'attribute')
    expect(metrics.map(({ descriptor }) => descriptor.name).toSorted()).toEqual(names.toSorted())
    for (const metric of metrics) {
      const { name, unit } = metric.descriptor
      expect([name, unit]).toEqual([name, 's'])
      for (const { value } of metric.dataPoints) {
        expect(value).toMatchObject({ buckets: { boundaries } })
      }
      for (const series of seriesOf(metric)) {
        expect([name, ...violations(series, metricTable, name)]).toEqual([name])
      }
      if (name.includes('session')) {
        // There is no session in the newer revision
        const revisions = seriesOf(metric).map((series) => series['mcp.protocol.version'])
        expect(revisions).toEqual(['2025-11-25'])
      }
    }
    const calls = metrics
      .filter(({ descriptor }) => descriptor.name === 'mcp.client.operation.duration')
      .flatMap(seriesOf)
    expect(calls).toContainEqual({
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'weather',
      'gen_ai.operation.name': 'execute_tool',
      'mcp.protocol.version': '2026-07-28',
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'server.address': 'mcp.example.com',
      'server.port': 443,
    })
  })

  it('have one more series for any number of unknown methods, tools and prompts', async () => {
    const recorded = record()
    const server = createServer({ name: 's', version: '1' }, { observe: recorded.server })
    server.tool('weather', {}, () => 'Rain')
    server.prompt('greet', {}, () => 'Hello')
    const handle = createHandler(server)
    for (let count = 0; count < 20; count++) {
      await postModern(handle, `com.example/${count}`)
      await postModern(handle, 'tools/call', { name: `tool-${count}` })
      await postModern(handle, 'prompts/get', { name: `prompt-${count}` })
    }
    const series = (await recorded.metrics()).flatMap(seriesOf)
    expect(series).toHaveLength(3)
    expect(series).toMatchObject([
      { 'mcp.method.name': '_OTHER' },
      { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': '_OTHER' },
      { 'mcp.method.name': 'prompts/get', 'gen_ai.prompt.name': '_OTHER' },
    ])
  })
})
