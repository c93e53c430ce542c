/** What handlers and middleware may not return, and that their author learns why. */
import ts from 'typescript'
import * as z from 'zod'
import { describe, expect, it } from 'vitest'
import { createServer, text } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { root } from '../root.ts'

const noContent: [string, unknown][] = [
  ['a number', 5],
  ['a function', () => 1],
  ['a list of numbers', [5]],
  ['a block of no kind', [{}]],
  ['a block of an unknown kind', { type: 'video', url: 'a:b' }],
  ['a block named like a member of objects', { type: 'constructor' }],
  ['an image without data', [{ type: 'image', mimeType: 'image/png' }]],
  ['a link without a name', [{ type: 'resource_link', uri: 'a:b' }]],
  ['a resource without contents', [{ type: 'resource', resource: { uri: 'a:b' } }]],
  ['a result of an unknown type', { resultType: 'weird' }],
]

const cases: ['tool' | 'prompt' | 'resource', string, unknown][] = [
  ...noContent.flatMap(([what, value]): typeof cases => [
    ['tool', what, value],
    ['prompt', what, value],
    ['resource', what, value],
  ]),
  ['tool', 'null', null],
  ['tool', 'content in content', { content: [[text('a')]] }],
  ['tool', 'a block without text', { content: [{ type: 'text' }] }],
  ['tool', 'data of its own', { sum: 3 }],
  ['tool', 'a failure that is text', { isError: 'yes', content: [] }],
  ['prompt', 'nothing', undefined],
  ['prompt', 'null', null],
  ['prompt', 'invalid messages', { messages: 5 }],
  ['prompt', 'messages of nulls', { messages: [null] }],
  ['prompt', 'a message of the system', { messages: [{ role: 'system', content: text('a') }] }],
  ['resource', 'invalid contents', { contents: 5 }],
  ['resource', 'contents without a URI', { contents: [{ text: 'a' }] }],
  ['resource', 'contents without text or bytes', { contents: [{ uri: 'a:a' }] }],
]

describe.each(['2024-11-05', '2025-11-25', '2026-07-28'] as const)('in %s', (revision) => {
  it.each(cases)('a %s that returns %s is an internal error', async (kind, _what, value) => {
    const errors: unknown[] = []
    const server = createServer(
      { name: 's', version: '1' },
      { onError: (error) => errors.push(error) },
    )
    server.tool('a', {}, () => value as string)
    server.prompt('a', {}, () => value as string)
    server.resource('a:a', { name: 'a' }, () => value as string)
    const client = await connectInMemory(server, { revision })
    const call = {
      tool: () => client.callTool('a'),
      prompt: () => client.getPrompt('a'),
      resource: () => client.readResource('a:a'),
    }[kind]
    await expect(call()).rejects.toMatchObject({ code: -32603, message: 'Internal error' })
    expect(errors).toEqual([expect.any(TypeError)])
    expect(String(errors[0])).toMatch(/The (tool|prompt) "a"|The reader of "a:a"|The answer to/)
    await client.close()
  })

  it.each([
    ['nothing', undefined],
    ['text', 'a'],
    ['a result of an unknown kind', { tools: [], resultType: 'weird' }],
  ])('a middleware that returns %s is an internal error', async (_what, value) => {
    const errors: unknown[] = []
    const server = createServer(
      { name: 's', version: '1' },
      { onError: (error) => errors.push(error) },
    )
    server.tool('a', {}, () => 'a')
    server.use('tools/list', () => Promise.resolve(value as never))
    const client = await connectInMemory(server, { revision })
    await expect(client.listAllTools()).rejects.toMatchObject({ code: -32603 })
    expect(String(errors)).toContain('The answer to "tools/list" is not a result')
    await client.close()
  })
})

it('a result may have its content in every form that a tool may return', async () => {
  const server = createServer({ name: 's', version: '1' })
  server.tool('text', {}, () => ({ content: 'Full', isError: true }))
  server.tool('block', {}, () => ({ content: text('Full'), isError: true }))
  server.tool('list', {}, () => ({ content: [text('Full')], isError: true }))
  await using client = await connectInMemory(server)
  for (const name of ['text', 'block', 'list']) {
    const { content, isError } = await client.callTool(name)
    expect([content, isError]).toEqual([[{ type: 'text', text: 'Full' }], true])
  }
})

it('a tool may return a promise of another implementation', async () => {
  const server = createServer({ name: 'test', version: '1' })
  const returned: PromiseLike<string> = {
    then: (onFulfilled, onRejected) => Promise.resolve('done').then(onFulfilled, onRejected),
  }
  server.tool('work', {}, () => returned as Promise<string>)
  const client = await connectInMemory(server)
  expect((await client.callTool('work')).content).toEqual([text('done')])
})

it('literals that an output schema wants may be written in place, as the compiler knows it', async () => {
  const server = createServer({ name: 's', version: '1' })
  const output = z.object({ sky: z.enum(['sun', 'rain']), tags: z.array(z.literal('x')) })
  const input = z.object({ city: z.string() })
  server.tool('now', { output }, () => ({ structuredContent: { sky: 'sun', tags: ['x'] } }))
  server.tool('later', { input, output }, async ({ city }, ctx) => {
    if (city === '') return text('No city')
    await ctx.progress(1)
    return { structuredContent: { sky: 'rain', tags: [] } }
  })
  await using client = await connectInMemory(server)
  const { structuredContent: now } = await client.callTool('now')
  const { structuredContent: later } = await client.callTool('later', { city: 'Oslo' })
  expect([now, later]).toEqual([
    { sky: 'sun', tags: ['x'] },
    { sky: 'rain', tags: [] },
  ])
})

it('a tool that returns an object of its own learns at run time where to put it [P009]', async () => {
  const errors: unknown[] = []
  const server = createServer({ name: 's', version: '1' }, { onError: (e) => errors.push(e) })
  server.tool('a', {}, () => ({ price: 3 }) as never)
  await using client = await connectInMemory(server)
  await expect(client.callTool('a')).rejects.toThrow()
  expect(String(errors[0])).toBe(
    'TypeError: The tool "a" returned neither content nor a result: return text, or { structuredContent: … }',
  )
})

it('a tool that returns an object of its own learns from the compiler where to put it [P009]', () => {
  const name = `${root}test/server/returns-an-object.ts`
  const source = `
    import { createServer } from '../../src/presets/server.ts'
    const server = createServer({ name: 's', version: '1' })
    server.tool('a', {}, () => ({ price: 3 }))
    server.tool('b', {}, () => [{ price: 3 }])
    server.tool('c', {}, () => ({ structuredContent: { price: 3 } }))`
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
    // The types of the Web platform take long to read, and no handler here meets them
    lib: ['lib.esnext.d.ts'],
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (file, ...more) =>
    file === name
      ? ts.createSourceFile(file, source, ts.ScriptTarget.ESNext)
      : getSourceFile(file, ...more)
  const program = ts.createProgram([name], options, host)
  const faults = program
    .getSemanticDiagnostics(program.getSourceFile(name))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
  expect(faults).toHaveLength(2)
  for (const fault of faults) {
    expect(fault).toContain('return { structuredContent: … } instead')
    expect(fault).not.toContain('InputRequiredResult')
  }
})
