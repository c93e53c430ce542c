// The same server over HTTP on each runtime, as a program of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { request as httpRequest } from 'node:http'
import { createConnection, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  connect as connectTiny,
  type Client as TinyClient,
} from '../../../../src/presets/client-tiny.ts'
import { connect } from '../../../../src/presets/client.ts'
import { commandOf } from '../../../process.ts'
import { root } from '../../../root.ts'
import { PATIENCE } from '../../../patience.ts'

const denoFlags = ['--no-remote', '--node-modules-dir=manual', '--no-prompt', '--no-lock']

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A call of a tool without a session. */
function call(
  name: string,
  args: object = {},
  meta: object = {},
): { method: string; headers: Record<string, string>; body: string } {
  const params = { name, arguments: args, _meta: { ...MODERN, ...meta } }
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  }
}

describe.each([
  { runtime: 'Node', words: ['tsx', 'test/runtimes/transport/http/main-node.ts'] },
  // Listening on this machine is all that is permitted.
  {
    runtime: 'Deno',
    words: [
      'deno',
      'run',
      ...denoFlags,
      '--allow-net=127.0.0.1',
      'test/runtimes/transport/http/main-deno.ts',
    ],
  },
  { runtime: 'Bun', words: ['bun', '--no-install', 'test/runtimes/transport/http/main-bun.ts'] },
])('serving HTTP on $runtime', ({ runtime, words }) => {
  let child: ChildProcess
  let url: string
  const lines: string[] = []
  let log = ''

  beforeAll(async () => {
    const [command, ...args] = commandOf(words)
    const program = spawn(command, args, { cwd: root })
    child = program
    createInterface({ input: program.stdout }).on('line', (line) => lines.push(line))
    program.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
    url = await vi.waitFor(() => {
      expect(lines, log).not.toEqual([])
      return lines[0]!
    }, PATIENCE)
  })
  afterAll(() => child.kill('SIGKILL'))

  const callText = async (name: string): Promise<string> => {
    const response = await fetch(url, call(name))
    const { result } = (await response.json()) as { result: { content: { text: string }[] } }
    return result.content[0]!.text
  }

  test('input requests that are awaited one by one do not end the program, but other unhandled rejections do', async () => {
    await using client = await connect(url, { onElicit: () => ({ action: 'accept', content: {} }) })
    const { content } = await client.callTool('askApart')
    expect(content).toEqual([{ type: 'text', text: 'First accept, Second accept' }])
    await sleep(50)
    expect(child.exitCode).toBe(null)

    const [command, ...args] = commandOf(words)
    const other = spawn(command, args, { cwd: root })
    const ended = new Promise<number | null>((resolve) => void other.on('exit', resolve))
    const [at] = (
      await new Promise<string>((resolve) => {
        createInterface({ input: other.stdout }).once('line', resolve)
      })
    ).split(' ')
    await fetch(at!, call('reject')).catch(() => {})
    expect(await ended).not.toBe(0)
  })

  test.each([
    { what: 'client', connect, revision: '2025-11-25' },
    { what: 'client', connect, revision: '2026-07-28' },
    { what: 'tiny client', connect: connectTiny, revision: '2025-11-25' },
    { what: 'tiny client', connect: connectTiny, revision: '2026-07-28' },
  ] as const)(
    'a $what of $revision connects, lists tools, calls one and receives its progress',
    async ({ connect, revision }) => {
      const client: TinyClient = await connect(url, { revision })
      expect(client.revision).toBe(revision)
      const tools = await client.listAllTools()
      expect(tools.map(({ name }) => name)).toContain('echo')
      const steps: unknown[] = []
      const waiting = client.callTool('wait', {}, { onProgress: (step) => steps.push(step) })
      // Progress arrives while the call still runs.
      await vi.waitFor(
        () => expect(steps).toMatchObject([{ progress: 1, message: 'waiting' }]),
        PATIENCE,
      )
      await client.callTool('release')
      expect((await waiting).content).toEqual([{ type: 'text', text: 'Released' }])
      await client.close()
    },
  )

  test('a request to another path is answered with 404, and one of a foreign origin or host with 403', async () => {
    for (const other of ['/other', '/mcp/more', '/']) {
      expect((await fetch(new URL(other, url))).status).toBe(404)
    }
    // A page can read it, as it would take silence for a lack of CORS.
    const { origin, host } = new URL(url)
    for (const method of ['POST', 'OPTIONS']) {
      const wrong = await fetch(new URL('/', url), { method, headers: { origin } })
      expect(wrong.status).toBe(method === 'POST' ? 404 : 204)
      expect(wrong.headers.get('access-control-allow-origin')).toBe(origin)
    }
    await expect(connect(`http://${host}/`)).rejects.toMatchObject({
      message: expect.stringMatching(/is not an MCP endpoint: .*\(HTTP 404\): Not found/) as string,
      cause: { message: expect.stringMatching(/\(HTTP 404\): Not found$/) as string },
      data: { body: 'Not found' },
    })
    const init = call('echo', { text: '' })
    // A slash at the end makes no difference: the refusal is the endpoint's.
    expect((await fetch(new URL('/mcp/', url))).status).toBe((await fetch(url)).status)
    const foreign = { ...init.headers, origin: 'https://evil.example' }
    expect((await fetch(url, { ...init, headers: foreign })).status).toBe(403)
    const status = await new Promise((resolve, reject) => {
      const headers = { ...init.headers, host: 'evil.example' }
      httpRequest(url, { method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end(init.body)
    })
    expect(status).toBe(403)
  })

  test('a body over the limit is answered with 413, announced or not, and the server continues', async () => {
    const announced = call('echo', { text: 'x'.repeat(200_000) })
    expect((await fetch(url, announced)).status).toBe(413)
    const bytes = new TextEncoder().encode(announced.body)
    const body = new Blob([bytes]).stream()
    const streamed: RequestInit & { duplex: 'half' } = { ...announced, body, duplex: 'half' }
    // A server may also end the connection while the rest is still on its way.
    const status = await fetch(url, streamed).then(
      (response) => response.status,
      () => 413,
    )
    expect(status).toBe(413)
    expect(await callText('aborts')).toMatch(/^\d+$/)
  })

  test('a compressed body is answered with 415, because the host does not decompress it', async () => {
    const init = call('echo', { text: 'x' })
    const headers = { ...init.headers, 'content-encoding': 'gzip' }
    const response = await fetch(url, { ...init, headers, body: gzipSync(init.body) })
    expect([response.status, await response.text()]).toEqual([
      415,
      expect.stringContaining('must not be \\"gzip\\"'),
    ])
  })

  test('a client that disconnects from a stream aborts the handler, and a finished response does not', async () => {
    const before = Number(await callText('aborts'))
    await callText('aborts')
    await sleep(50)
    expect(Number(await callText('aborts'))).toBe(before)

    const leaving = new AbortController()
    const init = call('wait', {}, { progressToken: 1 })
    const response = await fetch(url, { ...init, signal: leaving.signal })
    const reader = response.body!.getReader()
    await reader.read()
    leaving.abort()
    await vi.waitFor(
      async () => expect(Number(await callText('aborts'))).toBe(before + 1),
      PATIENCE,
    )
  })

  // In one piece: where a body comes after its head, Deno does not see that the client leaves.
  test('a client that disconnects before the response aborts the handler [M-HTTP-035]', async () => {
    const counts = async (): Promise<{ begun: number; aborts: number }> => ({
      begun: Number(await callText('begun')),
      aborts: Number(await callText('aborts')),
    })
    const before = await counts()
    const { hostname, port } = new URL(url)
    const { headers, body } = call('wait')
    const head = { host: hostname, 'content-length': String(body.length), ...headers }
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
    const client = createConnection(Number(port), hostname)
    client.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
    await vi.waitFor(async () => expect((await counts()).begun).toBe(before.begun + 1), PATIENCE)
    client.destroy()
    await vi.waitFor(async () => expect((await counts()).aborts).toBe(before.aborts + 1), PATIENCE)
  })

  test('a request without a host is answered, and reveals nothing about the program', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      const { hostname, port } = new URL(url)
      createConnection(Number(port), hostname, function (this: Socket) {
        this.write('POST /mcp HTTP/1.0\r\ncontent-length: 0\r\n\r\n')
      })
        .on('data', (chunk) => (text += String(chunk)))
        .on('close', () => resolve(text))
        .on('error', reject)
    })
    expect(answer).toMatch(/^HTTP\/1\.[01] 4/)
    expect(answer).not.toContain('<')
  })

  test('a large answer to a slow reader arrives whole', async () => {
    const response = await fetch(url, call('repeat', { length: 16 << 20 }))
    await sleep(100)
    const { result } = (await response.json()) as { result: { content: { text: string }[] } }
    expect(result.content[0]!.text).toBe('x'.repeat(16 << 20))
  })

  // Bun ends connections that are idle for 10 seconds, unless configured otherwise.
  if (runtime === 'Bun')
    test('a stream that is quiet for long is not cut', async () => {
      const response = await fetch(url, call('wait', {}, { progressToken: 1 }))
      const reader = response.body!.getReader()
      await reader.read()
      await sleep(11_000)
      await callText('release')
      let received = ''
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        received += new TextDecoder().decode(next.value)
      }
      expect(received).toContain('Released')
    })

  test('closing the server ends open streams, stops listening, and prints nothing else', async () => {
    const client = await connect(url, { revision: '2025-11-25' })
    const init = call('wait', {}, { progressToken: 1 })
    const response = await fetch(url, init)
    const reader = response.body!.getReader()
    await reader.read()
    child.stdin!.write('\n')
    await vi.waitFor(() => expect(lines, log).toContain('closed'), PATIENCE)
    await expect(fetch(url)).rejects.toThrow(TypeError)
    await client.close()
    const taken = `SdkError: Cannot listen on ${new URL(url).host}: the port is taken`
    expect(lines).toEqual([url, taken, 'closed'])
    // Deno cannot be kept from reporting the abort once a handler has read its signal.
    expect(log.replace(/^Deno\.serve: request\.signal aborts .*\n?/, '')).toBe('')
  })
})
