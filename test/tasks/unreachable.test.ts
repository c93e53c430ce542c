/** Tasks of 2025-11-25 whose client has no stateful session, so that no input can be requested. */
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { connect } from '../../src/presets/client.ts'
import {
  createHandler,
  createServer,
  sealedSessions,
  text,
  type HandlerOptions,
} from '../../src/presets/server.ts'
import { taskPolling, tasks } from '../../src/tasks/index.ts'
import { textOf } from './fixture.ts'

const WHY =
  '"tools/call" cannot ask the client: in revision 2025-11-25 that needs a stateful session'

describe.each<[string, HandlerOptions]>([
  ['no sessions', {}],
  ['sealed sessions', { sessions: sealedSessions({ secrets: ['0123456789abcdef'.repeat(2)] }) }],
])('with %s', (_, options) => {
  async function connected() {
    const ran: string[] = []
    const server = createServer({ name: 's', version: '1' }, { onError: () => {} })
    server.extend(tasks({ pollIntervalMs: 1 }))
    server.tool('ask', { task: 'required' }, async (_args, ctx) => {
      await ctx.step('once', () => void ran.push('once'))
      const schema = z.object({ yes: z.boolean() })
      const { action } = await ctx.elicit({ message: 'Sure?', schema })
      return text(action)
    })
    server.tool('own', { task: 'required' }, () => {
      return {
        resultType: 'input_required' as const,
        inputRequests: { a: { method: 'roots/list' } },
      }
    })
    const handle = createHandler(server, options)
    const client = await connect('http://peer.example/mcp', {
      revision: '2025-11-25',
      fetch: (url, init) => handle(new Request(url, init)),
      extensions: [taskPolling()],
      onElicit: () => ({ action: 'cancel' }),
      roots: [],
    })
    return { client, ran }
  }

  test('a question fails at once, as in a plain call, and completed steps are kept', async () => {
    const { client, ran } = await connected()
    const result = await client.callTool('ask')
    expect(result.isError).toBe(true)
    expect(textOf(result)).toBe(WHY)
    expect(ran).toEqual(['once'])
    await client.close()
  })

  test('a result that asks fails at once', async () => {
    const { client } = await connected()
    await expect(client.callTool('own')).rejects.toMatchObject({ code: -32603, message: WHY })
    await client.close()
  })
})
