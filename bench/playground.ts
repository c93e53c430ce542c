/** The playground as `npm start` serves it: its first paint, and its responsiveness with long lists. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { server as demo } from '../examples/playground/server.ts'
import { server as crowd } from '../test/playground/crowd.ts'
import { host, type Host } from '../test/playground/host.ts'
import { startWorker } from '../test/playground/wrangler.ts'
import { launchChromium } from '../test/runtimes/chromium.ts'
import type { Bench, Table } from './bench.ts'
import { spread, type Spread } from './compare.ts'

const LINES = 10_000
/** How long the page is watched after it has done what was asked. */
const SETTLE_MS = 500

/** Serves a page that only says hello. It is the floor: what a browser needs for any page. */
async function hostHello(): Promise<Host> {
  const http = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><html lang="en"><title>Hello</title><p>Hello</p></html>')
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close() {
      http.closeAllConnections()
      http.close()
    },
  }
}

/** Milliseconds since the start of loading. */
interface Load {
  firstByte: number
  paint: number
  /** When the playground was connected. */
  connected: number
}

/** Loads a page as on the first visit, because each context has an empty cache. */
async function load(browser: Browser, url: string, isPlayground: boolean): Promise<Load> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(url)
  if (isPlayground) await page.locator('#status', { hasText: /^Connected to / }).waitFor()
  const times = await page.evaluate(async () => {
    const connected = performance.now()
    const paint = await new Promise<number>((resolve) => {
      new PerformanceObserver((paints) => {
        const [first] = paints.getEntriesByName('first-contentful-paint')
        if (first) resolve(first.startTime)
      }).observe({ type: 'paint', buffered: true })
    })
    const [loading] = performance.getEntriesByType('navigation')
    const firstByte =
      loading && 'responseStart' in loading ? Number(loading.responseStart) : Number.NaN
    return { firstByte, paint, connected }
  })
  await context.close()
  return times
}

/** Loads a page as the first one of a browser, which has just been started. */
async function loadFirst(url: string, isPlayground: boolean): Promise<Load> {
  const browser = await launchChromium()
  try {
    return await load(browser, url, isPlayground)
  } finally {
    await browser.close()
  }
}

/** Loads pages by turns, so that other work on the machine slows all. Returns the loads of each page. */
async function takeTurns(
  rounds: number,
  pages: readonly (() => Promise<Load>)[],
): Promise<readonly (readonly Load[])[]> {
  const loads = pages.map((): Load[] => [])
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < pages.length; turn++) {
      const index = (round + turn) % pages.length
      const times = await pages[index]?.()
      if (times) loads[index]?.push(times)
    }
  }
  return loads
}

/** The longest period without a response of the page, since the last reset. Tasks below 50 ms do not count. */
const longestTask = (page: Page): Promise<number> => page.evaluate<number>('found.longest')

/**
 * Opens the page with 1,000 tools, and waits until it is connected and idle. The page watches itself, because the
 * scripts of a locator would block it for longer than its own work.
 */
async function openCrowd(page: Page, url: string): Promise<void> {
  await page.addInitScript((settleMs) => {
    const found = { longest: 0 }
    Object.assign(globalThis, { found })
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries())
        found.longest = Math.max(found.longest, duration)
    }).observe({ type: 'longtask' })
    const timer = setInterval(() => {
      const text = document.querySelector('#status')?.textContent
      if (!text?.startsWith('Connected to Crowd')) return
      clearInterval(timer)
      setTimeout(() => console.log('connected'), settleMs)
    }, 50)
  }, SETTLE_MS)
  const connected = page.waitForEvent('console', (message) => message.text() === 'connected')
  await page.goto(url)
  await connected
}

