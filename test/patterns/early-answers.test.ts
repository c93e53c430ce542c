/** Answers that come with a first request, before anything was asked. */
import { expect, test } from 'vitest'
import * as z from 'zod'

import { createServer, text } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { lastMessage, postModern } from '../transport/streamable-http/post.ts'

const server = createServer({ name: 'early', version: '1.0.0' })
const question = { message: 'Who?', schema: z.object({ name: z.string() }) }
server.tool('named', {}, async (_args, ctx) => {
  const { content } = await ctx.elicit({ ...question, key: 'who' })
  return text(`Hello, ${content?.name}`)
})
server.tool('counted', {}, async (_args, ctx) => {
  const { content } = await ctx.elicit(question)
  return text(`Hello, ${content?.name}`)
})
const handle = sessionHandler(server)

async function call(name: string, inputResponses: unknown) {
  const params = { name, inputResponses } as { name: string }
  const response = await postModern(handle, 'tools/call', params, { elicitation: {} })
  return (await lastMessage(response)).result
}

test('an answer to a question with a key of its own is taken without requestState', async () => {
  const result = await call('named', {
    other: { action: 'accept', content: { name: 'Eve' } },
    who: { action: 'accept', content: { name: 'Ada' } },
  })
  expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'Hello, Ada' }] })
})

test('an early answer that the schema rejects is requested again', async () => {
  const result = await call('named', { who: { action: 'accept', content: { name: 7 } } })
  expect(result).toMatchObject({ resultType: 'input_required' })
  expect(Object.keys(result?.inputRequests as object)).toEqual(['who'])
})

test('an early answer cannot guess the place of a question without a key', async () => {
  const answer = { action: 'accept', content: { name: 'Eve' } }
  const result = await call('counted', { 'elicitation/create#1': answer })
  expect(result).toMatchObject({ resultType: 'input_required' })
})
