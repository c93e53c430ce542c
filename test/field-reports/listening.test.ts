/** Public reports of hosts and streams of earlier transports that went wrong, replayed on Node. */
import { connect as dial } from 'node:net'
import { expect, it } from 'vitest'
import { serve } from '../../runtimes/node/index.ts'
import { createServer, createSseHandler, text } from '../../src/presets/server.ts'
import { makeServer } from '../server/fixture.ts'

/** The status of a POST with a `Host` header as it is given, or without one. */
function statusFor(port: number, host: string | undefined): Promise<number> {
  const clientInfo = { name: 'c', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
  const lines = [
    'POST /mcp HTTP/1.1',
    ...(host === undefined ? [] : [`Host: ${host}`]),
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  return new Promise((resolve, reject) => {
    const socket = dial(port, '127.0.0.1', () =>
      socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`),
    )
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])))
  })
}

it('only names of this machine pass, with any port or none, however they are written [B035]', async () => {
  const http = await serve(makeServer().server)
  try {
    const statuses: Record<string, number> = {}
    for (const host of [
      `localhost:${http.port}`,
      'localhost',
      '127.0.0.1',
      '[::1]:3000',
      '[::1]',
      'LOCALHOST:3000',
      'localhost.evil.io',
      'evil.io:3000',
      'localhost@evil.io',
      'evil.io#localhost',
      '::1',
      '',
    ]) {
      statuses[host] = await statusFor(http.port, host)
    }
    const { '::1': bare, '': empty, ...others } = statuses
    expect(others).toEqual({
      [`localhost:${http.port}`]: 200,
      localhost: 200,
      '127.0.0.1': 200,
      '[::1]:3000': 200,
      '[::1]': 200,
      'LOCALHOST:3000': 200,
      'localhost.evil.io': 403,
      'evil.io:3000': 403,
      'localhost@evil.io': expect.toSatisfy((status) => status === 400 || status === 403) as number,
      'evil.io#localhost': expect.toSatisfy((status) => status === 400 || status === 403) as number,
    })
    expect([400, 403]).toContain(bare)
    expect([400, 403]).toContain(empty)
    expect(await statusFor(http.port, undefined)).toBe(400)
  } finally {
    await http.close()
  }
})

it('an invalid response fails the server request over HTTP+SSE too [B045]', async () => {
  const server = createServer({ name: 's', version: '1' })
  server.tool('roots', {}, async (_args, ctx) => {
    const failure: unknown = await ctx.roots().catch((e: unknown) => e)
    return text(failure instanceof Error ? 'failed' : 'answered')
  })
  const handle = createSseHandler(server)
  const headers = { accept: 'text/event-stream' }
  const stream = await handle(new Request('http://localhost/sse', { headers }))
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
  let received = ''
  const until = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(received))
      received += new TextDecoder().decode((await reader.read()).value)
    return pattern.exec(received)?.[1] ?? ''
  }
  const endpoint = await until(/event: endpoint\ndata: (.*)\n/)
  const send = (message: object): Promise<Response> =>
    handle(
      new Request(new URL(endpoint, 'http://localhost/sse'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      }),
    )
  const clientInfo = { name: 'c', version: '1' }
  const params = { protocolVersion: '2024-11-05', capabilities: { roots: {} }, clientInfo }
  await send({ id: 0, method: 'initialize', params })
  await send({ id: 'call', method: 'tools/call', params: { name: 'roots' } })
  const question = Number(await until(/"id":(\d+),"method":"roots\/list"/))
  await send({ id: question, result: {}, error: { code: 1, message: 'x' } })
  expect(await until(/"text":"(\w+)"/)).toBe('failed')
  await handle.close()
})
