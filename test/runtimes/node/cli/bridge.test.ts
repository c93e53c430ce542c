import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve } from '../../../../runtimes/node/index.ts'
import { connect } from '../../../../src/presets/client.ts'
import type { HttpServer } from '../../../../src/transport/index.ts'
import { PATIENCE } from '../../../patience.ts'
import { edgewise, start, type Running } from './run.ts'
import { makeServer } from './server.ts'

let http: HttpServer
const running: Running[] = []

beforeAll(async () => {
  http = await serve(makeServer())
})
afterAll(async () => {
  for (const { child } of running) child.kill('SIGTERM')
  await Promise.all(running.map(({ ended }) => ended))
  await http.close()
})

/** Starts a bridge; resolves with the address of its endpoint. */
async function bridge(...words: string[]): Promise<URL> {
  const started = start('bridge', ...words)
  running.push(started)
  await expect.poll(() => started.outcome.out, PATIENCE).toMatch(/^http:.*\n/)
  return new URL(started.outcome.out.trim())
}

function statusFor(url: URL, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { method: 'POST', headers }, ({ statusCode = 0 }) => resolve(statusCode))
      .on('error', reject)
      .end('{}')
  })
}

describe('edgewise bridge over HTTP', () => {
  it('answers only requests to its secret address, which is new at each start [S003]', async () => {
    const url = await bridge(http.url, '--port', '0', '--token', 'secret')
    const other = await bridge(http.url, '--port', '0')
    expect(url.pathname).toMatch(/^\/[\da-f]{32}\/mcp$/)
    expect(url.pathname).not.toBe(other.pathname)
    await using client = await connect(url.href)
    expect((await client.callTool('add', { a: 1 })).structuredContent).toEqual({ sum: 1 })
    const json = { 'content-type': 'application/json' }
    expect(await statusFor(new URL('/mcp', url), json)).toBe(404)
    expect(await statusFor(new URL(other.pathname, url), json)).toBe(404)
    expect(await statusFor(url, { ...json, origin: 'https://evil.example' })).toBe(403)
    expect(await statusFor(url, { ...json, host: `evil.example:${url.port}` })).toBe(403)
  })

  it('is at the path that --path gives, for configurations that stay [S003]', async () => {
    const url = await bridge(http.url, '--port', '0', '--path', '/shop/mcp')
    expect(url.pathname).toBe('/shop/mcp')
    await using client = await connect(url.href)
    expect(client.serverInfo?.name).toBe('shop')
    const { code, err } = await edgewise('bridge', http.url, '--path', '/mcp')
    expect([code, err]).toEqual([2, expect.stringContaining('"--path" needs "--port"')])
  })
})
