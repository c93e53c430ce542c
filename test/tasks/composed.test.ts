/** Tasks of servers that are put together, and of those behind a gateway. */
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { ConnectOptions } from '../../src/presets/client.ts'
import type { ProgressParams, Revision } from '../../src/index.ts'
import {
  createGateway,
  createServer,
  text,
  type Server,
  fromServer,
} from '../../src/presets/server.ts'
import { taskPolling, tasks } from '../../src/tasks/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { textOf } from './fixture.ts'

const BOTH = ['2025-11-25', '2026-07-28'] as const

/** A server with tools that are tasks and ask. */
function baking(): Server {
  const server = createServer({ name: 'bakery', version: '1' })
  server.extend(tasks({ pollIntervalMs: 1 }))
  for (const [name, task] of [
    ['must', 'required'],
    ['may', 'optional'],
  ] as const) {
    server.tool(name, { task }, async (_args, ctx) => {
      const schema = z.object({ yes: z.boolean() })
      const { action } = await ctx.elicit({ message: 'Sure?', schema })
      return text(`${name} ${action}`)
    })
  }
  return server
}

async function results(
  server: Server,
  revision: Revision,
  names: readonly string[],
  follows: boolean,
): Promise<string[]> {
  const options: ConnectOptions = {
    revision,
    onElicit: () => ({ action: 'accept', content: { yes: true } }),
    extensions: follows ? [taskPolling()] : [],
  }
  await using client = await connectInMemory(server, options)
  const given: string[] = []
  for (const name of names) given.push(textOf(await client.callTool(name)))
  return given
}

describe.each(BOTH)('in %s', (revision) => {
  test.each([
    ['which has no tasks, even if its client supports them', false, true],
    ['which has no tasks', false, false],
    ['which has tasks', true, true],
  ])(
    'tools that are tasks can be called of the server that they are mounted in, %s',
    async (_, has, follows) => {
      const errors: unknown[] = []
      const onError = (error: unknown) => errors.push(error)
      const outer = createServer({ name: 'outer', version: '1' }, { onError })
      if (has) outer.extend(tasks({ pollIntervalMs: 1 }))
      outer.mount('m', fromServer(baking()))
      const given = await results(outer, revision, ['m_must', 'm_may'], follows)
      expect(given).toEqual(['must accept', 'may accept'])
      expect(errors).toEqual([])
    },
  )

  test.each(BOTH)('a gateway follows the tasks of a server of %s', async (behind) => {
    const problems: unknown[] = []
    const gateway = await createGateway(
      (options) =>
        connectInMemory(baking(), {
          ...options,
          revision: behind,
          extensions: [taskPolling()],
          onError: (error) => problems.push(error),
        }),
      { onError: (error) => problems.push(error) },
    )
    const given = await results(gateway.server, revision, ['must', 'may'], false)
    expect(given).toEqual(['must accept', 'may accept'])
    expect(problems).toEqual([])
    await gateway.close()
  })

  test('a task behind a gateway is begun once, however often it asks, and its course is progress', async () => {
    const begun: number[] = []
    const server = createServer({ name: 'bakery', version: '1' })
    server.extend(tasks({ pollIntervalMs: 1 }))
    server.tool('bake', { task: 'required' }, async (_args, ctx) => {
      const at = await ctx.step('begin', () => begun.push(1))
      await ctx.progress(1, { message: 'In the oven' })
      const schema = z.object({ yes: z.boolean() })
      const first = await ctx.elicit({ message: 'Sure?', schema })
      const second = await ctx.elicit({ message: 'Really?', schema })
      return text(`${at} ${first.action} ${second.action}`)
    })
    const gateway = await createGateway((options) =>
      connectInMemory(server, { ...options, extensions: [taskPolling()] }),
    )
    await using client = await connectInMemory(gateway.server, {
      revision,
      onElicit: ({ message }) =>
        message === 'Sure?' ? { action: 'accept', content: { yes: true } } : { action: 'decline' },
    })
    const received = new Set<string | undefined>()
    const onProgress = ({ message }: ProgressParams) => received.add(message)
    expect(textOf(await client.callTool('bake', {}, { onProgress }))).toBe('1 accept decline')
    expect(begun).toEqual([1])
    expect(received).toContain('In the oven')
    await gateway.close()
  })

  test('a gateway has tasks of its own for those of the server behind', async () => {
    const gateway = await createGateway((options) =>
      connectInMemory(baking(), {
        ...options,
        revision: '2025-11-25',
        extensions: [taskPolling()],
      }),
    )
    const own = tasks({ pollIntervalMs: 1 })
    gateway.server.extend(own)
    const made: string[] = []
    gateway.server.use('tools/call', async (_request, _ctx, next) => {
      const result = await next()
      made.push(result.resultType === 'task' || 'task' in result ? 'task' : 'result')
      return result
    })
    const given = await results(gateway.server, revision, ['must', 'may'], true)
    expect(given).toEqual(['must accept', 'may accept'])
    expect(made).toEqual(['task', 'task'])
    await gateway.close()
  })
})
