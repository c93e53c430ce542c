// Whom a server takes a caller for, by the connection and by the Host header that its runtime gives.
import { spawn, type ChildProcess } from 'node:child_process'
import { request } from 'node:http'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandOf } from '../../../process.ts'
import { root } from '../../../root.ts'
import { initializeRequest } from '../../../transport/streamable-http/post.ts'

describe.each([
  ['Node', ['tsx']],
  [
    'Deno',
    ['deno', 'run', '--quiet', '--no-lock', '--allow-net=127.0.0.1', '--allow-read', '--allow-env'],
  ],
  ['Bun', ['bun', '--no-install']],
])('A server on %s', (_runtime, words) => {
  let child: ChildProcess
  let url: string
  beforeAll(async () => {
    const [command, ...args] = commandOf([...words, 'test/runtimes/transport/http/few-sessions.ts'])
    const program = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    child = program
    const lines = createInterface({ input: program.stdout })
    url = await new Promise((resolve) => lines.once('line', resolve))
  })
  afterAll(() => {
    child.kill('SIGKILL')
  })

  it('counts the sessions of callers without a principal by their address [S008]', async () => {
    const send = (localAddress: string, method: string, id?: string): Promise<[number, string]> =>
      new Promise((resolve, reject) => {
        const headers = {
          'content-type': 'application/json',
          accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
          ...(id !== undefined && { 'mcp-session-id': id }),
        }
        const sent = request(url, { method, localAddress, headers, agent: false }, (response) => {
          resolve([response.statusCode ?? 0, String(response.headers['mcp-session-id'] ?? '')])
        })
        sent.on('error', reject)
        sent.end(method === 'GET' ? undefined : JSON.stringify(initializeRequest()))
      })
    for (let n = 0; n < 2; n++) {
      const [status, id] = await send('127.0.0.2', 'POST')
      expect(status).toBe(200)
      expect((await send('127.0.0.2', 'GET', id))[0]).toBe(200)
    }
    expect((await send('127.0.0.2', 'POST'))[0]).toBe(503)
    expect((await send('127.0.0.3', 'POST'))[0]).toBe(200)
  })

  it('refuses the host "evil@localhost" [S027]', async () => {
    const body = JSON.stringify(initializeRequest())
    const head = [
      'POST /mcp HTTP/1.1',
      'Host: evil@localhost',
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      `Content-Length: ${body.length}`,
    ]
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.once('error', reject)
      socket.once('data', (data: Buffer) => {
        socket.destroy()
        resolve(String(data))
      })
      socket.write([...head, '', body].join('\r\n'))
    })
    expect(answer).toMatch(/^HTTP\/1\.1 40[03] /)
  })
})
