// A page's own troubles, in a real Chromium: policies, failures that it may not look into, going to
// sleep and waking up.
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'edgewise/browser'
import { toNodeListener } from 'edgewise/node'
import type { Revision } from 'edgewise'
import { createHandler, createServer, statefulSessions, type HandlerOptions } from 'edgewise/server'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { freePort } from '../../../examples/free-port.ts'
import { launchChromium, openChromium, type SharedBrowser } from '../chromium.ts'
import { listenIn } from './listening.ts'
import type { Everything } from './scripts/everything.ts'
import { complaintsOf, page as assetOf, startSite, type Site } from './site.ts'

/** Inside pages only. */
declare const edgewise: Everything

const server = createServer({ name: 'far', version: '1.0.0' })
server.tool('greet', { input: z.object({ name: z.string() }) }, ({ name }) => `Hello, ${name}`)
const changing = server.tool('changing', {}, () => 'seen')

/** An MCP server over HTTP, and the listening streams that are open there. */
interface Far {
  port: number
  streams(): number
  stop(): Promise<void>
}

async function startFar(options: HandlerOptions, port = 0): Promise<Far> {
  let streams = 0
  const answer = toNodeListener(createHandler(server, options))
  const http = createHttpServer((request, response) => {
    const listens =
      request.method === 'GET' || request.headers['mcp-method'] === 'subscriptions/listen'
    if (listens) {
      streams++
      response.on('close', () => streams--)
    }
    answer(request, response)
  })
  await new Promise<void>((resolve) => {
    http.listen(port, resolve)
  })
  return {
    port: (http.address() as AddressInfo).port,
    streams: () => streams,
    stop: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}

let site: Site
let open: Far
let closed: Far
let browser: SharedBrowser
let context: BrowserContext
let complaints: string[] = []

beforeAll(async () => {
  const near = toNodeListener(createHandler(server))
  ;[site, open, closed, browser] = await Promise.all([
    startSite(['everything', 'strict'], (request, response) => {
      if (request.url === '/mcp') near(request, response)
      else if (request.url !== '/hangs') response.writeHead(404).end()
    }),
    startFar({ allowedOrigins: '*', sessions: statefulSessions() }),
    startFar({ allowedOrigins: ['https://friend.example'] }),
    openChromium(),
  ])
})
afterAll(async () => {
  await browser.close()
  await Promise.all([site.stop(), open.stop(), closed.stop()])
})
afterEach(async () => {
  await context?.close()
})

async function visit(path: string): Promise<Page> {
  context = await browser.newContext()
  const page = await context.newPage()
  complaints = complaintsOf(page)
  await page.goto(path.startsWith('http') ? path : `${site.origin}${path}`)
  return page
}

async function visitEverything(path = '/everything.html'): Promise<Page> {
  const page = await visit(path)
  await page.waitForFunction('typeof edgewise === "object"')
  return page
}

describe('A strict Content-Security-Policy with Trusted Types', () => {
  it('blocks nothing: clients of every revision, a server, a connection', async () => {
    const far = `http://localhost:${open.port}`
    site.assets.set('/strict.html', {
      ...assetOf('strict'),
      headers: {
        'content-security-policy':
          `default-src 'none'; script-src 'self'; img-src data:; connect-src ${far}; ` +
          `base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
      },
    })
    const page = await visit(`/strict.html?server=${far}/mcp`)
    await page.waitForFunction('typeof outcome === "object"')
    const [greetings, served, revision] = await page.evaluate<unknown[][]>('outcome')
    expect(greetings).toEqual(
      ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'].flatMap((version) => {
        const greeting = { type: 'text', text: `Hello, ${version}` }
        return [greeting, greeting]
      }),
    )
    expect(served).toEqual([{ type: 'text', text: '4' }, true])
    expect(revision).toBe('2026-07-28')
    // A violation would be printed as an error
    expect(complaints).toEqual([])
  })
})

describe('A path in place of a URL', () => {
  it('is one of the origin of the page', async () => {
    const page = await visitEverything()
    const names = await page.evaluate(async () => {
      const clients = await Promise.all([
        edgewise.connect('/mcp'),
        edgewise.connectTiny('/mcp'),
        edgewise.createReconnectingClient('/mcp').ready(),
      ])
      return clients.map(({ serverInfo }) => serverInfo?.name)
    })
    expect(names).toEqual(['far', 'far', 'far'])
    expect(complaints).toEqual([])
  })

  it('does not exist outside a page', async () => {
    await expect(connect('/mcp')).rejects.toThrow('"/mcp" is not an HTTP URL')
  })
})

describe('A request that a page cannot make', () => {
  /** The error that a page gets when it connects to a URL. */
  const fault = (
    page: Page,
    url: string,
    connect: 'connect' | 'connectTiny' = 'connect',
  ): Promise<unknown> =>
    page.evaluate(
      async ({ url, connect }) => {
        const error = await edgewise[connect](url).catch((reason: Error) => reason)
        if (!(error instanceof Error)) return 'connected'
        const { code } = error as { code?: string }
        const found = edgewise.fetchFaultOf(error)
        return [code, found?.kind, `${error.message} ${found?.advice}`]
      },
      { url, connect },
    )

  it.each(['connect', 'connectTiny'] as const)(
    'reports by %s that the server does not allow the origin, and the missing headers',
    async (connect) => {
      const page = await visitEverything()
      const url = `http://far.test:${closed.port}/mcp`
      const [code, kind, text] = (await fault(page, url, connect)) as string[]
      expect([code, kind]).toEqual(['NETWORK', 'cors'])
      expect(text).toContain(`Access-Control-Allow-Origin: ${site.origin}`)
      expect(text).toContain('mcp-protocol-version')
    },
  )

  it('says that the server does not answer', async () => {
    const page = await visitEverything()
    const unreachable = `http://localhost:${await freePort()}/mcp`
    const [code, kind, text] = (await fault(page, unreachable)) as string[]
    expect([code, kind]).toEqual(['NETWORK', 'unreachable'])
    expect(text).toContain(`No server responds at "${unreachable}"`)
  })

  it('says that local network access may not have been granted', async () => {
    const { port } = new URL(site.origin)
    const spaces = `127.0.0.1:${port}=public,127.0.0.1:${open.port}=local`
    const url = `http://nas.test:${open.port}/mcp`
    const outside = await launchChromium([
      '--host-resolver-rules=MAP *.test 127.0.0.1',
      `--ip-address-space-overrides=${spaces}`,
    ])
    try {
      const outcomes: unknown[] = []
      for (const permissions of [[], ['local-network-access']]) {
        const page = await outside.newPage({ permissions })
        await page.goto(`${site.origin}/everything.html`)
        await page.waitForFunction('typeof edgewise === "object"')
        outcomes.push(await fault(page, url))
        await page.close()
      }
      const advice = expect.stringMatching(/let this page access the local network$/) as string
      expect(outcomes).toEqual([['NETWORK', 'unreachable', advice], 'connected'])
    } finally {
      await outside.close()
    }
  })

  it('says that the policy of the page forbids it', async () => {
    site.assets.set('/policy.html', {
      ...assetOf('everything'),
      headers: { 'content-security-policy': `connect-src 'self'` },
    })
    const page = await visitEverything('/policy.html')
    const [code, kind, text] = (await fault(page, `http://localhost:${open.port}/mcp`)) as string[]
    expect([code, kind]).toEqual(['NETWORK', 'csp'])
    expect(text).toContain('connect-src')
  })

  it('says that a page on HTTPS may not call HTTP', async () => {
    context = await browser.newContext()
    const page = await context.newPage()
    await page.route('https://secure.test/**', (route) => {
      const { body, type } = site.assets.get(new URL(route.request().url()).pathname)!
      return route.fulfill({ body, contentType: type })
    })
    await page.goto('https://secure.test/everything.html')
    await page.waitForFunction('typeof edgewise === "object"')
    const [code, kind, text] = (await fault(page, `http://far.test:${open.port}/mcp`)) as string[]
    expect([code, kind]).toEqual(['NETWORK', 'mixed-content'])
    expect(text).toContain('Serve it over HTTPS')
  })

  it('says that the device is offline', async () => {
    const page = await visitEverything()
    await context.setOffline(true)
    const [code, kind] = (await fault(page, `http://far.test:${open.port}/mcp`)) as string[]
    expect([code, kind]).toEqual(['NETWORK', 'offline'])
  })

  it('is not asked about again when the application gave it up', async () => {
    const page = await visitEverything()
    const result = await page.evaluate(async (url) => {
      const sent: string[] = []
      const leaving = new AbortController()
      const { signal } = leaving
      const send = (to: string, init: RequestInit): Promise<Response> => {
        sent.push(String(init.method))
        setTimeout(() => leaving.abort(), 50)
        return fetch(to, { ...init, signal: init.signal ?? null })
      }
      const error = await edgewise
        .connect(url, { fetch: send, signal })
        .catch((reason: { code: string }) => reason.code)
      return [error, sent]
    }, `${site.origin}/hangs`)
    expect(result).toEqual(['ABORTED', ['POST']])
  })
})

describe('A stream that is being opened when the page is hidden', () => {
  it('is opened once the page is shown again', async () => {
    const page = await visitEverything()
    const result = await page.evaluate(async () => {
      let sent = 0
      let begin: (() => void) | undefined
      const begun = new Promise<void>((resolve) => (begin = resolve))
      // The first is never answered
      const send = (_url: string, { signal }: RequestInit): Promise<Response> =>
        new Promise((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error))
          if (++sent > 1) resolve(new Response('open'))
          begin?.()
        })
      const headers = { 'mcp-method': 'subscriptions/listen' }
      const opening = edgewise.pageFetch({ fetch: send })(location.href, {
        method: 'POST',
        headers,
      })
      await begun
      dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))
      await new Promise((resolve) => setTimeout(resolve, 50))
      const before = sent
      dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
      return [before, sent, await (await opening).text(), sent]
    })
    expect(result).toEqual([1, 1, 'open', 2])
  })
})

