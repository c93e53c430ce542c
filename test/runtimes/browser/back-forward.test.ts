// A page that users leave and come back to, from the browser's cache of whole pages: which page may go
// there, and what goes on when it is back.
import type { Revision } from 'edgewise'
import type { Client } from 'edgewise/client'
import { createServer } from 'edgewise/server'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { installedChromium, openChromium, type SharedBrowser } from '../chromium.ts'
import { startFar, type Far } from './far.ts'
import type { Everything } from './scripts/everything.ts'
import { complaintsOf, startSite, type Site } from './site.ts'

/** Inside pages only. */
declare const edgewise: Everything
declare const client: Client
declare const state: State

/** What a page knows of its connection. */
interface State {
  changes: number
  problems: string[]
  answer?: Promise<unknown>
}

const server = createServer({ name: 'far', version: '1.0.0' })
const changing = server.tool('changing', {}, () => 'seen')
const waiting: (() => void)[] = []
server.tool('wait', {}, async () => {
  await new Promise<void>((resolve) => waiting.push(resolve))
  return 'at last'
})

let site: Site
let browser: SharedBrowser
let context: BrowserContext
let page: Page
let complaints: string[]
let far: Far

const title =
  'A page in the back-forward cache' +
  (installedChromium
    ? ''
    : ' (skipped: the Chromium from npm has none; install Chromium, or name it in CHROMIUM_PATH, the only way in CI)')

