/** Public reports of questions to the client that went wrong, replayed on both sides. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { JsonObject } from '../../src/index.ts'
import { createServer, text } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import {
  connectTo,
  discovered,
  duplexPeer,
  initialized,
  modernPeer,
  reply,
  result,
} from '../client/peers.ts'
import {
  lastMessage,
  modernHeaders,
  modernRequest,
  post,
  postModern,
} from '../transport/streamable-http/post.ts'
import { rawPeer } from './raw-peer.ts'

const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 't', input: {} })
const used = (toolUseId: string): JsonObject => ({ type: 'tool_result', toolUseId, content: [] })
const said = { type: 'text', text: 'x' }

const wrong: [string, JsonObject][] = [
  ['results among text', { messages: messages([use('a')], [used('a'), said]) }],
  ['a result of another use', { messages: messages([use('a')], [used('b')]) }],
  ['fewer results than uses', { messages: messages([use('a'), use('b')], [used('a')]) }],
  ['a use without an answer', { messages: messages([use('a')], said) }],
  ['no maxTokens', { messages: messages(said), maxTokens: undefined }],
]
const right: [string, JsonObject][] = [
  ['one block', { messages: messages(said) }],
  ['a list of blocks', { messages: messages([said, said]) }],
  ['results in any order', { messages: messages([use('a'), use('b')], [used('b'), used('a')]) }],
  ['a block of an unknown type', { messages: messages({ type: 'new', x: 1 }) }],
]

/** A conversation that ends with the user. */
function messages(...contents: unknown[]): JsonObject[] {
  const roles = ['user', 'assistant']
  return contents.map((content, at) => ({ role: roles[(contents.length - 1 - at) % 2], content }))
}

describe('a conversation for the model of the client', () => {
  const tools = [{ name: 't', inputSchema: { type: 'object' } }]

  it.each([...wrong, ...right])('is checked by the client: %s [B077]', async (name, params) => {
    const asked: unknown[] = []
    const peer = duplexPeer((message) =>
      message.method === 'initialize' ? reply(message, initialized()) : undefined,
    )
    await using _client = await connectTo(peer, {
      revision: '2025-11-25',
      onSample: (given) => {
        asked.push(given.messages)
        return { model: 'm', role: 'assistant', content: text('y') }
      },
    })
    const method = 'sampling/createMessage'
    const given = JSON.parse(JSON.stringify({ maxTokens: 1, ...params })) as JsonObject
    peer.send({ jsonrpc: '2.0', id: 'q', method, params: given })
    const answer = () => peer.messages.find(({ id }) => String(id) === 'q')
    const fails = wrong.some(([each]) => each === name)
    const expected = fails ? { error: { code: -32602 } } : { result: { model: 'm' } }
    await expect.poll(answer).toMatchObject(expected)
    expect(asked).toEqual(fails ? [] : [given.messages])
  })

  it.each([...wrong, ...right])('is checked by the server: %s [B077]', async (name, params) => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('ask', {}, async (_args, ctx) => {
      const given = { maxTokens: 1, tools, ...params } as never
      const failure: unknown = await ctx.sample(given).catch((error: unknown) => error)
      return text(failure instanceof TypeError ? 'refused' : 'asked')
    })
    await using peer = await rawPeer(server)
    await peer.initialize({ sampling: { tools: {} } })
    await peer.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask' } })
    if (wrong.some(([each]) => each === name)) {
      const answer = await peer.until(({ id, method }) => id === 1 && method === undefined)
      expect(answer.result).toEqual({ content: [text('refused')] })
    } else {
      const { method } = await peer.until((message) => message.method !== undefined)
      expect(method).toBe('sampling/createMessage')
    }
  })

  it('that the user rejected is answered with -1 [B077]', async () => {
    const peer = duplexPeer((message) =>
      message.method === 'initialize' ? reply(message, initialized()) : undefined,
    )
    await using _client = await connectTo(peer, {
      revision: '2025-11-25',
      approve: () => false,
      onSample: () => ({ model: 'm', role: 'assistant', content: text('y') }),
    })
    const params = { messages: messages(said), maxTokens: 1 }
    peer.send({ jsonrpc: '2.0', id: 'q', method: 'sampling/createMessage', params })
    await expect
      .poll(() => peer.messages.find(({ id }) => String(id) === 'q'))
      .toMatchObject({ error: { code: -1 } })
  })
})

