import { generateText, jsonSchema, stepCountIs } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { connect, type Client } from '../../src/presets/client.ts'
import {
  audio,
  createServer,
  image,
  text,
  toolError,
  type Server,
} from '../../src/presets/server.ts'
import { taskPolling, tasks } from '../../src/tasks/index.ts'
import { connectInMemory, scriptedPeer } from '../../src/testing/index.ts'
import { aiSdkTools, toolFunctions } from '../../src/toolset/index.ts'
import { closing } from '../closing.ts'
import { settled } from '../settled.ts'

async function connected(server: Server): Promise<Client> {
  return closing(await connectInMemory(server))
}

/** A client of a server that has these tools, each of which gives this content. */
async function scripted(names: readonly string[], content: readonly unknown[]): Promise<Client> {
  const answers: Record<string, object> = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) },
    'tools/call': { content },
  }
  const peer = scriptedPeer(({ id, method = '' }) => {
    return { jsonrpc: '2.0', id, result: { resultType: 'complete', ...answers[method] } }
  })
  const client = closing(await connect(peer.transport))
  return client
}

test.each(['2025-11-25', '2026-07-28'] as const)(
  'tools that must be tasks are called as such in %s [L-TASK-007]',
  async (revision) => {
    const server = createServer({ name: 'slow', version: '1' })
    server.extend(tasks({ pollIntervalMs: 1 }))
    server.tool('bake', { task: 'required' }, () => text('Baked'))
    const client = closing(await connectInMemory(server, { revision, extensions: [taskPolling()] }))
    const [bake] = await toolFunctions(client)
    expect((await bake?.call({}))?.content).toEqual([text('Baked')])
  },
)

function weather(): Server {
  const server = createServer({ name: 'weather', version: '1.0.0' })
  server.tool(
    'weather/now',
    { description: 'Returns the weather.', input: z.object({ city: z.string() }) },
    async ({ city }, ctx) => {
      await ctx.progress(1, { total: 2 })
      return city === 'Atlantis' ? toolError('No such city') : text(`Rain in ${city}`)
    },
  )
  server.tool('sky', { title: 'A look up' }, () => ({
    content: [image('aGk=', 'image/png'), audio('aGk=', 'audio/wav')],
  }))
  return server
}

describe('tools as functions', () => {
  test('have names that model APIs take, descriptions, JSON Schema, and call the tool', async () => {
    const [now, sky] = await toolFunctions(await connected(weather()))
    expect(now).toMatchObject({
      name: 'weather_now',
      description: 'Returns the weather.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      tool: { name: 'weather/now' },
    })
    expect(sky).toMatchObject({ name: 'sky', description: 'A look up' })
    expect(await now?.call({ city: 'Oslo' })).toMatchObject({
      content: [{ type: 'text', text: 'Rain in Oslo' }],
    })
  })

  test('keep valid names, and get the same names for any order of the list [C040]', async () => {
    const originals = ['a.b', 'a/b', 'a_b', 'read/only', 'read_only', 'abcdef-1', 'abcdef-2', 'ok']
    const named = async (list: readonly string[]): Promise<Record<string, string>> => {
      const options = { prefix: 'x_', maxNameLength: 14 }
      const functions = await toolFunctions(await scripted(list, []), options)
      expect(functions.map(({ tool }) => tool.name)).toEqual(list)
      for (const { name } of functions) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,13}$/)
      return Object.fromEntries(functions.map(({ name, tool }) => [tool.name, name]))
    }
    const names = await named(originals)
    expect(names).toMatchObject({ a_b: 'x_a_b', read_only: 'x_read_only', ok: 'x_ok' })
    expect(new Set(Object.values(names)).size).toBe(originals.length)
    expect(await named(originals.toReversed())).toEqual(names)
    // A truncated name is distinguished by the whole name, not by its position
    expect(names['abcdef-1']).toBe('x_abcdef-1')
    const options = { prefix: 'x_', maxNameLength: 9 }
    const cut = async (list: string[]): Promise<string[]> =>
      (await toolFunctions(await scripted(list, []), options)).map(({ name }) => name)
    const [one, two] = await cut(['abcdefg-1', 'abcdefg-2'])
    expect(await cut(['abcdefg-2', 'abcdefg-1'])).toEqual([two, one])
    expect(one).not.toBe(two)
  })

  test('call the tool whose name was rewritten [C040]', async () => {
    const server = createServer({ name: 's', version: '1.0.0' })
    for (const name of ['read/only', 'read_only']) server.tool(name, {}, () => text(name))
    const functions = await toolFunctions(await connected(server))
    expect(functions.find(({ name }) => name === 'read_only')?.tool.name).toBe('read_only')
    for (const each of functions) {
      expect((await each.call({})).content).toEqual([text(each.tool.name)])
    }
  })

  test('a name limit that is too short for unique names is rejected [C040]', async () => {
    const client = await scripted([], [])
    await expect(toolFunctions(client, { maxNameLength: 7 })).rejects.toThrow(RangeError)
  })

  test('begin with a letter or an underscore, and are never empty', async () => {
    const names = ['', '1st', '-x', '工具', '😀', '_ok', '__proto__']
    const client = await scripted(names, [])
    const functions = await toolFunctions(client)
    expect(functions.map(({ tool }) => tool.name)).toEqual(names)
    for (const { name } of functions) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
    expect(new Set(functions.map(({ name }) => name)).size).toBe(names.length)
    expect(Object.keys(await aiSdkTools(client, { jsonSchema }))).toHaveLength(names.length)
  })

  test('are those that are wanted; a schema that is changed is a copy', async () => {
    const client = await connected(weather())
    const [only, ...others] = await toolFunctions(client, {
      include: ({ name }) => name === 'weather/now',
    })
    expect(others).toEqual([])
    if (only) only.parameters.properties = {}
    const [again] = await toolFunctions(client)
    expect(again?.parameters.properties).toHaveProperty('city')
  })

  test('are aborted by the signal of the call and by that of the whole set', async () => {
    const reported: unknown[] = []
    const onError = (error: unknown): unknown => reported.push(error)
    const server = createServer({ name: 's', version: '1.0.0' }, { onError })
    server.tool('never', {}, (_args, { signal }) => {
      return new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    })
    const client = await connected(server)
    for (const which of ['all', 'one'] as const) {
      const all = new AbortController()
      const one = new AbortController()
      const [never] = await toolFunctions(client, { request: { signal: all.signal } })
      const called = never?.call({}, { signal: one.signal })
      const wanted = which === 'all' ? all : one
      void settled().then(() => wanted.abort())
      await expect(called).rejects.toMatchObject({ code: 'ABORTED' })
    }
    await settled()
    expect(reported).toEqual([])
  })
})

