import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { TextArguments } from '../../src/server/features/prompts.ts'
import { revisions, type JsonObject } from '../../src/index.ts'
import { createServer, embedded } from '../../src/presets/server.ts'
import { makeRichServer } from '../traffic/server.ts'
import { contents } from '../protocol/rich.ts'
import { openWire } from './wire.ts'

const LEGACY = revisions.filter(({ era }) => era === 'legacy').map(({ version }) => version)
const info = { name: 's', version: '1' }

describe.each(LEGACY)('prompts in %s', (revision) => {
  it('are offered if there are any, and are unknown methods otherwise [L-PROM-001]', async () => {
    const server = createServer(info)
    const without = await openWire(server, revision)
    expect(without.welcome.capabilities).not.toHaveProperty('prompts')
    for (const method of ['list', 'get']) {
      expect(await without.code(`prompts/${method}`, { name: 'a' })).toBe(-32601)
    }
    server.prompt('a', {}, () => 'a')
    const withPrompts = await openWire(server, revision)
    expect(withPrompts.welcome.capabilities).toHaveProperty('prompts')
    expect((await withPrompts.result('prompts/list')).prompts).toEqual([{ name: 'a' }])
  })

  it('accept only strings as arguments, even if their schema allows more [L-PROM-005]', async () => {
    const server = createServer(info)
    server.prompt('any', { input: z.object({ x: z.coerce.number() }) }, ({ x }) => `${x + 1}`)
    server.prompt('none', {}, () => 'a')
    const wire = await openWire(server, revision)
    for (const name of ['any', 'none']) {
      for (const x of [1, true, null, ['1'], { a: '1' }]) {
        const params = { name, arguments: { x } } as JsonObject
        expect(await wire.code('prompts/get', params), JSON.stringify(params)).toBe(-32602)
      }
    }
    const { messages } = await wire.result('prompts/get', { name: 'any', arguments: { x: '1' } })
    expect(messages).toMatchObject([{ content: { text: '2' } }])
  })

  it('give messages of users and assistants with one block each, or fail [L-PROM-006]', async () => {
    const server = createServer(info)
    const content = { type: 'text', text: 'a' } as const
    const both = [
      { role: 'user' as const, content },
      { role: 'assistant' as const, content },
    ]
    server.prompt('both', {}, () => ({ messages: both }))
    server.prompt('system', {}, () => ({ messages: [{ role: 'system' as 'user', content }] }))
    server.prompt('list', {}, () => ({ messages: [{ role: 'user', content: [content] as never }] }))
    server.prompt('bare', {}, () => ({ messages: [{ role: 'user', content: 'a' as never }] }))
    const wire = await openWire(server, revision)
    expect(await wire.result('prompts/get', { name: 'both' })).toEqual({ messages: both })
    for (const name of ['system', 'list', 'bare']) {
      expect(await wire.code('prompts/get', { name })).toBe(-32603)
    }
  })

  it('give content of the kinds that the client knows [L-PROM-007]', async () => {
    const server = createServer(info)
    server.prompt('all', {}, () => [...contents])
    const wire = await openWire(server, revision)
    const { messages } = await wire.result('prompts/get', { name: 'all' })
    const types = (messages as { content: { type: string } }[]).map(({ content }) => content.type)
    const known = ['text', 'image', 'resource']
    if (revision >= '2025-03-26') known.push('audio')
    if (revision >= '2025-06-18') known.push('resource_link')
    expect(types).toHaveLength(contents.length)
    expect(new Set(types)).toEqual(new Set(known))
  })

  it('never read an argument as anything but text [L-PROM-011]', async () => {
    const server = createServer(info)
    server.prompt('say', { input: z.object({ x: z.string() }) }, ({ x }) => `Say {{x}} ${x}`)
    const wire = await openWire(server, revision)
    for (const x of ['{{x}}', '${1 + 1}', '{x}', '%s', '$&', '</user>', '__proto__']) {
      const { messages } = await wire.result('prompts/get', { name: 'say', arguments: { x } })
      expect(messages).toMatchObject([{ role: 'user', content: { text: `Say {{x}} ${x}` } }])
    }
    expect(await wire.code('prompts/get', { name: '__proto__' })).toBe(-32602)
  })

  it('can do without arguments that are not required [L-PROM-014]', async () => {
    const server = createServer(info)
    const input = z.object({ must: z.string(), may: z.string().optional() })
    server.prompt('a', { input }, ({ must, may }) => `${must} ${may}`)
    const wire = await openWire(server, revision)
    const [prompt] = (await wire.result('prompts/list')).prompts as JsonObject[]
    expect(prompt?.arguments).toEqual([
      { name: 'must', required: true },
      { name: 'may', required: false },
    ])
    const given = { name: 'a', arguments: { must: 'x' } }
    const { messages } = await wire.result('prompts/get', given)
    expect(messages).toMatchObject([{ content: { text: 'x undefined' } }])
    expect(await wire.code('prompts/get', { name: 'a' })).toBe(-32602)
  })

  it('are described with the fields of the revision [L-PROM-015]', async () => {
    const wire = await openWire(makeRichServer().server, revision)
    const [prompt] = (await wire.result('prompts/list')).prompts as JsonObject[]
    const members = ['arguments', 'description', 'name']
    if (revision >= '2025-06-18') members.push('_meta', 'title')
    if (revision >= '2025-11-25') members.push('icons')
    expect(Object.keys(prompt ?? {}).toSorted()).toEqual(members.toSorted())
    const [argument] = prompt?.arguments as JsonObject[]
    const titled = revision >= '2025-06-18' ? { title: 'Who' } : {}
    expect(argument).toEqual({ name: 'who', description: 'Whom', required: true, ...titled })
  })
})

describe('embedded', () => {
  it('requires a URI, and states the type of the contents [L-PROM-010]', () => {
    const resource = (from: Parameters<typeof embedded>[0]) => embedded(from).resource
    expect(resource({ uri: 'a:b', text: 'x' })).toEqual({
      uri: 'a:b',
      text: 'x',
      mimeType: 'text/plain',
    })
    expect(resource({ uri: 'a:b', blob: 'AAAA' }).mimeType).toBe('application/octet-stream')
    expect(resource({ uri: 'a:b', text: '{}', mimeType: 'application/json' }).mimeType).toBe(
      'application/json',
    )
    expect(() => embedded({ uri: 'nothing', text: 'x' })).toThrow('URI')
    expect(() => embedded({ uri: 'a:b', text: 'x', mimeType: 'text' })).toThrow('MIME')
    expect(() => embedded({ uri: 'a:b', blob: '???' })).toThrow('Base64')
  })
})

it('the compiler refuses arguments of prompts that no text can be', () => {
  type Taken<Input extends z.ZodType> = unknown extends TextArguments<Input> ? true : false
  const texts = z.object({
    city: z.string(),
    size: z.enum(['s', 'm']).optional(),
    nights: z.coerce.number(),
    gift: z.stringbool(),
  })
  const numbers = z.object({ city: z.string(), nights: z.number().optional() })
  // What does not compile when it changes
  const taken: [Taken<typeof texts>, Taken<typeof numbers>] = [true, false]
  const advice: TextArguments<typeof numbers> = {
    input: '"nights" must take text, such as z.coerce.number() and z.stringbool() do',
  }
  expect([taken, Object.keys(advice)]).toEqual([[true, false], ['input']])
})
