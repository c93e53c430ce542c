import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { revisions, type JsonObject } from '../../src/index.ts'
import { createServer, uriTemplate } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { openWire } from './wire.ts'

const LEGACY = revisions.filter(({ era }) => era === 'legacy').map(({ version }) => version)
const info = { name: 's', version: '1' }
const input = z.object({ x: z.string(), y: z.string().optional() })
const ref = { type: 'ref/prompt', name: 'p' } as const
const argument = { name: 'x', value: 'v' }

describe.each(LEGACY)('completion in %s', (revision) => {
  it('is offered where something can be completed [L-COMP-001]', async () => {
    const server = createServer(info)
    server.prompt('none', { input }, () => 'a')
    const without = await openWire(server, revision)
    expect(without.welcome.capabilities).not.toHaveProperty('completions')
    server.prompt('p', { input, complete: { x: () => ['a'] } }, () => 'a')
    const wire = await openWire(server, revision)
    const offered = 'completions' in (wire.welcome.capabilities as JsonObject)
    // The first revision has the method, but no word for offering it
    expect(offered).toBe(revision >= '2025-03-26')
    expect(await wire.result('completion/complete', { ref, argument })).toMatchObject({
      completion: { values: ['a'] },
    })
  })

  it('completes prompts by name and templates by themselves [L-COMP-003]', async () => {
    const server = createServer(info)
    server.prompt('p', { input, complete: { x: () => ['prompt'] } }, () => 'a')
    const complete = { x: () => ['template'] }
    server.resourceTemplate(uriTemplate('a://{x}'), { name: 't', complete }, () => '')
    server.resource('a:b', { name: 'r' }, () => '')
    const wire = await openWire(server, revision)
    const values = async (of: JsonObject): Promise<unknown> => {
      const result = await wire.result('completion/complete', { ref: of, argument })
      return (result.completion as JsonObject).values
    }
    expect(await values({ ...ref })).toEqual(['prompt'])
    expect(await values({ type: 'ref/resource', uri: 'a://{x}' })).toEqual(['template'])
    expect(await values({ type: 'ref/resource', uri: 'a:b' })).toEqual([])
    for (const wrong of [{ type: 'ref/tool', name: 'p' }, { name: 'p' }, { type: 'ref/prompt' }]) {
      const params = { ref: wrong, argument }
      expect(await wire.code('completion/complete', params)).toBe(-32602)
    }
  })

  it.each([
    [0, 0, false],
    [100, 100, false],
    [101, 100, true],
    [250, 100, true],
  ])(
    'of %i values gives %i, and says how many there are [L-COMP-004] [L-COMP-005]',
    async (total, sent, hasMore) => {
      const server = createServer(info)
      const all = Array.from({ length: total }, (_, n) => `${n}`)
      server.prompt('p', { input, complete: { x: () => all } }, () => 'a')
      const wire = await openWire(server, revision)
      expect(await wire.result('completion/complete', { ref, argument })).toEqual({
        completion: { values: all.slice(0, sent), total, hasMore },
      })
    },
  )

  it('receives the other arguments, if the revision has them [L-COMP-007]', async () => {
    const server = createServer(info)
    const seen: unknown[] = []
    const complete = { x: (_value: string, context: object) => [seen.push(context)].map(String) }
    server.prompt('p', { input, complete }, () => 'a')
    const wire = await openWire(server, revision)
    const client = await connectInMemory(server, { revision })
    await client.complete(ref, argument, { y: 'b' })
    await wire.result('completion/complete', { ref, argument })
    const known = revision >= '2025-06-18' ? { y: 'b' } : {}
    expect(seen).toEqual([known, {}])
    await client.close()
  })

  it.each([
    { ref, argument: { name: 'x', value: 7 } },
    { ref, argument: { name: 7, value: 'x' } },
    { ref, argument: [] },
    { ref, argument, context: [] },
    { ref, argument, context: { arguments: { y: 7 } } },
  ])('rejects the params %j [L-COMP-009]', async (params) => {
    const server = createServer(info)
    server.prompt('p', { input, complete: { x: () => [] } }, () => 'a')
    const wire = await openWire(server, revision)
    expect(await wire.code('completion/complete', params as never)).toBe(-32602)
  })

  it('is available to callers who may use the completed prompt or resource, and receives the caller [L-COMP-011]', async () => {
    const server = createServer(info)
    const visible = ({ principal }: { principal?: string | undefined }): boolean =>
      principal !== undefined
    const complete = {
      x: (_v: string, _c: object, ctx: { principal?: string | undefined }) => [`${ctx.principal}`],
    }
    server.prompt('p', { input, visible, complete }, () => 'a')
    const ada = await openWire(server, revision, {}, { caller: { principal: 'ada' } })
    expect(await ada.result('completion/complete', { ref, argument })).toMatchObject({
      completion: { values: ['ada'] },
    })
    expect(
      await (await openWire(server, revision)).code('completion/complete', { ref, argument }),
    ).toBe(-32602)
  })
})
