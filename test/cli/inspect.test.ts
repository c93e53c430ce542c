import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { serveHttp } from '../../runtimes/node/index.ts'
import { start } from './run.ts'
import { makeServer } from './server.ts'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end()
})

/** Starts the command; resolves with the address of the page. */
async function inspect(...words: string[]): Promise<URL> {
  const { child, outcome } = start('inspect', ...words)
  endings.push(() => child.kill('SIGTERM'))
  await expect.poll(() => outcome.out).toMatch(/^http:.*\n/)
  return new URL(outcome.out.trim())
}

/** The status of a request that names another host. */
function statusFor(url: URL, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, ({ statusCode }) => resolve(statusCode))
      .on('error', reject)
      .end()
  })
}

describe('edgewise inspect', () => {
  it('serves the playground, and passes on to a URL what the page sends', async () => {
    const http = await serveHttp(makeServer())
    endings.push(() => http.close())
    const page = await inspect(http.url)
    const html = await (await fetch(page)).text()
    expect(html).toContain('<script type="module"')
    expect((await fetch(new URL('main.js', page))).headers.get('content-type')).toContain(
      'javascript',
    )
    for (const revision of ['2026-07-28', '2025-11-25'] as const) {
      const client = await connect(new URL('mcp', page).href, { revision, eras: new Map() })
      expect((await client.callTool('add', { a: 1 })).structuredContent).toEqual({ sum: 1 })
      await client.close()
    }
  })

  it('starts a program and serves it to the page', async () => {
    const program = [process.execPath, '--import', 'tsx', 'test/cli/stdio.ts']
    const page = await inspect('--', ...program)
    const client = await connect(new URL('mcp', page).href, { eras: new Map() })
    endings.push(() => client.close())
    expect(client.serverInfo?.name).toBe('shop')
    expect((await client.callTool('add', { a: 2 })).structuredContent).toEqual({ sum: 2 })
  })

  it('answers only those who name this machine, and serves nothing but the page', async () => {
    const page = await inspect('http://127.0.0.1:9/mcp')
    expect(await statusFor(page, 'evil.example')).toBe(403)
    expect((await fetch(new URL('package.json', page))).status).toBe(404)
    expect((await fetch(new URL('..%2Fpackage.json', page))).status).toBe(404)
    const dead = await fetch(new URL('mcp', page), { method: 'POST', body: '{}' })
    expect(dead.status).toBe(502)
    expect(await dead.text()).toContain('Cannot reach http://127.0.0.1:9/mcp')
  })
})
