// What every revision must do on every runtime, over any transport.
import type { Client, ConnectOptions } from 'edgewise/client'
import type { Revision } from 'edgewise'
import { callSuite } from './call-suite.ts'
import { equal, until, type Suite } from './harness.ts'
import { changing, server } from './server.ts'

/** Connects a client that speaks one revision to the server of the suite. */
export type Open = (options: ConnectOptions & { revision: Revision }) => Promise<Client>

/** The tests of one revision over one transport; `over` names the transport in their titles. */
export function revisionSuite(over: string, revision: Revision, open: Open): Suite {
  const title = (what: string): string => `${revision} ${over}: ${what}`
  const hasTitles = revision >= '2025-06-18'

  async function using<T>(
    run: (client: Client) => Promise<T>,
    options: ConnectOptions = {},
  ): Promise<T> {
    await using client = await open({ ...options, revision })
    return await run(client)
  }

  return {
    ...callSuite(over, revision, open),

    [title('An elicitation reaches the user, or fails at once without a handler')]: () =>
      using(
        async (client) => {
          const result = await client.callTool('ask')
          if (!hasTitles) return equal(result.isError, true)
          equal(result.content, [{ type: 'text', text: 'You said Bodø' }])
        },
        { onElicit: () => ({ action: 'accept', content: { city: 'Bodø' } }) },
      ),

    [title('A declined elicitation reaches the tool')]: () =>
      using(
        async (client) => {
          const result = await client.callTool('ask')
          if (!hasTitles) return equal(result.isError, true)
          equal(result.content, [{ type: 'text', text: 'decline' }])
        },
        { onElicit: () => ({ action: 'decline' }) },
      ),

    [title('A tool asks the model and for the roots')]: () =>
      using(
        async (client) => {
          const sampled = await client.callTool('sample')
          equal(sampled.content, [
            { type: 'text', text: 'The model said {"type":"text","text":"Owl"}' },
          ])
          const rooted = await client.callTool('roots')
          equal(rooted.content, [{ type: 'text', text: 'file:///home' }])
        },
        {
          onSample: () => ({
            role: 'assistant',
            model: 'test',
            content: { type: 'text', text: 'Owl' },
          }),
          roots: [{ uri: 'file:///home' }],
        },
      ),

    [title('The client is notified of a changed list and of an updated resource')]: async () => {
      const received = new Set<string>()
      await using client = await open({
        revision,
        onToolsChanged: () => received.add('tools'),
        onResourceUpdated: (uri) => received.add(uri),
      })
      await client.subscribe('note://1')
      try {
        // Where the news travel on a stream of their own, it may not be open yet.
        await until('The client was notified', () => {
          changing.enable()
          changing.disable()
          server.notify.resourceUpdated('note://1')
          return received.size === 2
        })
      } finally {
        changing.disable()
      }
      await client.unsubscribe('note://1')
    },
  }
}
