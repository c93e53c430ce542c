// What a server that offers tools only must do on every runtime, in every revision.
import type { Revision } from 'edgewise'
import { connect, type Client } from 'edgewise/client/tiny'
import { createHandler, createServer } from 'edgewise/server/tiny'
import * as z from 'zod'
import { equal, rejection, type Suite } from './harness.ts'

const server = createServer({ name: 'portable-tiny', version: '1.0.0' })
server.tool(
  'add',
  { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
  async ({ a, b }, ctx) => {
    await ctx.progress(1, { total: 2 })
    return { structuredContent: { sum: a + b } }
  },
)

const url = 'https://portable.test/mcp'
const handle = createHandler(server)

/** The tests of a tiny server in one revision. */
export function tinyServerSuite(revision: Revision): Suite {
  const title = (what: string): string => `${revision} of a tiny server: ${what}`

  async function using(run: (client: Client) => Promise<void>): Promise<void> {
    const fetch = (to: string, init: RequestInit): Promise<Response> =>
      handle(new Request(to, init))
    await using client = await connect(url, { revision, fetch })
    await run(client)
  }

  return {
    [title('Calls are answered after their progress')]: () =>
      using(async (client) => {
        const progress: number[] = []
        const onProgress = (update: { progress: number }): void =>
          void progress.push(update.progress)
        const { content } = await client.callTool('add', { a: 2, b: 3 }, { onProgress })
        equal(content, [{ type: 'text', text: '{"sum":5}' }])
        equal(progress, [1])
        const wrong = client.callTool('add', { a: 1 })
        if (revision >= '2025-11-25') equal((await wrong).isError, true)
        else equal((await rejection(wrong)).code, -32602)
      }),

    [title('The server offers nothing else')]: () =>
      using(async (client) => {
        equal(client.serverCapabilities, { tools: {} })
        const refused = await handle(new Request(url, { method: 'DELETE' }))
        equal([refused.status, refused.headers.get('allow')], [405, 'POST, OPTIONS'])
      }),
  }
}
