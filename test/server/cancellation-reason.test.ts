import { describe, expect, test } from 'vitest'
import { connect, type Client } from '../../src/presets/client.ts'
import type { Revision } from '../../src/index.ts'
import {
  createGateway,
  createServer,
  createSseHandler,
  serveTransport,
  type Server,
} from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { inMemoryTransports } from '../../src/transport/index.ts'
import { sessionHandler } from '../handler.ts'

const info = { name: 'client', version: '1.0.0' }

/** A server with a tool that is there until it is cancelled. */
function waitingServer(): { server: Server; began: Promise<void>; reason: Promise<unknown> } {
  const server = createServer({ name: 'server', version: '1.0.0' })
  let begin = (): void => {}
  const began = new Promise<void>((resolve) => (begin = resolve))
  const reason = new Promise((resolve) => {
    server.tool('wait', {}, async (_args, { signal }) => {
      begin()
      await new Promise((done) => signal.addEventListener('abort', done))
      resolve(signal.reason)
      return 'ignored'
    })
  })
  return { server, began, reason }
}

const over = (handle: (request: Request) => Promise<Response>) => ({
  fetch: (url: string, init: RequestInit) => handle(new Request(url, init)),
})

type Way = (server: Server, revision: Revision) => Promise<Client>

const inOneProcess: Way = (server, revision) => connectInMemory(server, { revision })
const overHttp: Way = (server, revision) =>
  connect('http://localhost/mcp', { ...over(sessionHandler(server)), revision })
const overHttpSse: Way = (server, revision) => {
  const handle = createSseHandler(server)
  const options = { ...over((request) => handle(request)), revision }
  return connect('http://localhost/sse', options)
}

describe('The reason of a cancellation reaches the signal of the handler', () => {
  test.each<[string, Way, Revision]>([
    ['over a transport of 2026-07-28', inOneProcess, '2026-07-28'],
    ['over a transport of 2025-11-25', inOneProcess, '2025-11-25'],
    ['over a transport of 2025-03-26', inOneProcess, '2025-03-26'],
    ['over a transport of 2024-11-05', inOneProcess, '2024-11-05'],
    ['over Streamable HTTP of 2025-11-25', overHttp, '2025-11-25'],
    ['over Streamable HTTP of 2025-06-18', overHttp, '2025-06-18'],
    ['over Streamable HTTP of 2025-03-26', overHttp, '2025-03-26'],
    ['over HTTP+SSE of 2024-11-05', overHttpSse, '2024-11-05'],
  ])('%s [I009]', async (_how, open, revision) => {
    const { server, began, reason } = waitingServer()
    await using client = await open(server, revision)
    const controller = new AbortController()
    const call = client.callTool('wait', {}, { signal: controller.signal })
    await began
    controller.abort(new Error('The user closed the window'))
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await reason).toMatchObject({ code: 'ABORTED', message: 'The user closed the window' })
  })

  test.each<[unknown, string]>([
    ['No longer needed', 'No longer needed'],
    [undefined, 'The request was aborted'],
    [{ secret: 1 }, 'The request was aborted'],
  ])('as its text, or as a default text, if it is %j [I009]', async (given, expected) => {
    const { server, began, reason } = waitingServer()
    await using client = await inOneProcess(server, '2025-11-25')
    const controller = new AbortController()
    const call = client.callTool('wait', {}, { signal: controller.signal })
    await began
    controller.abort(given)
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await reason).toMatchObject({ message: expected })
  })

  test.each([undefined, '', 7, { text: 'x' }])(
    'unless it is not a text, such as %j [I009]',
    async (given) => {
      const { server, began, reason } = waitingServer()
      const [near, far] = inMemoryTransports()
      void serveTransport(server, far)
      await near.start({ message() {}, malformed() {}, closed() {} })
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info }
      await near.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
      await near.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
      await near.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'wait' } })
      await began
      await near.send({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: 2, ...(given !== undefined && { reason: given }) },
      })
      expect(await reason).toMatchObject({ message: 'The client cancelled' })
      await near.close()
    },
  )

  test('through a gateway too [I009]', async () => {
    const { server, began, reason } = waitingServer()
    const behind = { revision: '2025-11-25' } as const
    const front = await createGateway((options) =>
      connectInMemory(server, { ...options, ...behind }),
    )
    await using client = await inOneProcess(front.server, '2025-11-25')
    const controller = new AbortController()
    const call = client.callTool('wait', {}, { signal: controller.signal })
    await began
    controller.abort('No longer needed')
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await reason).toMatchObject({ message: 'No longer needed' })
  })
})
