// Clicks through the playground in a real Chromium, against its Worker under `wrangler dev`.
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../runtimes/chromium.ts'
import { startWorker, type RunningWorker } from './worker.ts'

let worker: RunningWorker
let browser: Browser
/** What the browser complained of during a test: script errors, refused resources, CSP. */
let complaints: string[] = []

beforeAll(async () => {
  ;[worker, browser] = await Promise.all([startWorker(), launchChromium()])
})
afterAll(async () => {
  await browser.close()
  await worker.stop()
})
afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()))
  const found = complaints
  complaints = []
  expect(found).toEqual([])
})

/** Opens the playground in a browser of its own. */
async function open(path = '', options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(8_000)
  const page = await context.newPage()
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(`${worker.url}/${path}`)
  await page.getByText('Connected to Edgewise demo').waitFor({ state: 'attached' })
  return page
}

const result = (page: Page): Locator => page.getByRole('region', { name: 'Result' })
const run = (page: Page): Promise<void> => page.getByRole('button', { name: 'Run' }).click()
const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name }).click()
async function sees(locator: Locator, text: string | RegExp): Promise<void> {
  await locator.getByText(text).first().waitFor()
}

describe('Playground: connection', () => {
  it('connects to its own Worker and lists tools, resources, templates and prompts', async () => {
    const page = await open()
    const nav = page.getByRole('navigation')
    for (const name of ['Tools', 'Resources', 'Templates', 'Prompts']) {
      await nav.getByRole('heading', { name }).waitFor()
    }
    expect(await nav.getByRole('link').count()).toBe(12)
    await sees(page.getByRole('main'), '2026-07-28, stateless')
    await nav.getByLabel('Filter').fill('pizza')
    expect(await nav.getByRole('link').allInnerTexts()).toEqual([
      expect.stringContaining('Order a pizza'),
    ])
  })

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'speaks the chosen legacy revision %s',
    async (revision) => {
      const page = await open()
      await page.getByLabel('Protocol revision').selectOption(revision)
      await press(page, 'Connect')
      await sees(page.getByRole('main'), `${revision}, with a session`)
      await page.getByRole('link', { name: 'Greet' }).click()
      await page.getByLabel('name').fill('Ada')
      await run(page)
      await sees(result(page), 'Hello, Ada.')
      await page.reload()
      await page.getByText(`over ${revision}`).waitFor({ state: 'attached' })
    },
  )

  it('says what may be wrong with an endpoint that cannot be reached', async () => {
    const page = await open()
    await page.getByLabel('Endpoint').fill('http://127.0.0.1:1/mcp')
    await page.keyboard.press('Enter')
    await sees(page.getByRole('main'), 'may not be running')
    await sees(page.getByRole('status'), 'http://127.0.0.1:1/mcp')
    expect(complaints.splice(0)).not.toEqual([])
  })
})

