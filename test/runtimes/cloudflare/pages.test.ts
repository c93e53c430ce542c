// Every answer of a Worker to a page: without CORS headers the page would see a failure of the
// network instead of the reason.
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  initializeRequest,
  modernHeaders,
  modernRequest,
} from '../../transport/streamable-http/post.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

const ORIGIN = 'https://app.example'

let workerd: Workerd

beforeAll(async () => {
  workerd = await startWorker(await bundleWorker('guarded.ts'))
})
afterAll(() => workerd.stop())

interface Asked {
  method?: string
  headers?: Record<string, string | undefined>
  body?: string | object
}

/** Sends a request as a page of that origin does. */
function ask(path: string, { method = 'POST', headers = {}, body }: Asked = {}) {
  const all = {
    authorization: 'ann',
    'content-type': 'application/json',
    origin: ORIGIN,
    ...headers,
  }
  return fetch(new URL(path, workerd.url), {
    method,
    redirect: 'manual',
    headers: Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined),
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

const list = { body: modernRequest('tools/list'), headers: modernHeaders('tools/list') }
const initialize = initializeRequest()
const session = { 'mcp-session-id': '0'.repeat(64) }

describe('A page', () => {
  it.each<[string, number, string, Asked]>([
    ['an answer', 200, '/mcp', list],
    ['the session that it opened', 200, '/mcp', { body: initialize }],
    ['that there is nothing at a path', 404, '/elsewhere', {}],
    ['that there is nothing at a path, by any method', 404, '/mcp/more', { method: 'GET' }],
    ['that a method is not allowed', 405, '/mcp', { method: 'PUT' }],
    [
      'that a method is not allowed for HTTP+SSE',
      405,
      `/sse?session=${'0'.repeat(64)}`,
      { method: 'PUT' },
    ],
    ['that a body is too long', 413, '/mcp', { body: 'x'.repeat(6000) }],
    ['that a body is of another type', 415, '/mcp', { headers: { 'content-type': 'text/plain' } }],
    ['that a body is no JSON', 400, '/mcp', { body: '{' }],
    ['that it takes no kind of answer', 406, '/mcp', { headers: { accept: 'image/png' } }],
    ['that there is no such session', 404, '/mcp', { body: initialize, headers: session }],
    ['that there is no such stream', 404, '/sse?session=x', { body: initialize }],
    [
      'that the session is unknown',
      401,
      '/mcp',
      { ...list, headers: { ...list.headers, authorization: 'bob' } },
    ],
    ['where to sign in', 302, '/mcp', { headers: { authorization: 'elsewhere' } }],
    ['that authentication failed', 500, '/mcp', { headers: { authorization: 'trouble' } }],
  ])('reads %s', async (_what, status, path, asked) => {
    const response = await ask(path, asked)
    expect(response.status).toBe(status)
    expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(response.headers.get('vary')).toBe('origin')
    expect(await response.text()).not.toContain('directory')
  })

  it('reads that a message to its session is too long, which the object of the session finds', async () => {
    const opened = await ask('/mcp', { body: initialize })
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id')! }
    const params = { name: 'add', arguments: { a: 'x'.repeat(6000) } }
    const body = { jsonrpc: '2.0', id: 2, method: 'tools/call', params }
    const response = await ask('/mcp', { headers, body })
    expect(response.status).toBe(413)
    expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(await response.json()).toHaveProperty('error.message', expect.stringContaining('5000'))
  })

  it('is answered with an error when its body is compressed', async () => {
    const body = gzipSync(JSON.stringify(list.body))
    const headers = {
      authorization: 'ann',
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      origin: ORIGIN,
    }
    const response = await fetch(new URL('/mcp', workerd.url), { method: 'POST', headers, body })
    expect(response.status).toBe(415)
    expect(await response.json()).toHaveProperty('error.message', expect.stringContaining('gzip'))
  })

  it('may ask whether it may call, without saying who calls', async () => {
    for (const path of ['/mcp', '/sse', '/elsewhere']) {
      const response = await ask(path, {
        method: 'OPTIONS',
        headers: {
          authorization: undefined,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization',
        },
      })
      expect(response.status).toBe(204)
      expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN)
      expect(response.headers.get('access-control-allow-headers')).toBe('authorization')
    }
  })

  it('of a foreign origin cannot read any response [L-HTTP-003]', async () => {
    const origin = 'https://evil.example'
    for (const [path, authorization] of [
      ['/mcp', 'ann'],
      ['/mcp', 'bob'],
      ['/mcp', 'trouble'],
      ['/elsewhere', 'ann'],
    ] as const) {
      const response = await ask(path, {
        ...list,
        headers: { ...list.headers, origin, authorization },
      })
      expect(response.status).toBe(403)
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  it('gets an error without details, which are reported to the author', async () => {
    await ask('/mcp', { headers: { authorization: 'trouble' } })
    expect(workerd.printed.join('')).toContain('The directory is down')
  })
})