/** Performs an action in the page, and returns the longest task until an element shows a text. */
async function measure(
  page: Page,
  act: () => void | Promise<void>,
  element: string,
  text: string,
): Promise<number> {
  await page.evaluate('found.longest = 0')
  await page.evaluate(act)
  await page.evaluate(
    async ([selector, expected, settleMs]) => {
      while (!document.querySelector(selector)?.textContent.includes(expected))
        await new Promise((done) => setTimeout(done, 50))
      await new Promise((done) => setTimeout(done, settleMs))
    },
    [element, text, SETTLE_MS] as const,
  )
  return longestTask(page)
}

/** Calls the tool that logs many lines. */
async function flood(page: Page): Promise<number> {
  await page.evaluate(() => (location.hash = '#/tool/flood'))
  await page.getByLabel('lines').fill(String(LINES))
  const act = (): void => document.querySelector<HTMLFormElement>('#detail form')?.requestSubmit()
  return measure(page, act, '.entries', `Line ${LINES}`)
}

/** Filters the tools, letter by letter. */
function filter(page: Page): Promise<number> {
  const act = async (): Promise<void> => {
    const input = document.querySelector<HTMLInputElement>('#filter')
    for (const text of ['t', 'to', 'tool-0', 'tool-07', 'tool-0777']) {
      if (input) input.value = text
      input?.dispatchEvent(new Event('input'))
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
    }
  }
  return measure(page, act, '#lists a', 'tool-0777')
}

export const bench: Bench = {
  title: 'The playground of `npm start` in Chromium',
  tables: async ({ scale }) => {
    const [worker, node, crowded, hello, browser] = await Promise.all([
      startWorker(),
      host(demo),
      host(crowd),
      hostHello(),
      launchChromium(),
    ])
    try {
      const pages = [
        () => load(browser, worker.url, true),
        () => load(browser, node.url, true),
        () => load(browser, hello.url, false),
      ]
      // The servers and the browser are warm afterwards
      await takeTurns(1, pages)
      const [ofWorker = [], ofNode = [], ofHello = []] = await takeTurns(
        Math.ceil(10 * scale),
        pages,
      )
      const [firstOfWorker = [], firstOfHello = []] = await takeTurns(Math.ceil(3 * scale), [
        () => loadFirst(worker.url, true),
        () => loadFirst(hello.url, false),
      ])
      const of = (member: keyof Load, loads: readonly Load[]): Spread =>
        spread(loads.map((times) => times[member]))
      const loading = table('loading', 'paint < 100 ms', [
        ['first byte', of('firstByte', ofWorker)],
        ['first contentful paint', of('paint', ofWorker)],
        ['without wrangler: first byte', of('firstByte', ofNode)],
        ['without wrangler: first contentful paint', of('paint', ofNode)],
        ['first contentful paint of a page that says hello', of('paint', ofHello)],
        ['connected', of('connected', ofWorker)],
        ['in a new browser: first contentful paint', of('paint', firstOfWorker)],
        ['in a new browser: that of a page that says hello', of('paint', firstOfHello)],
      ])
      const tasks: { load: number; flood: number; filter: number }[] = []
      for (let round = 0; round < Math.ceil(5 * scale); round++) {
        const page = await browser.newPage()
        await openCrowd(page, crowded.url)
        tasks.push({
          load: await longestTask(page),
          flood: await flood(page),
          filter: await filter(page),
        })
        await page.close()
      }
      const long = table('longest task', '< 50 ms', [
        ['loading 1,000 tools', spread(tasks.map((each) => each.load))],
        [`${LINES} log lines`, spread(tasks.map((each) => each.flood))],
        ['filtering 1,000 tools', spread(tasks.map((each) => each.filter))],
      ])
      return [loading, long]
    } finally {
      await browser.close()
      hello.close()
      crowded.close()
      node.close()
      await worker.stop()
    }
  },
}

function table(label: string, goal: string, rows: [what: string, ms: Spread][]): Table {
  return {
    label,
    goal,
    head: ['', 'ms', 'min', 'max'],
    rows: rows.map(([name, { median, min, max }]) => [
      name,
      '',
      ...[median, min, max].map((ms) => ms.toFixed(0)),
    ]),
    data: Object.fromEntries(rows),
  }
}
