// Events in a page, which browsers freeze and resume.
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { events, streams } from 'edgewise/events'
import { toNodeListener } from 'edgewise/node'
import { createHandler, createServer } from 'edgewise/server'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { PATIENCE } from '../../patience.ts'
import { openChromium, type SharedBrowser } from '../chromium.ts'
import type { Following } from './scripts/events.ts'
import { startSite, type Site } from './site.ts'

/** Inside pages only. */
declare const following: Following

const server = createServer({ name: 'far', version: '1.0.0' })
const far = events({ streams: streams() })
const counted = far.type('counted', { payload: z.object({ n: z.number() }), pollMs: 100 })
server.extend(far)
const http = createHttpServer(toNodeListener(createHandler(server, { allowedOrigins: '*' })))

let site: Site
let browser: SharedBrowser
let url = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => http.listen(0, resolve))
  url = `http://localhost:${(http.address() as AddressInfo).port}/mcp`
  ;[site, browser] = await Promise.all([startSite(['events']), openChromium()])
})
afterAll(async () => {
  await browser.close()
  await site.stop()
  await far.close()
  http.close()
  http.closeAllConnections()
})

async function openPage(): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(`${site.origin}/events.html`)
  await page.waitForFunction('typeof following === "object"')
  return page
}

/** Follows events in a page, whose global `received` has their numbers. */
async function followIn(page: Page, mode: 'poll' | 'push' | 'webhook'): Promise<void> {
  await page.evaluate(
    async ({ url, mode }) => {
      const client = await following.connect(url)
      const subscriptions = following.eventSubscriptions(client, { minPollMs: 50, onError() {} })
      const received: unknown[] = []
      Object.assign(globalThis, { received, failure: '' })
      const follow = async (): Promise<void> => {
        const followed = subscriptions.follow('counted', {}, { mode })
        for await (const { data } of followed) received.push(data.n)
      }
      follow().catch((error: Error) => Object.assign(globalThis, { failure: error.message }))
    },
    { url, mode },
  )
}

describe('A page', () => {
  it.each(['poll', 'push'] as const)(
    'that was frozen receives by %s what happened meanwhile, once [E-EVT-327]',
    async (mode) => {
      const page = await openPage()
      await followIn(page, mode)
      const received = (): Promise<number[]> => page.evaluate('received')
      let n = 0
      // Until the page has subscribed, it receives nothing
      await expect
        .poll(async () => {
          await counted.emit({ n: ++n })
          return (await received()).length
        }, PATIENCE)
        .toBeGreaterThan(0)
      const [first = 0] = await received()
      await expect.poll(async () => (await received()).at(-1), PATIENCE).toBe(n)
      const session = await page.context().newCDPSession(page)
      await session.send('Page.setWebLifecycleState', { state: 'frozen' })
      // Browsers and proxies close the connections of pages that sleep
      http.closeAllConnections()
      for (let more = 0; more < 5; more++) await counted.emit({ n: ++n })
      await session.send('Page.setWebLifecycleState', { state: 'active' })
      await expect.poll(async () => (await received()).at(-1), PATIENCE).toBe(n)
      expect(await received()).toEqual(Array.from({ length: n - first + 1 }, (_, at) => first + at))
      await page.close()
    },
    60_000,
  )

  it('has no webhooks [E-EVT-327]', async () => {
    const page = await openPage()
    await followIn(page, 'webhook')
    await expect.poll(() => page.evaluate('failure'), PATIENCE).toContain('"webhook"')
    await page.close()
  })
})
