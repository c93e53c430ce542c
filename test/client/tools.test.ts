import { describe, expect, test } from 'vitest'
import type { ConnectOptions, RequestOptions } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import { connectTo, discovered, duplexPeer, reply } from './peers.ts'

/** Calls a tool that gives a result. */
async function call(
  body: JsonObject,
  options: ConnectOptions = {},
  how?: RequestOptions,
): Promise<unknown> {
  const outputSchema = { type: 'object', properties: { n: { type: 'number' } } }
  const tool = { name: 't', inputSchema: { type: 'object' }, outputSchema }
  const peer = duplexPeer((message) => {
    if (message.method === 'server/discover') return reply(message, discovered())
    return reply(message, message.method === 'tools/list' ? { tools: [tool] } : body)
  })
  const client = await connectTo(peer, options)
  try {
    if (options.validateOutput) await client.listAllTools()
    return await client.callTool('t', {}, how)
  } finally {
    await client.close()
  }
}

describe('results of tools', () => {
  test('that failed are results, not errors [L-TOOL-018] [M-TOOL-039] [M-TOOL-040]', async () => {
    const body = { content: [{ type: 'text', text: 'no' }], isError: true }
    expect(await call(body)).toEqual(body)
  })

  test.each([{ a: 1 }, [1], null, false, 0, ''])(
    'with the structured content %j need no content [M-TOOL-024]',
    async (structuredContent) => {
      expect(await call({ structuredContent })).toEqual({ structuredContent, content: [] })
    },
  )

  test.each<JsonObject>([{}, { toolResult: 1 }, { content: 'x' }])(
    'such as %j are an error that has them',
    async (body) => {
      await expect(call(body)).rejects.toMatchObject({ code: 'INVALID_MESSAGE', data: body })
    },
  )

  test('keep content of unknown kinds [M-TOOL-030]', async () => {
    const content = [
      { type: 'audio', data: '', mimeType: 'a/b' },
      { type: 'x', y: 1 },
    ]
    expect(await call({ content })).toEqual({ content })
  })
})

describe('structured content', () => {
  const validateOutput = (_: JsonObject, value: unknown): string | undefined =>
    typeof (value as JsonObject).n === 'number' ? undefined : '"n" must be a number'

  test('is checked against the schema of its tool, when asked for [L-TOOL-025] [M-TOOL-022]', async () => {
    const good = { content: [], structuredContent: { n: 1 } }
    expect(await call(good, { validateOutput })).toEqual(good)
    await expect(
      call({ content: [], structuredContent: { n: '1' } }, { validateOutput }),
    ).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
      message: expect.stringContaining('"n" must be a number') as string,
      data: { structuredContent: { n: '1' } },
    })
    await expect(call({ content: [] }, { validateOutput })).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
    })
  })

  test('is not checked in errors [L-TOOL-025] [M-TOOL-023]', async () => {
    const failed = { content: [], isError: true }
    expect(await call(failed, { validateOutput })).toEqual(failed)
  })

  test('is not missed in questions that the caller answers', async () => {
    const asks = { resultType: 'input_required', inputRequests: {}, requestState: 's' }
    expect(await call(asks, { validateOutput }, { input: 'manual' })).toEqual(asks)
  })
})
