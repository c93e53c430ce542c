// Many tabs of one application: browsers have six connections to a server over HTTP/1.1, for all of them.
import type { Revision } from 'edgewise'
import { createServer } from 'edgewise/server'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PATIENCE } from '../../patience.ts'
import { openChromium, type SharedBrowser } from '../chromium.ts'
import { startFar, type Far } from './far.ts'
import { listenIn } from './listening.ts'
import type { Everything } from './scripts/everything.ts'
import { startSite, type Site } from './site.ts'

/** Inside pages only. */
declare const edgewise: Everything

const server = createServer({ name: 'far', version: '1.0.0' })
server.tool('greet', {}, () => 'Hello')
const changing = server.tool('changing', {}, () => 'seen')
let far: Far
let site: Site
let browser: SharedBrowser

beforeAll(async () => {
  ;[far, site, browser] = await Promise.all([
    startFar(server),
    startSite(['everything']),
    openChromium(),
  ])
})
afterAll(async () => {
  await browser.close()
  await site.stop()
  far.stop()
})

describe.each<[Revision, string]>([
  ['2026-07-28', 'localhost'],
  ['2025-11-25', 'localhost'],
  ['2026-07-28', 'insecure.test'],
])('Eight tabs that listen to a server over HTTP, over %s, from %s,', (revision, host) => {
  let context: BrowserContext
  afterEach(() => context.close())

  /** Opens a tab with a client that listens, and calls. */
  async function openTab(): Promise<{ page: Page; called: unknown }> {
    const page = await context.newPage()
    await page.goto(`${site.origin.replace('localhost', host)}/everything.html`)
    await page.waitForFunction('typeof edgewise === "object"')
    expect(await page.evaluate('isSecureContext')).toBe(host === 'localhost')
    await listenIn(page, far.url, revision)
    const called = await page.evaluate('client.callTool("greet").then(({ content }) => content)')
    return { page, called }
  }

  const change = (): void => {
    changing.disable()
    changing.enable()
  }
  const expectChange = async (page: Page): Promise<void> => {
    await expect
      .poll(() => (change(), page.evaluate<number>('state.changes')), PATIENCE)
      .toBeGreaterThan(0)
  }

  it('can all connect and call, but four listen, and the next does when one leaves [P027]', async () => {
    context = await browser.newContext()
    const pages: Page[] = []
    for (let tab = 1; tab <= 8; tab++) {
      const { page, called } = await openTab()
      expect(called).toEqual([{ type: 'text', text: 'Hello' }])
      pages.push(page)
      await expect.poll(far.streams, PATIENCE).toBe(Math.min(tab, 4))
    }
    for (const page of pages.slice(0, 4)) await expectChange(page)
    for (const page of pages.slice(4)) expect(await page.evaluate('state.changes')).toBe(0)

    // Two are closed as users do, one as an application does, one goes to sleep
    await pages[0]!.close()
    await pages[1]!.close()
    await pages[2]!.evaluate('client.close()')
    await pages[3]!.evaluate('document.dispatchEvent(new Event("freeze"))')
    for (const page of pages.slice(4)) await expectChange(page)
    expect(far.streams()).toBe(4)
    expect(await pages[7]!.evaluate('state.problems')).toEqual([])
    await pages[4]!.close()
    await pages[3]!.evaluate('document.dispatchEvent(new Event("resume"))')
    const before = await pages[3]!.evaluate<number>('state.changes')
    await expect
      .poll(() => (change(), pages[3]!.evaluate<number>('state.changes')), PATIENCE)
      .toBeGreaterThan(before)
  })
})

describe.each<Revision>(['2026-07-28', '2025-11-25'])('Six tabs over %s', (revision) => {
  /** Puts one tab in front of the user, and all others in the background. */
  async function bringToFront(front: Page, pages: readonly Page[]): Promise<void> {
    for (const page of [...pages.filter((each) => each !== front), front]) {
      await page.evaluate(
        (visibilityState) => {
          Object.defineProperty(document, 'visibilityState', {
            configurable: true,
            value: visibilityState,
          })
          document.dispatchEvent(new Event('visibilitychange'))
        },
        page === front ? 'visible' : 'hidden',
      )
    }
  }

  it('take turns: the one in front listens in place of one in the background', async () => {
    const context = await browser.newContext()
    const pages: Page[] = []
    for (let tab = 0; tab < 6; tab++) {
      const page = await context.newPage()
      pages.push(page)
      await page.goto(`${site.origin}/everything.html`)
      await page.waitForFunction('typeof edgewise === "object"')
      await bringToFront(page, pages)
      await listenIn(page, far.url, revision)
    }
    for (const page of [...pages].reverse()) {
      await bringToFront(page, pages)
      await page.evaluate('state.changes = 0')
      await expect
        .poll(() => {
          changing.disable()
          changing.enable()
          return page.evaluate<number>('state.changes')
        }, PATIENCE)
        .toBeGreaterThan(0)
      await expect.poll(far.streams, PATIENCE).toBe(4)
      expect(await page.evaluate('state.problems')).toEqual([])
    }
    await context.close()
  })
})

describe('A stream while four others are open', () => {
  it.each([
    ['that listens waits', { 'mcp-session-id': '1' }, false],
    ['of a call that is resumed does not', { 'mcp-session-id': '1', 'last-event-id': '7' }, true],
    ['of 2024-11-05, which brings the answers too, does not', {}, true],
  ])('%s', async (_what, headers, isSent) => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${site.origin}/everything.html`)
    await page.waitForFunction('typeof edgewise === "object"')
    const outcome = await page.evaluate(async (given) => {
      const sent: string[] = []
      const fetch = edgewise.pageFetch({
        fetch: async (url) => {
          sent.push(url)
          // Never ends
          return new Response(new ReadableStream())
        },
      })
      const open = (of: string, headers: Record<string, string>): Promise<Response> =>
        fetch(`http://far.test/${of}`, {
          method: 'GET',
          headers: { accept: 'text/event-stream', ...headers },
          signal: new AbortController().signal,
        })
      for (let stream = 1; stream <= 4; stream++) await open('first', { 'mcp-session-id': '0' })
      void open('other', given)
      // The turns of another server are free, and what needs one takes it later than the stream above
      await fetch('http://near.test/mcp', {
        method: 'GET',
        headers: { accept: 'text/event-stream', 'mcp-session-id': '0' },
        signal: new AbortController().signal,
      })
      return sent.includes('http://far.test/other')
    }, headers)
    expect(outcome).toBe(isSent)
    await context.close()
  })

  it('is not sent if it is aborted while it waits', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${site.origin}/everything.html`)
    await page.waitForFunction('typeof edgewise === "object"')
    const outcome = await page.evaluate(async () => {
      let sent = 0
      const waits = new EventTarget()
      const waiting = new Promise((resolve) => waits.addEventListener('wait', resolve))
      const fetch = edgewise.pageFetch({
        fetch: async () => {
          sent++
          return new Response(new ReadableStream())
        },
        onWait: () => waits.dispatchEvent(new Event('wait')),
      })
      const open = (signal: AbortSignal): Promise<Response> =>
        fetch('http://far.test/mcp', {
          method: 'GET',
          headers: { accept: 'text/event-stream', 'mcp-session-id': '0' },
          signal,
        })
      for (let stream = 1; stream <= 4; stream++) await open(new AbortController().signal)
      const controller = new AbortController()
      const fifth = open(controller.signal).catch(String)
      await waiting
      controller.abort('enough')
      return { ended: await fifth, sent }
    })
    expect(outcome).toEqual({ ended: 'enough', sent: 4 })
    await context.close()
  })
})
