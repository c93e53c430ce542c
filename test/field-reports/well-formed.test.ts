// Text that was cut inside a character leaves a server and a client as well-formed Unicode.
import { expect, test } from 'vitest'
import { connect } from '../../src/presets/client.ts'
import { createServer, createSseHandler, serveTransport } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { inMemoryTransports } from '../../src/transport/in-memory.ts'
import { messagePortTransport, stdioTransport, type Transport } from '../../src/transport/index.ts'
import { wellFormedJson } from '../../src/protocol/well-formed-json.ts'
import { sessionHandler } from '../handler.ts'
import { until } from '../client/peers.ts'
import { initializeRequest, openSession, postModern } from '../transport/streamable-http/post.ts'

const CUT = '😀'.slice(0, 1)
const TAIL = '😀'.slice(1)
/** Text that looks like an escape in JSON, but is not one. */
const BACKSLASH = String.raw`\ud83d \\udc00`

/** Fails where JSON text has the escape of a lone surrogate. */
function expectWellFormed(text: string): void {
  const pairs = text.replaceAll(/\\\\/g, '')
  expect(pairs).not.toMatch(/\\ud/i)
  expect(text.isWellFormed()).toBe(true)
  expect(text).toContain('\ufffd')
}

function cuttingServer() {
  const server = createServer({ name: 's', version: '1' }, { onError: () => {} })
  server.tool('text', {}, () => `half ${CUT}`)
  server.tool('structured', {}, () => {
    return { content: [], structuredContent: { [`key ${TAIL}`]: [CUT, BACKSLASH, 'whole 😀'] } }
  })
  server.tool('logs', {}, async (_args, ctx) => {
    await ctx.log('error', { [CUT]: TAIL })
    return CUT
  })
  server.tool('fails', {}, () => {
    throw new Error(`half ${CUT}`)
  })
  server.resource('x://cut', { name: 'cut' }, () => `half ${CUT}`)
  server.prompt('cut', {}, () => `half ${CUT}`)
  return server
}

const requests: [string, string, object][] = [
  ['a text of a tool', 'tools/call', { name: 'text' }],
  ['a key of structured content', 'tools/call', { name: 'structured' }],
  ['a log before the answer', 'tools/call', { name: 'logs' }],
  ['the contents of a resource', 'resources/read', { uri: 'x://cut' }],
  ['a message of a prompt', 'prompts/get', { name: 'cut' }],
]

test.each(requests)(
  '%s reaches a client over HTTP as well-formed text [C029]',
  async (_what, method, params) => {
    const handle = sessionHandler(cuttingServer())
    const meta = { 'io.modelcontextprotocol/logLevel': 'debug' }
    const modern = await postModern(handle, method, { ...params, _meta: meta })
    const { send } = await openSession(handle)
    const legacy = await send({ jsonrpc: '2.0', id: 1, method, params })
    expectWellFormed(await modern.text())
    expectWellFormed(await legacy.text())
  },
)

test('an error that quotes the request is well-formed text [C029]', async () => {
  const { send } = await openSession(sessionHandler(cuttingServer()))
  const params = { name: `none ${CUT}` }
  const response = await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  expectWellFormed(await response.text())
})

test('text that only looks like the escape of a lone surrogate stays as it is [C029]', async () => {
  await using client = await connectInMemory(cuttingServer())
  const { structuredContent } = await client.callTool('structured', {})
  expect(structuredContent).toEqual({ 'key \ufffd': ['\ufffd', BACKSLASH, 'whole 😀'] })
  for (const text of [BACKSLASH, `${BACKSLASH}\\${CUT}`, `\\\\${CUT}\\ud`, `"\n${TAIL}${CUT}\\"`]) {
    expect(JSON.parse(wellFormedJson([text, { [text]: 1 }]))).toEqual([
      text.toWellFormed(),
      { [text.toWellFormed()]: 1 },
    ])
  }
})