describe.each<Revision>(['2026-07-28', '2025-11-25'])('A listening page, over %s,', (revision) => {
  /** Opens a page that listens, and counts the changes that it receives. */
  async function listen(host: string): Promise<Page> {
    const page = await visitEverything()
    await listenIn(page, `http://${host}:${open.port}/mcp`, revision)
    await expect.poll(open.streams).toBe(1)
    return page
  }
  const countChanges = (page: Page): Promise<number> => page.evaluate<number>('state.changes')
  async function expectChange(page: Page): Promise<void> {
    const before = await countChanges(page)
    await expect
      .poll(() => {
        changing.disable()
        changing.enable()
        return countChanges(page)
      })
      .toBeGreaterThan(before)
  }
  // The Chromium from npm has no back/forward cache, so the notifications of other tests are sent
  // here. See back-forward.test.ts for those.
  it.each([
    ['hidden', 'pagehide', 'pageshow'],
    ['frozen', 'freeze', 'resume'],
  ])(
    'closes its stream when it is %s, and opens it again when that is over',
    async (_what, leave, come) => {
      const page = await listen('localhost')
      const dispatch = (type: string): Promise<void> =>
        page.evaluate((type) => {
          const event = new PageTransitionEvent(type, { persisted: true })
          ;(type.startsWith('page') ? window : document).dispatchEvent(event)
        }, type)
      await expectChange(page)
      await dispatch(leave)
      await expect.poll(open.streams).toBe(0)
      // Longer than the client waits before it opens a stream again
      await page.waitForTimeout(2_500)
      expect(open.streams()).toBe(0)
      await dispatch(come)
      await expect.poll(open.streams).toBe(1)
      await expectChange(page)
      expect(await page.evaluate('state.problems')).toEqual([])
    },
  )

  it('closes its stream when the device goes offline, and is back when that is', async () => {
    const page = await listen('far.test')
    await expectChange(page)
    await context.setOffline(true)
    await expect.poll(open.streams).toBe(0)
    await page.waitForTimeout(2_500)
    await context.setOffline(false)
    await expect.poll(open.streams).toBe(1)
    await expectChange(page)
    expect(await page.evaluate('state.problems')).toEqual([])
  })
})

