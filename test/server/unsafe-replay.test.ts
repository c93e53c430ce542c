import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { connectInMemory } from '../../src/testing/index.ts'
import { createServer, warnOnUnsafeReplay } from '../../src/presets/server.ts'
import type { Revision } from '../../src/index.ts'

const schema = z.object({ yes: z.boolean() })
const fetchSomething = (): Promise<string> =>
  new Promise((resolve) => void setTimeout(() => resolve('something'), 1))

function makeServer(warned: string[]) {
  const server = createServer({ name: 's', version: '1' }, { onError: () => {} })
  server.use(warnOnUnsafeReplay((problem) => warned.push(problem)))
  server.tool('careless', {}, async (_args, ctx) => {
    await fetchSomething()
    return (await ctx.elicit({ message: 'Sure?', schema })).action
  })
  server.tool('between', {}, async (_args, ctx) => {
    await ctx.elicit({ message: 'Sure?', schema })
    await fetchSomething()
    return (await ctx.roots())[0]?.uri ?? ''
  })
  server.tool('careful', {}, async (_args, ctx) => {
    await ctx.progress(1)
    await ctx.step('first', fetchSomething)
    const { action } = await ctx.elicit({ message: 'Sure?', schema })
    await ctx.log('info', 'asked')
    const second = await ctx.step('second', fetchSomething)
    const [roots] = await Promise.all([ctx.roots(), ctx.sample({ messages: [], maxTokens: 1 })])
    await fetchSomething()
    return `${action} ${second} ${roots.length}`
  })
  server.tool('nested', {}, (_args, ctx) =>
    ctx.step('asking', async () => (await ctx.elicit({ message: 'Sure?', schema })).action),
  )
  server.prompt('careless', {}, async (_args, ctx) => {
    await fetchSomething()
    return (await ctx.elicit({ message: 'Sure?', schema })).action
  })
  server.resource('careless://one', { name: 'one' }, async (_request, ctx) => {
    await fetchSomething()
    return (await ctx.elicit({ message: 'Sure?', schema })).action
  })
  return server
}

const connect = (warned: string[], revision: Revision) =>
  connectInMemory(makeServer(warned), {
    revision,
    onElicit: () => ({ action: 'accept', content: { yes: true } }),
    onSample: () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } }),
    roots: [{ uri: 'file:///a' }],
  })

describe.each(['2025-11-25', '2026-07-28'] as const)('warnOnUnsafeReplay in %s', (revision) => {
  it('names a handler that waits for something and then asks, once', async () => {
    const warned: string[] = []
    await using client = await connect(warned, revision)
    await client.callTool('careless')
    await client.callTool('careless')
    expect(warned).toEqual([
      '"tools/call" of "careless" awaited something before it requested "elicitation/create": that work is repeated after each response, unless it is in ctx.step',
    ])
  })

  it('checks the code between two questions', async () => {
    const warned: string[] = []
    await using client = await connect(warned, revision)
    await client.callTool('between')
    expect(warned).toEqual([expect.stringContaining('before it requested "roots/list"')])
  })

  it('ignores step values, messages, and code after the last question', async () => {
    const warned: string[] = []
    await using client = await connect(warned, revision)
    const { content } = await client.callTool('careful', {}, { onProgress: () => {} })
    expect(content).toEqual([{ type: 'text', text: 'accept something 1' }])
    expect(warned).toEqual([])
  })

  it('names a step that asks', async () => {
    const warned: string[] = []
    await using client = await connect(warned, revision)
    await client.callTool('nested')
    expect(warned).toEqual([
      '"tools/call" of "nested" requests input inside the step "asking": request it before or after the step',
    ])
  })

  it('looks at prompts and resources', async () => {
    const warned: string[] = []
    await using client = await connect(warned, revision)
    await client.getPrompt('careless')
    await client.readResource('careless://one')
    expect(warned).toEqual([
      expect.stringMatching(/^"prompts\/get" of "careless" awaited/),
      expect.stringMatching(/^"resources\/read" of "careless:\/\/one" awaited/),
    ])
  })
})

it('warnOnUnsafeReplay logs to the console by default, and ignores other requests', async () => {
  const printed: unknown[] = []
  const { error } = console
  console.error = (text: unknown) => printed.push(text)
  try {
    const server = createServer({ name: 's', version: '1' })
    server.use(warnOnUnsafeReplay())
    server.tool('careless', {}, async (_args, ctx) => {
      await fetchSomething()
      return (await ctx.elicit({ message: 'Sure?', schema })).action
    })
    await using client = await connectInMemory(server, { onElicit: () => ({ action: 'decline' }) })
    expect(await client.listAllTools()).toHaveLength(1)
    await client.callTool('careless')
  } finally {
    console.error = error
  }
  expect(printed).toEqual([expect.stringContaining('"careless" awaited')])
})