/** A model that calls one tool, then says what it was shown. */
function modelCalling(toolName: string, input: object): MockLanguageModelV3 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  }
  let turn = 0
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      if (turn++ === 0) {
        return {
          content: [
            { type: 'tool-call', toolCallId: 'call-1', toolName, input: JSON.stringify(input) },
          ],
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage,
          warnings: [],
        }
      }
      const shown = prompt.at(-1)
      return {
        content: [{ type: 'text', text: JSON.stringify(shown?.content) }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      }
    },
  })
}

describe('the tool set of the ai package', () => {
  async function ask(toolName: string, input: object): Promise<unknown> {
    const client = await connected(weather())
    const tools = await aiSdkTools(client, { jsonSchema })
    const { text: said } = await generateText({
      model: modelCalling(toolName, input),
      tools,
      prompt: 'What is the weather?',
      stopWhen: stepCountIs(2),
    })
    return (JSON.parse(said) as { output: unknown }[])[0]?.output
  }

  test('lets a model call a tool, and passes it the result', async () => {
    expect(await ask('weather_now', { city: 'Oslo' })).toEqual({
      type: 'content',
      value: [{ type: 'text', text: 'Rain in Oslo' }],
    })
  })

  test('reports a failure to the model, so that it can correct itself', async () => {
    expect(await ask('weather_now', { city: 'Atlantis' })).toEqual({
      type: 'error-text',
      value: 'No such city',
    })
  })

  test('shows images and sound', async () => {
    expect(await ask('sky', {})).toEqual({
      type: 'content',
      value: [
        { type: 'image-data', data: 'aGk=', mediaType: 'image/png' },
        { type: 'file-data', data: 'aGk=', mediaType: 'audio/wav' },
      ],
    })
  })

  test('ignores unknown content, which a later revision may define', async () => {
    const blocks = [{ type: 'video', data: 'x' }, { type: 'image' }, { type: 'resource' }, null]
    const { text: said } = await generateText({
      model: modelCalling('odd', {}),
      tools: await aiSdkTools(await scripted(['odd'], blocks), { jsonSchema }),
      prompt: 'Hm?',
      stopWhen: stepCountIs(2),
    })
    const [shown] = JSON.parse(said) as { output: unknown }[]
    expect(shown?.output).toEqual({
      type: 'content',
      value: blocks.map((block) => ({ type: 'text', text: JSON.stringify(block) })),
    })
  })

  test('aborts a call with the generation, and reports a lost connection as a failure', async () => {
    const abort = new AbortController()
    let reason: unknown
    const server = createServer({ name: 's', version: '1.0.0' }, { onError: () => {} })
    server.tool('hang', {}, (_args, { signal }) => {
      return new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject((reason = signal.reason)))
        abort.abort()
      })
    })
    const client = await connected(server)
    const tools = await aiSdkTools(client, { jsonSchema })
    const ask = (abortSignal?: AbortSignal) =>
      generateText({
        model: modelCalling('hang', {}),
        tools,
        prompt: 'Hm?',
        stopWhen: stepCountIs(2),
        ...(abortSignal && { abortSignal }),
      })
    await expect(ask(abort.signal)).rejects.toMatchObject({ name: 'AbortError' })
    await expect.poll(() => reason).toBeDefined()
    await client.close()
    expect((await ask()).text).toContain('The connection is closed')
  })

  test('passes the schema on unchanged, and reports progress', async () => {
    const received: unknown[] = []
    const client = await connected(weather())
    const tools = await aiSdkTools(client, {
      jsonSchema,
      onProgress: ({ progress }, { toolCallId, tool }) => {
        received.push([progress, toolCallId, tool.name])
      },
    })
    const model = modelCalling('weather_now', { city: 'Oslo' })
    await generateText({ model, tools, prompt: 'Hm?', stopWhen: stepCountIs(2) })
    expect(received).toEqual([[1, 'call-1', 'weather/now']])
    expect(model.doGenerateCalls[0]?.tools?.[0]).toMatchObject({
      name: 'weather_now',
      inputSchema: { type: 'object', required: ['city'] },
    })
  })
})

test('a misspelt filter is refused, so that no tool is given to a model by mistake [P008]', async () => {
  const client = await scripted(['a'], [])
  const options = { filter: () => false } as never
  const message = /^The toolset has no option "filter"; it has .*\binclude\b/
  await expect(toolFunctions(client, options)).rejects.toThrow(message)
  const withSchema = { filter: () => false, jsonSchema } as never
  await expect(aiSdkTools(client, withSchema)).rejects.toThrow(message)
})
