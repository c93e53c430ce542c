// A program that reads one long input in the smallest pieces, and prints what came of it.
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { serve } from '../../../runtimes/node/index.ts'
import { connect, loadIcon } from '../../../src/presets/client.ts'
import { introspectedTokens } from '../../../src/protected-resource/index.ts'
import { createHandler, createServer } from '../../../src/presets/server.ts'
import { LATEST_LEGACY } from '../../../src/protocol/revisions.ts'

/** A stream of one byte again and again, one in a chunk. */
function bytes(count: number, byte = 0x20): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = count
  return new ReadableStream({
    pull(controller) {
      if (left-- > 0) controller.enqueue(Uint8Array.of(byte))
      else controller.close()
    },
  })
}

/** An answer to `initialize` that is preceded by something long. */
function answering(contentType: string, body: () => BodyInit): (url: string) => Promise<string> {
  const fetch = (): Promise<Response> =>
    Promise.resolve(new Response(body(), { headers: { 'content-type': contentType } }))
  return (url) =>
    connect(url, { fetch, revision: LATEST_LEGACY.version }).then(
      () => 'connected',
      (error: Error) => error.message,
    )
}

/** The status with which a handler answers a body of spaces. */
async function handled(count: number, headers: Record<string, string>): Promise<number> {
  const handle = createHandler(createServer({ name: 's', version: '1' }))
  const init: RequestInit & { duplex: 'half' } = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: bytes(count),
    duplex: 'half',
  }
  const response = await handle(new Request('http://localhost/mcp', init))
  return response.status
}

const cases: Record<string, (count: number) => Promise<unknown>> = {
  request: (count) => handled(count, {}),
  'request of a stated length': (count) => handled(count, { 'content-length': String(count) }),
  async 'request over a socket'(count) {
    const { port, close } = await serve(createServer({ name: 's', version: '1' }))
    const socket = connectSocket(port, '127.0.0.1')
    const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
    const chunks = '1\r\n \r\n'.repeat(1000)
    for (let left = count; left > 0; left -= 1000) {
      if (!socket.write(chunks)) await once(socket, 'drain')
    }
    socket.write('0\r\n\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    await close()
    return Number(String(answer).split(' ')[1])
  },
  response: (count) =>
    answering('application/json', () => bytes(count))('https://server.example/mcp'),
  'line of events': (count) =>
    answering('text/event-stream', () => bytes(count, 0x61))('https://server.example/mcp'),
  'event of empty lines': (count) => {
    const text = 'data:\n'.repeat(1000)
    let left = count / 1000
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        if (left-- > 0) controller.enqueue(new TextEncoder().encode(text))
        else controller.close()
      },
    })
    return answering('text/event-stream', () => body)('https://server.example/mcp')
  },
  async icon(count) {
    const headers = { 'content-type': 'image/png' }
    const src = 'https://server.example/icon.png'
    const fetch = async (): Promise<Response> => new Response(bytes(count), { headers })
    return loadIcon({ src }, { serverUrl: src, fetch, maxBytes: count }).catch(
      (error: Error) => error.message,
    )
  },
  async introspection(count) {
    const verify = introspectedTokens({
      endpoint: 'https://auth.example/introspect',
      clientId: 'id',
      clientSecret: 'secret',
      fetch: async () =>
        new Response(bytes(count), { headers: { 'content-type': 'application/json' } }),
    })
    const expected = {
      resource: 'https://server.example',
      audience: ['https://server.example'],
      authorizationServers: ['https://auth.example'],
      clockSkewMs: 0,
    }
    return verify('token', expected).catch((error: Error) => error.name)
  },
}

const [, , name = '', count] = process.argv
const read = await cases[name]?.(Number(count))
console.log(JSON.stringify(read))
