/** Tools that let their client wait without a connection. */
import { expect, test } from 'vitest'

import { connect } from '../../../src/presets/client.ts'
import type { Revision } from '../../../src/index.ts'
import { createServer, text, type Server } from '../../../src/presets/server.ts'
import { sessionHandler } from '../../handler.ts'
import { lastMessage, openSession } from './post.ts'

const call = (name: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: {} },
})

/** A server with a tool that disconnects and answers when `finish` is called. */
function makePolled(): { server: Server; finish: () => void } {
  const server = createServer({ name: 'polled', version: '1.0.0' })
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  server.tool('slow', {}, async (_args, ctx) => {
    ctx.disconnect(20)
    await finished
    return text('done')
  })
  return { server, finish }
}

test('A stream that a tool leaves begins with an id, brings retry, ends, and is resumed [L-HTTP-018] [L-HTTP-020] [L-HTTP-022]', async () => {
  const { server, finish } = makePolled()
  const handle = sessionHandler(server)
  const { id, send } = await openSession(handle)
  const response = await send(call('slow'))
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const body = await response.text()
  expect(body).toMatch(/^id: \S+\ndata: \n\n/)
  expect(body).toMatch(/\nretry: 20\n/)

  finish()
  const lastEventId = [...body.matchAll(/^id: (.+)$/gm)].at(-1)?.[1]
  const resumed = await handle(
    new Request('http://localhost/mcp', {
      headers: {
        accept: 'text/event-stream',
        'mcp-session-id': id,
        'last-event-id': lastEventId ?? '',
      },
    }),
  )
  expect((await lastMessage(resumed)).result).toMatchObject({ content: [{ text: 'done' }] })
})

test.each<Revision>(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'])(
  'A client of %s gets the answer of a tool that would leave it waiting',
  async (revision) => {
    const { server, finish } = makePolled()
    const handle = sessionHandler(server)
    const fetch = (url: string, init: RequestInit) => handle(new Request(url, init))
    await using client = await connect('http://localhost/mcp', { fetch, revision })
    const calling = client.callTool('slow')
    finish()
    expect((await calling).content).toEqual([text('done')])
  },
)