describe('Playground: tools', () => {
  it('calls a tool with a generated form and shows structured content', async () => {
    const page = await open('#/tool/calculate')
    await page.getByLabel('a', { exact: true }).fill('6')
    await page.getByLabel('b', { exact: true }).fill('7')
    await page.getByLabel('operation').selectOption('multiply')
    await run(page)
    await sees(result(page), '6 × 7 = 42')
    expect(await result(page).getByText('Structured content').count()).toBe(1)
  })

  it('does not send a form whose required fields are empty', async () => {
    const page = await open('#/tool/greet')
    await run(page)
    expect(await page.locator(':user-invalid').count()).toBe(1)
    expect(await result(page).isVisible()).toBe(false)
  })

  it('builds nested objects, lists, choices and raw JSON, and shows them as one JSON text', async () => {
    const page = await open('#/tool/order')
    await page.getByLabel('size').selectOption('large')
    await page.getByLabel('olives').check()
    await page.getByLabel('basil').check()
    await press(page, 'Add to notes')
    await page.keyboard.type('Ring twice')
    await press(page, 'Add to notes')
    await page.keyboard.type('No knife')
    await press(page, 'Remove notes 1')
    await page.getByLabel('street').fill('Storgata 1')
    await page.getByLabel('city').fill('Oslo')
    await page.getByLabel('extra').fill('{"tip": 2}')
    const order = {
      size: 'large',
      toppings: ['olives', 'basil'],
      notes: ['No knife'],
      delivery: { street: 'Storgata 1', city: 'Oslo' },
      extra: { tip: 2 },
    }
    await press(page, 'JSON')
    expect(JSON.parse(await page.getByLabel('Arguments as JSON').inputValue())).toEqual(order)
    await press(page, 'JSON')
    expect(await page.getByLabel('street').inputValue()).toBe('Storgata 1')
    await run(page)
    const shown = await result(page).getByRole('group', { name: 'JSON' }).innerText()
    expect(JSON.parse(shown)).toEqual({ minutes: 35, order })
  })

  it('shows progress on a bar and logs as they come', async () => {
    const page = await open('#/tool/count')
    await page.getByLabel('steps').fill('4')
    await page.getByLabel('pauseMs').fill('150')
    await run(page)
    await sees(result(page), 'Step 2 of 4')
    expect(await result(page).getByRole('progressbar').getAttribute('max')).toBe('4')
    await sees(page.getByRole('log'), 'Counting to 4')
    await sees(result(page), 'Counted to 4.')
    await sees(result(page), /^Done in/)
  })

  it('cancels a running call', async () => {
    const page = await open('#/tool/count')
    await page.getByLabel('steps').fill('50')
    await run(page)
    await sees(result(page), 'Step 1 of 50')
    await press(page, 'Cancel')
    await sees(result(page), 'Cancelled')
  })

  it('shows the failure of a tool as what the model reads', async () => {
    const page = await open('#/tool/fail')
    await run(page)
    await sees(result(page), 'The oven is cold. Try again after 18:00')
    await sees(result(page), /reported an error/)
  })

  it('shows an image', async () => {
    const page = await open('#/tool/draw')
    await run(page)
    const image = result(page).getByRole('img')
    await image.waitFor()
    expect(
      await image.evaluate((each: HTMLImageElement) => each.decode().then(() => each.naturalWidth)),
    ).toBe(640)
  })
})

describe('Playground: questions of the server', () => {
  const dialog = (page: Page): Locator => page.getByRole('dialog')
  async function book(page: Page): Promise<void> {
    await page.getByLabel('city').selectOption('Oslo')
    await run(page)
    await sees(dialog(page), 'When do you arrive in Oslo')
  }
  async function giveWishes(page: Page): Promise<void> {
    await page.getByLabel('Arrival').fill('2030-05-17')
    await page.getByLabel('Room').selectOption('Double')
    await press(page, 'Send')
    await sees(dialog(page), '2 nights in Oslo from 2030-05-17, double room: 280 €.')
  }

  it.each(['auto', '2025-11-25', '2025-06-18'])(
    'asks twice and books when both are accepted (%s)',
    async (revision) => {
      const page = await open(`?revision=${revision}#/tool/book`)
      await book(page)
      await giveWishes(page)
      await page.getByLabel('Book it').check()
      await press(page, 'Send')
      await sees(result(page), /^Booked 2 nights in Oslo from 2030-05-17. Reference: [0-9A-F]{8}$/)
      await result(page).getByRole('link', { name: 'About Oslo' }).click()
      await sees(result(page), '"Norway"')
    },
  )

  it('tells the server of a decline and of a dismissal', async () => {
    const page = await open('#/tool/book')
    await book(page)
    await press(page, 'Decline')
    await sees(result(page), 'the wishes were not given')
    await run(page)
    await giveWishes(page)
    await page.keyboard.press('Escape')
    await sees(result(page), 'the offer was not taken')
    expect(await page.getByRole('button', { name: 'Run' }).isEnabled()).toBe(true)
  })

  it('shows a URL and opens it only when the person agrees', async () => {
    const page = await open('#/tool/sign')
    await page
      .context()
      .route('https://sign.example/**', (route) => route.fulfill({ body: 'Sign' }))
    await run(page)
    await sees(dialog(page), 'sign.example')
    await press(page, 'Decline')
    await sees(result(page), 'The page was not opened.')
    await run(page)
    const [opened] = await Promise.all([page.waitForEvent('popup'), press(page, 'Open page')])
    expect(opened.url()).toBe('https://sign.example/contract?id=42')
    await sees(result(page), 'Thank you. The page is open.')
  })
})

