/** The playground as `npm start` serves it: its first paint, and its responsiveness with long lists. */
import type { Browser, Page } from 'playwright-core'
import { server as crowd } from '../test/playground/crowd.ts'
import { host } from '../test/playground/host.ts'
import { startWorker } from '../test/playground/wrangler.ts'
import { launchChromium } from '../test/runtimes/chromium.ts'
import type { Bench, Table } from './bench.ts'
import { spread, type Spread } from './compare.ts'

const LINES = 10_000

/** Milliseconds from the start of loading until the first paint, and until it was connected. */
async function load(browser: Browser, url: string): Promise<{ paint: number; connected: number }> {
  // A separate context has an empty cache
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(url)
  await page.locator('#status', { hasText: /^Connected to / }).waitFor()
  const times = await page.evaluate(() => ({
    paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
    connected: performance.now(),
  }))
  await context.close()
  return times
}

/**
 * Performs an action and returns the longest period during which the page was unresponsive. Tasks below 50 ms do
 * not count.
 *
 * @param buffered Whether it includes what happened before, since the page was opened.
 */
async function longestTask(
  page: Page,
  act: () => Promise<void>,
  buffered = false,
): Promise<number> {
  await page.evaluate((isBuffered) => {
    const found = { longest: 0 }
    Object.assign(globalThis, { found })
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries())
        found.longest = Math.max(found.longest, duration)
    }).observe({ type: 'longtask', buffered: isBuffered })
  }, buffered)
  await act()
  return page.evaluate<number>('found.longest')
}

async function flood(page: Page): Promise<void> {
  await page.evaluate(() => (location.hash = '#/tool/flood'))
  await page.getByLabel('lines').fill(String(LINES))
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.scroller').getByText(`Line ${LINES}`, { exact: true }).waitFor()
}

/** Waits until the page has reported the tasks of the past. */
const settle = (page: Page): Promise<void> =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))

async function filter(page: Page): Promise<void> {
  for (const text of ['t', 'to', 'tool-0', 'tool-07', 'tool-0777']) {
    await page.getByLabel('Search tools, resources and prompts').fill(text)
  }
  await page.getByRole('link', { name: 'tool-0777' }).waitFor()
}

export const bench: Bench = {
  title: 'The playground of `npm start` in Chromium',
  tables: async ({ scale }) => {
    const [worker, crowded, browser] = await Promise.all([
      startWorker(),
      host(crowd),
      launchChromium(),
    ])
    try {
      const loads = []
      for (let round = 0; round < Math.ceil(10 * scale); round++)
        loads.push(await load(browser, worker.url))
      const first = times('loading', 'paint < 100 ms', [
        [
          'first contentful paint, the first time',
          spread(loads.slice(0, 1).map(({ paint }) => paint)),
        ],
        ['first contentful paint', spread(loads.map(({ paint }) => paint))],
        ['connected', spread(loads.map(({ connected }) => connected))],
      ])
      const tasks: { load: number; flood: number; filter: number }[] = []
      for (let round = 0; round < Math.ceil(3 * scale); round++) {
        const page = await browser.newPage()
        await page.goto(crowded.url)
        await page.locator('#status', { hasText: 'Connected to Crowd' }).waitFor()
        tasks.push({
          load: await longestTask(page, () => settle(page), true),
          flood: await longestTask(page, () => flood(page)),
          filter: await longestTask(page, () => filter(page)),
        })
        await page.close()
      }
      const long = times('longest task', '< 50 ms', [
        ['loading 1,000 tools', spread(tasks.map((each) => each.load))],
        [`${LINES} log lines`, spread(tasks.map((each) => each.flood))],
        ['filtering 1,000 tools', spread(tasks.map((each) => each.filter))],
      ])
      return [first, long]
    } finally {
      await browser.close()
      crowded.close()
      await worker.stop()
    }
  },
}

function times(label: string, goal: string, rows: [what: string, ms: Spread][]): Table {
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
