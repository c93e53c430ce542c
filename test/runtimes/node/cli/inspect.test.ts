import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeCommand } from '../../../node-program.ts'
import { connect } from '../../../../src/presets/client.ts'
import { serve } from '../../../../runtimes/node/index.ts'
import { freePort } from '../../../../examples/free-port.ts'
import { jwtTokens, protectedResource } from '../../../../src/protected-resource/index.ts'
import type { HttpServer } from '../../../../src/transport/index.ts'
import { PATIENCE } from '../../../patience.ts'
import { AuthorizationServer } from '../../../protected-resource/authorization-server.ts'
import { start, startWith } from './run.ts'
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

/** The status of a request with headers that `fetch` does not let one set. */
function statusFor(
  url: URL,
  headers: Readonly<Record<string, string>>,
  method = 'GET',
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers }, ({ statusCode }) => resolve(statusCode))
      .on('error', reject)
      .end()
  })
}

/** A server that lets all pages read its answers, and what headers it got. */
async function listenOpenly(): Promise<{ url: string; seen: IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = []
  const http = createServer(({ headers }, response) => {
    seen.push(headers)
    response.setHeader('access-control-allow-origin', '*').setHeader('set-cookie', 'a=b').end('{}')
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  endings.push(() => void http.close())
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, seen }
}

/** A server that wants its users to sign in. */
async function listenProtected(): Promise<HttpServer> {
  const authorization = await AuthorizationServer.listen()
  endings.push(() => authorization[Symbol.asyncDispose]())
  const port = await freePort()
  const auth = protectedResource({
    resource: `http://127.0.0.1:${port}/mcp`,
    authorizationServers: [authorization.issuer.issuer],
    verify: jwtTokens(),
  })
  return serve(makeServer(), { port, auth })
}

describe('edgewise inspect', () => {
  it('serves the playground, and forwards requests of the page to a URL', async () => {
    const http = await serve(makeServer())
    endings.push(() => http.close())
    const page = await inspect(http.url)
    const html = await (await fetch(page)).text()
    const [app = ''] = /app-[\w-]+\.js/.exec(html) ?? []
    expect((await fetch(new URL(app, page))).headers.get('content-type')).toContain('javascript')
    for (const revision of ['2026-07-28', '2025-11-25'] as const) {
      const client = await connect(new URL('mcp', page).href, { revision, versionCache: new Map() })
      expect((await client.callTool('add', { a: 1 })).structuredContent).toEqual({ sum: 1 })
      await client.close()
    }
  })

  it('starts a program and serves it to the page', async () => {
    const program = nodeCommand('test/runtimes/node/cli/stdio.ts')
    const page = await inspect('--', ...program)
    const client = await connect(new URL('mcp', page).href, { versionCache: new Map() })
    endings.push(() => client.close())
    expect(client.serverInfo?.name).toBe('shop')
    expect((await client.callTool('add', { a: 2 })).structuredContent).toEqual({ sum: 2 })
  })

  it('answers only requests for a loopback host, and serves only the page', async () => {
    const page = await inspect('http://127.0.0.1:9/mcp')
    expect(await statusFor(page, { host: 'evil.example' })).toBe(403)
    expect((await fetch(new URL('package.json', page))).status).toBe(404)
    expect((await fetch(new URL('..%2Fpackage.json', page))).status).toBe(404)
    const dead = await fetch(new URL('mcp', page), { method: 'POST', body: '{}' })
    expect(dead.status).toBe(502)
    expect(await dead.text()).toContain('Cannot reach "http://127.0.0.1:9/mcp"')
  })

  it('lends the token of the user to its own page only, at an address that is new each start [S003]', async () => {
    const { url, seen } = await listenOpenly()
    const headers = ['--header', 'x-key: k', '--header', 'mcp-session-id: other']
    const [page, other] = [await inspect(url, '--token', 'secret', ...headers), await inspect(url)]
    expect(page.pathname).toMatch(/^\/[\da-f]{32}\/$/)
    expect(page.pathname).not.toBe(other.pathname)
    const endpoint = new URL('mcp', page)
    const refused = {
      'without the secret': [new URL('/mcp', page), {}],
      'with the secret of another start': [new URL(`${other.pathname}mcp`, page), {}],
      'of a foreign page': [endpoint, { origin: 'https://evil.example' }],
      'of a page in a sandbox': [endpoint, { origin: 'null' }],
      'of another page of this machine': [endpoint, { origin: 'http://127.0.0.1:1' }],
      'of a name that leads here by DNS': [endpoint, { host: `evil.example:${page.port}` }],
      'embedded by a foreign page': [
        endpoint,
        { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      ],
    } as const
    for (const [what, [target, headers]] of Object.entries(refused)) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        expect([what, await statusFor(target, headers, method)]).toEqual([
          what,
          expect.toSatisfy((status) => status === 403 || status === 404),
        ])
      }
    }
    expect(seen).toEqual([])

    const own = { origin: page.origin, 'sec-fetch-site': 'same-origin', cookie: 'other=app' }
    const answer = await fetch(endpoint, { method: 'POST', body: '{}', headers: own })
    expect(answer.status).toBe(200)
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({ authorization: 'Bearer secret', 'x-key': 'k' })
    expect(seen[0]).not.toHaveProperty('cookie')
    expect(seen[0]).not.toHaveProperty('mcp-session-id')
    // A page of another origin could read it by the one, and the other would reach all local sites.
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  it('sends the policy of the hosted page with everything, so that no page can frame it [S015]', async () => {
    const { url } = await listenOpenly()
    const page = await inspect(url)
    for (const path of ['', 'main.js', 'callback.html', 'mcp']) {
      const { headers } = await fetch(new URL(path, page))
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  it('has its page connect as --revision and --timeout-ms say [P001]', async () => {
    const page = await inspect(
      'http://127.0.0.1:9/mcp',
      '--revision',
      '2025-06-18',
      '--timeout-ms',
      '9',
    )
    expect(Object.fromEntries(page.searchParams)).toEqual({
      revision: '2025-06-18',
      timeoutMs: '9',
    })
  })

  it('passes the sign-in settings to its page for a protected server [P001]', async () => {
    await using site = await listenProtected()
    const page = await inspect(site.url)
    const answer = await fetch(new URL('mcp', page), { method: 'POST', body: '{}' })
    expect([answer.status, await answer.text()]).toEqual([
      502,
      'The server answered HTTP 401: start edgewise inspect with --sign-in or --token',
    ])
  })

  it('signs in before it opens its page, which then has the access of the user [P001]', async () => {
    await using site = await listenProtected()
    const state = mkdtempSync(join(tmpdir(), 'edgewise-'))
    endings.push(() => rmSync(state, { recursive: true }))
    const env = { PATH: '', XDG_STATE_HOME: state }
    const { child, outcome, ended } = startWith(env, 'inspect', site.url, '--sign-in')
    endings.push(() => child.kill('SIGTERM') && ended)
    await expect.poll(() => outcome.err, PATIENCE).toMatch(/To sign in, open \S+\n/)
    expect(outcome.out).toBe('')
    await fetch(/open (\S+)/.exec(outcome.err)?.[1] ?? '')
    await expect.poll(() => outcome.out, PATIENCE).toMatch(/^http:.*\n/)
    const client = await connect(new URL('mcp', outcome.out.trim()).href, {
      versionCache: new Map(),
    })
    endings.push(() => client.close())
    expect((await client.callTool('add', { a: 3 })).structuredContent).toEqual({ sum: 3 })
  })
})