describe('Playground: resources and prompts', () => {
  it('reads a resource when it is opened', async () => {
    const page = await open()
    await page.getByRole('link', { name: 'About this server' }).click()
    await sees(result(page), '# Edgewise demo')
  })

  it('suggests values for a template and reads what they name', async () => {
    const page = await open('#/template/demo%3A%2F%2Fcities%2F%7Bcity%7D')
    await page.getByLabel('city').fill('K')
    await page.locator('datalist option[value=Kyoto]').waitFor({ state: 'attached' })
    await page.getByLabel('city').fill('Kyoto')
    await press(page, 'Read')
    await sees(result(page), '"Japan"')
    await page.getByLabel('city').fill('Atlantis')
    await press(page, 'Read')
    await sees(result(page), /Unknown city: "Atlantis"/)
    // The browser reports an answer with status 4xx.
    complaints = complaints.filter((text) => !text.startsWith('Failed to load resource'))
  })

  it('gets the messages of a prompt', async () => {
    const page = await open('#/prompt/plan')
    await page.getByLabel('city').fill('Quito')
    await page.getByLabel('mood').fill('hungry')
    await press(page, 'Get messages')
    await sees(result(page), 'Plan three hungry days in Quito.')
  })

  it('shows every message on the wire with its headers', async () => {
    const page = await open('#/tool/greet')
    await page.getByLabel('name').fill('Ada')
    await run(page)
    await sees(result(page), 'Hello, Ada.')
    await page.getByRole('tab', { name: 'Wire' }).click()
    const wire = page.getByRole('tabpanel', { name: 'Wire' })
    await wire.getByText('tools/call').click()
    await sees(wire, /mcp-protocol-version: 2026-07-28/)
  })
})

describe('Playground: for everyone', () => {
  it('works by keyboard alone', async () => {
    const page = await open()
    const focused = (): Promise<string> =>
      page.evaluate(() => document.activeElement?.textContent?.trim() ?? '')
    await page.getByLabel('Filter').focus()
    await page.keyboard.type('greet')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Greet', level: 1 }).waitFor()
    expect(await focused()).toBe('Greet')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Grace')
    await page.keyboard.press('Control+Enter')
    await sees(result(page), 'Hello, Grace.')
    await page.goBack()
    await page.getByRole('heading', { name: 'Edgewise demo', level: 1 }).waitFor()
  })

  it('fits a narrow screen: the list, then one thing with a way back', async () => {
    const page = await open('', { viewport: { width: 320, height: 640 } })
    await page.getByRole('link', { name: 'Order a pizza' }).click()
    await page.getByRole('heading', { name: 'Order a pizza', level: 1 }).waitFor()
    expect(await page.getByRole('navigation').isVisible()).toBe(false)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
    await page.getByRole('link', { name: 'All' }).click()
    expect(await page.getByRole('navigation').isVisible()).toBe(true)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  })

  it.each(['light', 'dark'] as const)('has no accessibility violations in %s', async (scheme) => {
    const page = await open('#/tool/order', { colorScheme: scheme })
    // Evaluated by the debugger, as the page's own policy allows no such script.
    await page.evaluate(axe.source)
    const violations = (): Promise<unknown> =>
      page.evaluate(`axe.run().then(({ violations }) =>
        violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`)
    expect(await violations()).toEqual([])
    await page.goto(`${worker.url}/#/tool/book`)
    await page.getByLabel('city').selectOption('Oslo')
    await run(page)
    await page.getByRole('dialog').waitFor()
    expect(await violations()).toEqual([])
    await press(page, 'Decline')
    await sees(result(page), /^Done in/)
    await page.getByRole('tab', { name: 'Wire' }).click()
    await page.getByRole('tabpanel').locator('summary').first().click()
    expect(await violations()).toEqual([])
  })
})
