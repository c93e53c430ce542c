/** Input requests of aborted calls. */
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { connect } from '../../src/presets/client.ts'
import { createHandler, createServer, statefulSessions } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { settled } from '../settled.ts'

const asking = ['2025-06-18', '2025-11-25', '2026-07-28'] as const

test.each(
  asking.flatMap((revision) => [
    [revision, 'over HTTP'] as const,
    [revision, 'in memory'] as const,
  ]),
)(
  'an input request of %s %s is withdrawn when its call is aborted, which is not a failure',
  async (revision, where) => {
    const onError = vi.fn<(error: unknown) => void>()
    const server = createServer({ name: 'asking', version: '1' }, { onError })
    let left = false
    server.tool('ask', {}, async (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => (left = true))
      const { action } = await ctx.elicit({ message: 'Sure?', schema: z.object({}) })
      return action
    })
    const handle = createHandler(server, { sessions: statefulSessions() })
    let shown: AbortSignal | undefined
    const options = {
      revision,
      fetch: (url: string, init: RequestInit) => handle(new Request(url, init)),
      onElicit: (_asked: unknown, { signal }: { signal: AbortSignal }) => {
        shown = signal
        return new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      },
      onError: () => {},
    }
    await using client = await (where === 'over HTTP'
      ? connect('https://asking.test/mcp', options)
      : connectInMemory(server, options))

    const controller = new AbortController()
    const call = client.callTool('ask', {}, { signal: controller.signal })
    await expect.poll(() => shown).toBeDefined()
    const signal = shown!
    expect(signal.aborted).toBe(false)
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    await expect.poll(() => signal.aborted).toBe(true)
    if (revision !== '2026-07-28') await expect.poll(() => left).toBe(true)
    await settled()
    expect(onError).not.toHaveBeenCalled()
  },
)
