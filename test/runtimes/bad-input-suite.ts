// What a server over HTTP answers to bad requests, on every runtime.
import { createHandler, statefulSessions } from 'edgewise/server'
import { equal, ok, type Suite } from './harness.ts'
import { server } from './server.ts'

const handle = createHandler(server, { maxBodyBytes: 10_000, sessions: statefulSessions() })
const ping = { jsonrpc: '2.0', id: 'first', method: 'ping' }

async function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return handle(
    new Request('https://portable.test/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: typeof body === 'string' || body instanceof ArrayBuffer ? body : JSON.stringify(body),
    }),
  )
}

async function refusal(response: Response): Promise<[status: number, code: unknown]> {
  const { error } = (await response.json()) as { error?: { code: unknown } }
  return [response.status, error?.code]
}

export const badInputSuite: Suite = {
  'Text that is not JSON is answered with a parse error': async () => {
    equal(await refusal(await post('{"jsonrpc":')), [400, -32700])
  },

  'JSON that is not a message is answered as an invalid request': async () => {
    for (const body of [null, 7, 'text', {}, { ...ping, jsonrpc: '1.0' }, { ...ping, id: null }]) {
      equal(await refusal(await post(JSON.stringify(body))), [400, -32600])
    }
  },

  'Another content type is answered with 415': async () => {
    equal((await post(ping, { 'content-type': 'text/plain' })).status, 415)
  },

  'A compressed body is answered with 415': async () => {
    const text = new Blob([JSON.stringify(ping)])
    const body = text.stream().pipeThrough(new CompressionStream('gzip'))
    const bytes = await new Response(body).arrayBuffer()
    const response = await post(bytes, { 'content-encoding': 'gzip' })
    equal(response.status, 415)
    ok((await response.text()).includes('gzip'), 'the answer names the encoding')
  },

  'A client that accepts neither JSON nor events is answered with 406': async () => {
    equal((await post(ping, { accept: 'text/html' })).status, 406)
  },

  'A body over the limit is answered with 413': async () => {
    equal((await post({ ...ping, params: { text: 'x'.repeat(20_000) } })).status, 413)
  },

  'A missing session id is answered with 400, and an unknown one with 404': async () => {
    const headers = { 'mcp-protocol-version': '2025-11-25' }
    equal((await post(ping, headers)).status, 400)
    equal((await post(ping, { ...headers, 'mcp-session-id': 'none' })).status, 404)
  },

  'An unknown protocol version is answered with 400': async () => {
    equal((await post(ping, { 'mcp-protocol-version': '1999-01-01' })).status, 400)
  },

  'Another HTTP method is answered with 405 and the allowed methods': async () => {
    const response = await handle(new Request('https://portable.test/mcp', { method: 'PUT' }))
    equal(response.status, 405)
    ok(response.headers.get('allow')?.includes('POST'), 'Allow names POST')
  },
}