/** Both ends of a connection, and what goes over it as text or as a copy. */
const connections: [string, () => { near: Transport; far: Transport; seen: () => string }][] = [
  [
    'stdio',
    () => {
      const there = new TransformStream<Uint8Array, Uint8Array>()
      const back = new TransformStream<Uint8Array, Uint8Array>()
      let seen = ''
      const spy = (): TransformStream<Uint8Array, Uint8Array> =>
        new TransformStream({
          transform(chunk, controller) {
            seen += new TextDecoder().decode(chunk)
            controller.enqueue(chunk)
          },
        })
      return {
        near: stdioTransport(back.readable.pipeThrough(spy()), there.writable),
        far: stdioTransport(there.readable.pipeThrough(spy()), back.writable),
        seen: () => seen,
      }
    },
  ],
  [
    'memory',
    () => {
      const [near, far] = inMemoryTransports()
      return { near: spying(near), far: spying(far), seen: () => received.splice(0).join() }
    },
  ],
  ...(['text', 'objects'] as const).map((format): (typeof connections)[number] => [
    `a message port with ${format}`,
    () => {
      const { port1, port2 } = new MessageChannel()
      const options = format === 'text' ? { format } : {}
      return {
        near: spying(messagePortTransport(port1, options)),
        far: spying(messagePortTransport(port2, options)),
        seen: () => received.splice(0).join(),
      }
    },
  ]),
]

const received: string[] = []

/** A transport whose receiver notes down what arrives. */
function spying(transport: Transport): Transport {
  return {
    start: (receiver) =>
      transport.start({
        ...receiver,
        message(frame) {
          received.push(JSON.stringify(frame))
          return receiver.message(frame)
        },
        malformed: (error) => receiver.malformed(error),
        closed: (reason) => receiver.closed(reason),
      }),
    send: (frame) => transport.send(frame),
    close: () => transport.close(),
  }
}

test.each(connections)(
  'a server and a client send well-formed text over %s [C029]',
  async (_kind, open) => {
    const { near, far, seen } = open()
    const server = cuttingServer()
    server.tool('echo', { input: anything }, (args) => JSON.stringify(args))
    void serveTransport(server, far)
    await using client = await connect(near)
    await client.callTool('echo', { [CUT]: `half ${TAIL}` })
    await client.callTool('structured', {})
    await client.callTool('logs', {})
    expectWellFormed(seen())
  },
)

const anything = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  },
} as const

test('a client posts well-formed text [C029]', async () => {
  const handle = sessionHandler(cuttingServer())
  const bodies: string[] = []
  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    await using client = await connect('http://localhost/mcp', {
      revision,
      fetch(url, init) {
        bodies.push(String(init?.body))
        return handle(new Request(url, init))
      },
    })
    await client.callTool('text', { [CUT]: `half ${TAIL}` })
    // The header that repeats the name says the same as the body
    await expect(client.callTool(CUT, {})).rejects.toMatchObject({ code: -32602 })
  }
  const calls = bodies.filter((body) => body.includes('tools/call'))
  expect(calls).toHaveLength(4)
  for (const body of calls) expectWellFormed(body)
})

test('the stream of HTTP+SSE has well-formed text [C029]', async () => {
  const handle = createSseHandler(cuttingServer())
  const stream = await handle(
    new Request('http://localhost/sse', { headers: { accept: 'text/event-stream' } }),
  )
  let seen = ''
  const reading = stream.body?.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({
      write: (chunk) => void (seen += chunk),
    }),
  )
  await until(() => seen.includes('data: '))
  const address = new URL(/data: (.*)/.exec(seen)?.[1] ?? '', 'http://localhost')
  const headers = { 'content-type': 'application/json' }
  const post = (message: object): Promise<Response> =>
    handle(new Request(address, { method: 'POST', headers, body: JSON.stringify(message) }))
  await post(initializeRequest('2024-11-05'))
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
  await post({ jsonrpc: '2.0', id: 'call', method: 'tools/call', params: { name: 'text' } })
  await until(() => seen.includes('"call"'))
  expectWellFormed(seen)
  void reading
  await handle.close?.()
})