describe('the resultType of a result', () => {
  const content = [said]
  const form = {
    method: 'elicitation/create',
    params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
  }

  it.each<[JsonObject, unknown]>([
    [{}, { content }],
    [{ resultType: 'complete' }, { content }],
    [{ resultType: 'weird' }, { code: 'INVALID_MESSAGE' }],
    [{ resultType: 7 }, { code: 'INVALID_MESSAGE' }],
    [{ resultType: 'input_required' }, { code: 'INVALID_MESSAGE' }],
    [
      { resultType: 'input_required', inputRequests: { a: form }, requestState: 's"\\é' },
      { content },
    ],
    [{ resultType: 'input_required', inputRequests: { a: form } }, { content }],
    [{ resultType: 'input_required', requestState: '' }, { content }],
  ])('decides what the call returns: %j [B099]', async (kind, expected) => {
    const peer = modernPeer((request) => {
      const again = 'requestState' in kind || 'inputRequests' in kind
      const first = peer.received('tools/call').length === 1
      return result(request, again && !first ? { content } : { content, ...kind })
    })
    await using client = await connectTo(peer, { onElicit: () => ({ action: 'decline' }) })
    expect(client.revision).toBe('2026-07-28')
    const outcome: unknown = await client.callTool('a').catch((error: unknown) => error)
    expect(outcome).toMatchObject(expected as object)
    const calls = peer.received('tools/call').map(({ message }) => message)
    expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length)
    if (calls[1]) expect(calls[1].params?.requestState).toBe(kind.requestState)
    if (calls[1] && !('requestState' in kind)) {
      expect(calls[1].params).not.toHaveProperty('requestState')
    }
  })

  it('may be absent from a discovery [B099]', async () => {
    const { resultType: _, ...old } = discovered()
    const peer = duplexPeer((message) => reply(message, old))
    await using client = await connectTo(peer)
    expect(client.revision).toBe('2026-07-28')
  })

  it.each([
    'io.modelcontextprotocol/protocolVersion',
    'io.modelcontextprotocol/clientCapabilities',
  ])('is -32602 with status 400 for a request without %s [B099]', async (key) => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('a', {}, () => 'x')
    const request = modernRequest('tools/list')
    delete (request.params._meta as JsonObject)[key]
    const response = await post(sessionHandler(server), request, modernHeaders('tools/list'))
    expect([response.status, (await lastMessage(response)).error.code]).toEqual([400, -32602])
  })

  it('is an error for a state that this server did not seal, and nothing runs [B099]', async () => {
    let ran = 0
    const server = createServer({ name: 's', version: '1' })
    server.tool('ask', {}, async (_args, ctx) => {
      ran++
      const schema = z.object({ yes: z.boolean() })
      return text((await ctx.elicit({ message: 'Sure?', schema })).action)
    })
    const handle = sessionHandler(server)
    const call = async (params: JsonObject): Promise<JsonObject> =>
      (await lastMessage(
        await postModern(handle, 'tools/call', { name: 'ask', ...params }, { elicitation: {} }),
      )) as unknown as JsonObject
    const { result: asked } = (await call({})) as { result: JsonObject }
    expect(asked).toMatchObject({ resultType: 'input_required' })
    expect(asked.inputRequests ?? asked.requestState).toBeDefined()
    const [key] = Object.keys(asked.inputRequests as object)
    const inputResponses = { [key as string]: { action: 'decline' } }
    for (const requestState of ['x', `${String(asked.requestState)}x`, 7]) {
      const { error } = await call({ inputResponses, requestState })
      expect(error).toMatchObject({ code: -32602 })
    }
    expect(ran).toBe(1)
    const { requestState } = asked
    expect((await call({ inputResponses, requestState })).result).toMatchObject({
      content: [text('decline')],
    })
  })
})
