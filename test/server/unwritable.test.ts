import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { ProtocolError, type JsonObject } from '../../src/index.ts'
import { createServer, type Context } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import {
  allMessages,
  lastMessage,
  openSession,
  postModern,
} from '../transport/streamable-http/post.ts'

const itself: JsonObject = { content: [] }
itself.structuredContent = itself

const unwritable: [string, () => unknown][] = [
  ['a bigint', () => ({ content: [], structuredContent: { rows: 1n } })],
  ['itself', () => itself],
  [
    'a member that cannot be read as JSON',
    () => ({
      content: [],
      _meta: {
        toJSON(): never {
          throw new Error('secret')
        },
      },
    }),
  ],
]
const internal = { error: { code: -32603, message: 'Internal error' } }

function make(result: () => unknown) {
  const errors: unknown[] = []
  const server = createServer(
    { name: 's', version: '1' },
    { onError: (error) => void errors.push(error) },
  )
  server.tool('bad', {}, result as () => string)
  server.tool('logged', {}, async (_args, ctx) => {
    await ctx.log('error', 'first')
    return result() as string
  })
  server.tool('good', {}, () => 'good')
  return { server, errors }
}

describe.each(unwritable)('a result that holds %s', (_what, result) => {
  it.each(['bad', 'logged'])(
    'is an internal error over HTTP, and nothing else breaks: %s',
    async (name) => {
      const { server, errors } = make(result)
      const handle = sessionHandler(server)
      const { send } = await openSession(handle)
      const call = (tool: string): JsonObject => {
        return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool } }
      }
      expect(await lastMessage(await send(call(name)))).toMatchObject(internal)
      expect(await lastMessage(await postModern(handle, 'tools/call', { name }))).toMatchObject(
        internal,
      )
      expect(errors).toHaveLength(2)
      expect(await lastMessage(await send(call('good')))).toHaveProperty('result')
    },
  )

  it('affects no other response of a batch', async () => {
    const handle = sessionHandler(make(result).server)
    const { send } = await openSession(handle, '2025-03-26')
    const calls = ['good', 'bad'].map((name, id) => {
      return { jsonrpc: '2.0', id, method: 'tools/call', params: { name } }
    })
    const [answers] = (await allMessages(await send(calls))) as unknown[]
    expect(answers).toMatchObject([
      { id: 0, result: {} },
      { id: 1, ...internal },
    ])
  })

  it.each(['2025-11-25', '2026-07-28'] as const)(
    'is an internal error on a connection in %s',
    async (revision) => {
      await using client = await connectInMemory(make(result).server, { revision })
      await expect(client.callTool('bad', {})).rejects.toMatchObject({ code: -32603 })
      await expect(client.callTool('good', {})).resolves.toHaveProperty('content')
    },
  )
})

it('a hook for errors that throws breaks nothing', async () => {
  const server = createServer(
    { name: 's', version: '1' },
    {
      onError() {
        throw new Error('hook')
      },
    },
  )
  server.tool('fails', {}, () => {
    throw new Error('secret')
  })
  await using client = await connectInMemory(server, { revision: '2025-11-25' })
  const failed = { isError: true, content: [{ text: 'The tool failed' }] }
  await expect(client.callTool('fails', {})).resolves.toMatchObject(failed)
})

it('a question after the answer is refused at once, as nothing would carry it', async () => {
  const server = createServer({ name: 's', version: '1' })
  let context: Context | undefined
  server.tool('keep', {}, (_args, ctx) => {
    context = ctx
    return 'done'
  })
  const handle = sessionHandler(server)
  const { send } = await openSession(handle, '2025-11-25', { elicitation: {} })
  await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'keep' } })
  const late = context?.elicit({ message: 'Still there?', schema: z.object({ a: z.string() }) })
  await expect(late).rejects.toMatchObject({ code: 'INVALID_USE' })
})

describe('a value that the protocol cannot carry', () => {
  it('is an error of the server, not an invalid frame', async () => {
    for (const [result, code] of [
      [() => ({ content: [null] }), -32603],
      [() => ({ content: 5 }), -32603],
      [
        () => {
          throw new ProtocolError(NaN, 'No number')
        },
        -32603,
      ],
    ] as const) {
      const { server } = make(result)
      const response = await postModern(sessionHandler(server), 'tools/call', { name: 'bad' })
      expect((await lastMessage(response)).error.code).toBe(code)
    }
  })

  it('progress goes to tokens that are ids only', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('work', {}, async (_args, ctx) => {
      await ctx.progress(1)
      return 'done'
    })
    for (const progressToken of [{}, [], true, 1.5, null]) {
      const params = { name: 'work', _meta: { progressToken } }
      const messages = await allMessages(
        await postModern(sessionHandler(server), 'tools/call', params),
      )
      expect(messages).toHaveLength(1)
    }
  })
})
