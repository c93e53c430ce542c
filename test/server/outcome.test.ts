// What a run of a handler comes to: its result, or a suspension that makes nothing else of it count.
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createHandler, createServer, text, type Server } from '../../src/presets/server.ts'
import { settled } from '../settled.ts'
import { lastMessage, postModern } from '../transport/streamable-http/post.ts'

const form = z.object({ yes: z.boolean() })
const elicitation = { elicitation: {} }

/** A server, what its middleware saw of each call, and what its author learned. */
function watched() {
  const seen: string[] = []
  const errors: unknown[] = []
  const server = createServer(
    { name: 's', version: '1' },
    { onError: (error) => void errors.push(error) },
  )
  server.use('tools/call', async (_request, _ctx, next) => {
    try {
      const { isError = false } = await next()
      seen.push(isError ? 'a failure' : 'a result')
    } catch (error) {
      seen.push((error as Error).name)
      throw error
    }
    return { content: [text('from the middleware')] }
  })
  return { server, seen, errors }
}

async function call(server: Server, name: string) {
  const params = { name, arguments: {} }
  return lastMessage(await postModern(createHandler(server), 'tools/call', params, elicitation))
}

describe('A handler that waits for an answer', () => {
  it('gives its middleware an error and no result, and its author nothing', async () => {
    const { server, seen, errors } = watched()
    server.tool('ask', {}, async (_args, ctx) => {
      const { action } = await ctx.elicit({ message: 'Sure?', schema: form })
      return text(action)
    })
    expect(await call(server, 'ask')).toMatchObject({ result: { resultType: 'input_required' } })
    expect(seen).toEqual(['InputPending'])
    expect(errors).toEqual([])
  })

  it('asks as well if it throws another error in place of waiting, which is not reported', async () => {
    const { server, seen, errors } = watched()
    server.tool('wrap', {}, async (_args, ctx) => {
      await ctx.elicit({ message: 'Sure?', schema: form }).catch((cause: unknown) => {
        throw new Error('The user was not asked', { cause })
      })
      return text('done')
    })
    expect(await call(server, 'wrap')).toMatchObject({ result: { resultType: 'input_required' } })
    expect(seen).toEqual(['a failure'])
    expect(errors).toEqual([])
  })

  it('asks as well if its middleware answers in its place', async () => {
    const { server } = watched()
    server.tool('swallow', {}, async (_args, ctx) => {
      await ctx.elicit({ message: 'Sure?', schema: form }).catch(() => {})
      return text('done')
    })
    expect(await call(server, 'swallow')).toMatchObject({
      result: { resultType: 'input_required' },
    })
  })
})

describe('A handler that fails', () => {
  it('is reported once for each time that middleware runs it', async () => {
    const errors: unknown[] = []
    const server = createServer(
      { name: 's', version: '1' },
      { onError: (error) => void errors.push((error as Error).message) },
    )
    server.use('tools/call', async (_request, _ctx, next) => {
      await next()
      await settled()
      return next()
    })
    let runs = 0
    server.tool('fail', {}, () => {
      throw new Error(`Run ${++runs}`)
    })
    expect(await call(server, 'fail')).toMatchObject({
      result: { isError: true, content: [{ text: 'The tool failed' }] },
    })
    expect(errors).toEqual(['Run 1', 'Run 2'])
  })
})

describe('The tool of a call', () => {
  const visibleOf = (server: Server): { looks: () => number; hide: () => void } => {
    let looks = 0
    let shown = true
    const visible = (): boolean => {
      looks++
      return shown
    }
    server.tool('seen', { visible }, () => text('done'))
    return { looks: () => looks, hide: () => void (shown = false) }
  }

  it('is looked up once', async () => {
    const server = createServer({ name: 's', version: '1' })
    const { looks } = visibleOf(server)
    expect(await call(server, 'seen')).toMatchObject({ result: { content: [{ text: 'done' }] } })
    expect(looks()).toBe(1)
  })

  it('is not called once middleware has hidden it from the caller', async () => {
    const server = createServer({ name: 's', version: '1' })
    const { hide } = visibleOf(server)
    server.use('tools/call', async (_request, _ctx, next) => {
      hide()
      return next()
    })
    expect(await call(server, 'seen')).toMatchObject({
      error: { code: -32602, message: 'Unknown tool: "seen"' },
    })
  })
})