describe.skipIf(!installedChromium)(title, () => {
  beforeAll(async () => {
    ;[far, site, browser] = await Promise.all([
      startFar(server),
      startSite(['everything', 'worker', 'frame']),
      openChromium([], installedChromium),
    ])
  })
  afterAll(async () => {
    await browser.close()
    await site.stop()
    far.stop()
  })
  beforeEach(async () => {
    context = await browser.newContext()
    page = await visit()
    complaints = complaintsOf(page)
  })
  afterEach(async () => {
    await context.close()
    await expect.poll(far.streams).toBe(0)
    expect(complaints).toEqual([])
  })

  async function visit(): Promise<Page> {
    const opened = await context.newPage()
    await opened.addInitScript('addEventListener("pageshow", (e) => (shown = e.persisted))')
    await opened.goto(`${site.origin}/everything.html`)
    await opened.waitForFunction('typeof edgewise === "object"')
    return opened
  }
  const leave = (): Promise<unknown> => page.goto(`${site.origin}/empty.html`)
  async function comeBack(): Promise<void> {
    await page.evaluate('setTimeout(() => history.back())')
    // A page from there is loaded already
    await page.waitForURL('**/everything.html', { waitUntil: 'commit' })
  }
  /** What is null for a page from the cache, and says why it was not there otherwise. */
  const whyNot = (): Promise<unknown> =>
    page.evaluate(`shown || performance.getEntriesByType('navigation')[0].notRestoredReasons`)

  describe.each<Revision>(['2026-07-28', '2025-11-25'])('that is connected over %s', (revision) => {
    beforeEach(() =>
      page.evaluate(
        async ({ url, revision }) => {
          const state: State = { changes: 0, problems: [] }
          const client = await edgewise.connect(url, {
            revision,
            onToolsChanged: () => state.changes++,
            onError: (error) => state.problems.push(error.message),
          })
          Object.assign(globalThis, { state, client })
        },
        { url: far.url, revision },
      ),
    )

    it('keeps no stream open while it is cached, and is notified of changes when restored', async () => {
      await expect.poll(far.streams).toBe(1)
      await leave()
      await expect.poll(far.streams).toBe(0)
      changing.disable()
      changing.enable()
      await comeBack()
      expect(await whyNot()).toBe(true)
      await expect.poll(() => page.evaluate('state.changes')).toBeGreaterThan(0)
      expect(far.streams()).toBe(1)
      expect(await page.evaluate('state.problems')).toEqual([])
    })

    it.each(['while it is there', 'when it is back'])(
      'gets the answer to a call that comes %s',
      async (when) => {
        await page.evaluate(() => {
          state.answer = client.callTool('wait')
        })
        await expect.poll(() => waiting.length).toBe(1)
        const answer = (): void => waiting.pop()?.()
        await leave()
        if (when === 'while it is there') answer()
        await comeBack()
        expect(await whyNot()).toBe(true)
        answer()
        const content = [{ type: 'text', text: 'at last' }]
        expect(await page.evaluate(() => state.answer)).toMatchObject({ content })
      },
    )
  })

  it.each(['dedicated worker', 'shared worker', 'service worker', 'frame', 'strange frame'])(
    'continues with the server in a %s',
    async (where) => {
      await page.evaluate(
        async ({ where, other }) => {
          const options = { type: 'module' } as const
          const frame = (origin: string): Window => {
            const element = document.createElement('iframe')
            element.src = `${origin}/frame.html?host=${location.origin}`
            document.body.append(element)
            return element.contentWindow!
          }
          if (where === 'service worker') {
            await navigator.serviceWorker.register('/worker.js', options)
          }
          const origin = where === 'strange frame' ? other : location.origin
          const target = where.endsWith('frame')
            ? frame(origin)
            : where === 'dedicated worker'
              ? new Worker('/worker.js', options)
              : where === 'shared worker'
                ? new SharedWorker('/worker.js', options)
                : navigator.serviceWorker
          const client = await edgewise.connect(edgewise.openPort(target, { origin }))
          const state = { answer: client.callTool('hang').catch((error) => error.code) }
          await client.ping()
          Object.assign(globalThis, { client, state })
        },
        { where, other: site.other },
      )
      await leave()
      await comeBack()
      expect(await whyNot()).toBe(true)
      const answer = page.evaluate(() =>
        Promise.race([state.answer, client.ping().then(() => 'both ends are there')]),
      )
      expect(await answer).toBe('both ends are there')
      complaints = complaints.filter((text) => !text.includes("recipient window's origin"))
    },
  )

  it('is evicted by a message from a shared worker, which detects the end', async () => {
    const connect = (one: Page): Promise<void> =>
      one.evaluate(async () => {
        const worker = new SharedWorker('/worker.js', { type: 'module' })
        const client = await edgewise.connect(edgewise.openPort(worker), {
          onToolsChanged: () => {},
        })
        Object.assign(globalThis, { client })
      })
    const second = await visit()
    await Promise.all([connect(page), connect(second)])
    await page.evaluate(async () => {
      void client.callTool('hang').catch(() => {})
      await client.ping()
    })
    const running = (): Promise<unknown> =>
      second.evaluate(async () => (await client.callTool('running')).content)
    await leave()
    expect(await running()).toEqual([{ type: 'text', text: '1' }])
    await second.evaluate(() => client.callTool('change'))
    await expect.poll(running).toEqual([{ type: 'text', text: '0' }])
    await comeBack()
    expect(JSON.stringify(await whyNot())).toContain('sharedworker-message')
  })

  it('detects that the user came back from the sign-in page without signing in', async () => {
    await page.evaluate(async () => {
      const { signal } = new AbortController()
      const visit = await edgewise.popup({ redirectUri: '/', mode: 'redirect' }).begin(undefined)
      const going = visit.go(`${origin}/empty.html?state=1`, 'flow', signal)
      Object.assign(globalThis, { state: { answer: going.catch((error) => error.message) } })
    })
    await page.waitForURL('**/empty.html?*')
    await comeBack()
    expect(await whyNot()).toBe(true)
    expect(await page.evaluate(() => state.answer)).toBe('The user came back without signing in')
  })

  it('releases the lock of tokens that another page wants to refresh', async () => {
    const second = await visit()
    const hold = (one: Page, holds: boolean): Promise<unknown> =>
      one.evaluate(async (holds) => {
        const tokens = edgewise.indexedDbTokenStore()
        await new Promise<void>((resolve) => {
          void tokens.withLock('key', () => {
            resolve()
            return holds ? new Promise(() => {}) : Promise.resolve()
          })
        })
      }, holds)
    await hold(page, true)
    const waits = hold(second, false)
    await leave()
    await waits
  })
})