describe.each<Revision>(['2026-07-28', '2025-11-25'])(
  'The tiny client in a page, over %s,',
  (revision) => {
    it('calls without listening, and continues after the server was restarted', async () => {
      const first = await startFar({ allowedOrigins: '*', sessions: statefulSessions() })
      const page = await visitEverything()
      await page.evaluate(
        async ({ url, revision }) => {
          const client = await edgewise.connectTiny(url, { revision })
          Object.assign(globalThis, { client })
        },
        { url: `http://localhost:${first.port}/mcp`, revision },
      )
      const greeting = (): Promise<unknown> =>
        page.evaluate(
          'client.callTool("greet", { name: "Ada" }).then(({ content }) => content[0].text)',
        )
      expect(await greeting()).toBe('Hello, Ada')
      expect(first.streams()).toBe(0)
      await first.stop()
      expect(await page.evaluate('client.callTool("greet").catch(({ code }) => code)')).toBe(
        'NETWORK',
      )
      const second = await startFar(
        { allowedOrigins: '*', sessions: statefulSessions() },
        first.port,
      )
      expect(await greeting()).toBe('Hello, Ada')
      await page.evaluate('client.close()')
      await second.stop()
    })
  },
)

describe('An observed connection in a page', () => {
  /** Opens a connection, and writes down its states. */
  const observe = (page: Page): Promise<void> =>
    page.evaluate((url) => {
      const connection = edgewise.createReconnectingClient(url, { retryMs: 500, maxRetries: 1_000 })
      const states: string[] = []
      connection.subscribe(() => {
        const state = connection.getSnapshot()
        const fault = 'error' in state ? edgewise.fetchFaultOf(state.error)?.kind : undefined
        states.push([state.status, fault].filter(Boolean).join(': '))
      })
      Object.assign(globalThis, { connection, states })
      connection.open()
    }, `http://far.test:${open.port}/mcp`)
  const is = (page: Page, status: string): Promise<unknown> =>
    page.waitForFunction(`connection.getSnapshot().status === "${status}"`)

  it('is lost when the device goes offline, and back when that is', async () => {
    const page = await visitEverything()
    await observe(page)
    await is(page, 'ready')
    await context.setOffline(true)
    await page.evaluate('connection.getSnapshot().client.ping().catch(() => {})')
    await is(page, 'reconnecting')
    await context.setOffline(false)
    await is(page, 'ready')
    const states = await page.evaluate<string[]>('states')
    expect(states.slice(0, 3)).toEqual(['connecting', 'ready', 'reconnecting: offline'])
    expect(states.at(-1)).toBe('ready')
  })

  it('that is opened while the device is offline waits until it is not', async () => {
    const page = await visitEverything()
    await context.setOffline(true)
    await observe(page)
    await is(page, 'reconnecting')
    await context.setOffline(false)
    await is(page, 'ready')
    const states = await page.evaluate<string[]>('states')
    expect(states.slice(0, 2)).toEqual(['connecting', 'reconnecting: offline'])
    expect(states).not.toContain('failed')
  })
})
