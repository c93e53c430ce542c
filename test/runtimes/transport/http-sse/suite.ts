// What a server of HTTP+SSE does on every host, as a portable suite.
import { EventReader, type Message } from '../../cloudflare/events.ts'
import { equal, ok, type Suite } from '../../harness.ts'
import { initializeRequest, modernRequest } from '../../../transport/streamable-http/post.ts'

/** Sends a request to the server of the fixture; `/sse` is where its stream is. */
export type Send = (path: string, init?: RequestInit) => Promise<Response>

/** A stream, and where to post to. */
async function openStream(send: Send) {
  const headers = { accept: 'text/event-stream' }
  const reader = new EventReader(await send('/sse?key=1', { headers }))
  const { data: address } = (await reader.next())!
  const post = async (body: unknown, more: Record<string, string> = {}): Promise<number> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...more } }
    const response = await send(address, { ...init, body: text })
    await response.text()
    return response.status
  }
  /** The answer to a request, which is on the stream. */
  const ask = async (request: { id: unknown }): Promise<Message> => {
    equal(await post(request), 202)
    for (let event = await reader.next(); event; event = await reader.next()) {
      const { message } = event
      if (message && !message.method && `${message.id}` === `${String(request.id)}`) return message
    }
    throw new Error('The stream ended before the answer')
  }
  return { reader, address, post, ask, close: () => reader.cancel() }
}

const call = (id: number, name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})

/** @param serve Serves the fixture's server; gives how to send it a request. */
export function sseSuite(serve: () => Promise<Send>): Suite {
  const stream = async () => openStream(await serve())
  return {
    'HTTP+SSE sends the endpoint for messages, and answers on the stream': async () => {
      const { address, ask, close } = await stream()
      ok(/^\/sse\?key=1&session=[\da-f-]{36,64}$/.test(address), `"${address}" is no address`)
      const { result } = await ask(initializeRequest('2024-11-05'))
      equal(result?.protocolVersion, '2024-11-05')
      equal((await ask(call(1, 'add', { a: 1, b: 2 }))).id, 1)
      await close()
    },

    'HTTP+SSE answers a probe of 2026-07-28 on the stream, before and after the handshake [I001]':
      async () => {
        const { ask, close } = await stream()
        const probe = modernRequest('server/discover')
        const versions = async (): Promise<unknown> => (await ask(probe)).result?.supportedVersions
        ok(JSON.stringify(await versions()).includes('2026-07-28'), 'It is not discovered')
        await ask(initializeRequest('2024-11-05'))
        ok(JSON.stringify(await versions()).includes('2026-07-28'), 'It is not discovered')
        await close()
      },

    'HTTP+SSE answers calls of 2026-07-28 on the stream [I001]': async () => {
      const { ask, close } = await stream()
      const add = modernRequest('tools/call', { name: 'add', arguments: { a: 1, b: 2 } })
      equal((await ask(add)).result?.structuredContent, { sum: 3 })
      await close()
    },

    'HTTP+SSE sends the error of a request of 2026-07-28 on the stream [I001]': async () => {
      const { ask, close } = await stream()
      const codeOf = async (request: ReturnType<typeof modernRequest>): Promise<unknown> =>
        (await ask(request)).error?.code
      equal(await codeOf(modernRequest('no/such')), -32601)
      const { params, ...rest } = modernRequest('server/discover')
      const unknown = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }
      const _meta = { ...(params._meta as object), ...unknown }
      equal(await codeOf({ ...rest, params: { ...params, _meta } }), -32022)
      equal(await codeOf(modernRequest('tools/call', { name: 'none' })), -32602)
      await close()
    },

    'HTTP+SSE asks the client on the stream, and accepts the answer': async () => {
      const { reader, ask, post, close } = await stream()
      await ask(initializeRequest('2025-06-18', { capabilities: { elicitation: {} } }))
      equal(await post({ jsonrpc: '2.0', method: 'notifications/initialized' }), 202)
      equal(await post(call(1, 'confirm', { what: 'tea' })), 202)
      const { message } = await reader.until('elicitation/create')
      const result = { action: 'accept', content: { yes: true } }
      equal(await post({ jsonrpc: '2.0', id: message?.id, result }), 202)
      ok(await reader.until('bought: true'), 'Nothing was bought')
      await close()
    },

    'HTTP+SSE rejects a body that is not a message, or belongs to no stream': async () => {
      const { post, close } = await stream()
      equal(await post('no json'), 400)
      equal(await post({ id: 1, method: 'ping' }), 400)
      equal(await post(initializeRequest(), { 'content-type': 'text/plain' }), 415)
      const send = await serve()
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify(initializeRequest())
      const response = await send('/sse?session=none', { method: 'POST', headers, body })
      equal(response.status, 404)
      await response.text()
      await close()
    },
  }
}
