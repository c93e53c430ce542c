// Clicks through the playground in a real Chromium, against its Worker under `wrangler dev`.
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../runtimes/chromium.ts'
import { startWorker, type RunningWorker } from './worker.ts'
import { PATIENCE } from '../patience.ts'

let worker: RunningWorker
let browser: Browser
/** Most tests go on with one page, as a person would. */
let page: Page
/** What the browser complained of during a test: script errors, refused resources, CSP. */
let complaints: string[] = []

beforeAll(async () => {
  ;[worker, browser] = await Promise.all([startWorker(), launchChromium()])
  page = await open()
})
afterAll(async () => {
  await browser.close()
  await worker.stop()
})
afterEach(() => {
  const found = complaints
  complaints = []
  expect(found).toEqual([])
})

/** Opens the playground in a browser of its own. */
async function open(path = '', options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(PATIENCE.timeout)
  const opened = await context.newPage()
  opened.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  opened.on('pageerror', (error) => complaints.push(String(error)))
  await opened.goto(`${worker.url}/${path}`)
  await opened.getByText('Connected to Edgewise demo').waitFor({ state: 'attached' })
  return opened
}

/** Shows another view of the page that is open. */
async function show(route: string, title: string, on = page): Promise<void> {
  await on.evaluate((hash) => (location.hash = hash), `#/${route}`)
  await on.getByRole('heading', { name: title, level: 1 }).waitFor()
}
const result = (on = page): Locator => on.getByRole('region', { name: 'Result' })
const dialog = (on = page): Locator => on.getByRole('dialog')
const press = (name: string, on = page): Promise<void> => on.getByRole('button', { name }).click()
async function sees(locator: Locator, text: string | RegExp): Promise<void> {
  await locator.getByText(text).first().waitFor()
}
async function connectOver(revision: string): Promise<void> {
  await page.getByLabel('Protocol revision').selectOption(revision)
  await press('Connect')
  await page.getByText(`over ${revision}`).waitFor({ state: 'attached' })
}

describe('Playground: tools', () => {
  it('are listed with resources, templates and prompts of its own Worker', async () => {
    const nav = page.getByRole('navigation')
    for (const name of ['Tools', 'Resources', 'Templates', 'Prompts']) {
      await nav.getByRole('heading', { name }).waitFor()
    }
    expect(await nav.getByRole('link').count()).toBe(14)
    await sees(page.getByRole('main'), '2026-07-28, stateless')
  })

  it('are called with a generated form; structured content is shown once', async () => {
    await show('tool/calculate', 'Calculate')
    await page.getByLabel('a', { exact: true }).fill('6')
    await page.getByLabel('b', { exact: true }).fill('7')
    await page.getByLabel('operation').selectOption('multiply')
    await press('Run')
    await sees(result(), '6 × 7 = 42')
    expect(await result().getByText('6 × 7 = 42').count()).toBe(1)
  })

  it('are not called while required fields are empty', async () => {
    await show('tool/greet', 'Greet')
    await press('Run')
    expect(await page.locator('input:user-invalid').count()).toBe(1)
    expect(await result().isVisible()).toBe(false)
  })

  it('take nested objects, lists, choices and raw JSON, as fields or as one JSON text', async () => {
    await show('tool/order', 'Order a pizza')
    await page.getByLabel('size').selectOption('large')
    await page.getByLabel('olives').check()
    await page.getByLabel('basil').check()
    await press('Add to notes')
    await page.keyboard.type('Ring twice')
    await press('Add to notes')
    await page.keyboard.type('No knife')
    await press('Remove notes 1')
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
    await press('JSON')
    expect(JSON.parse(await page.getByLabel('Arguments as JSON').inputValue())).toEqual(order)
    await press('JSON')
    expect(await page.getByLabel('street').inputValue()).toBe('Storgata 1')
    await press('Run')
    const shown = await result().getByRole('group', { name: 'JSON' }).innerText()
    expect(JSON.parse(shown)).toEqual({ minutes: 35, order })
  })

  it('show progress on a bar and logs as they come, and can be cancelled while they run', async () => {
    await show('tool/count', 'Count slowly')
    await page.getByLabel('steps').fill('50')
    await page.getByLabel('pauseMs').fill('2000')
    await press('Run')
    await sees(result(), /^Step \d+ of 50$/)
    expect(await result().getByRole('progressbar').getAttribute('max')).toBe('50')
    await sees(page.getByRole('log'), 'Counting to 50')
    await press('Cancel')
    await sees(result(), 'Cancelled')
  })

  it('say what they came to, and how long they took', async () => {
    await page.getByLabel('steps').fill('3')
    await page.getByLabel('pauseMs').fill('0')
    await press('Run')
    await sees(result(), 'Counted to 3.')
    await sees(result(), /^Done in/)
  })

  it('that become tasks tell how far they are, ask, and end', async () => {
    await show('tool/develop', 'Develop a film')
    await press('Run')
    await sees(result(), /^Developing in darkroom \d$/)
    await sees(dialog(), 'On which paper are its 3 pictures printed?')
    await page.getByLabel('Paper').selectOption('Matte')
    // What is shown for a moment only, a busy machine may be late for
    await page.evaluate(() => {
      const shown: (string | null)[] = []
      const note = (): void => void shown.push(document.body.textContent)
      new MutationObserver(note).observe(document.body, { childList: true, subtree: true })
      Object.assign(globalThis, { shown })
    })
    await press('Send')
    await sees(result(), 'Printed 3 pictures on matte paper.')
    const printing = 'shown.some((text) => text.includes("Printing on matte paper"))'
    expect(await page.evaluate(printing)).toBe(true)
  })

  it('fail with what the model reads', async () => {
    await show('tool/fail', 'Fail')
    await press('Run')
    await sees(result(), 'The oven is cold. Try again after 18:00')
    await sees(result(), /reported an error/)
  })

  it('show images', async () => {
    await show('tool/draw', 'Draw')
    await press('Run')
    const image = result().getByRole('img')
    const width = await image.evaluate(async (each: HTMLImageElement) => {
      await each.decode()
      return each.naturalWidth
    })
    expect(width).toBe(640)
  })
})

describe('Playground: resources and prompts', () => {
  it('reads a resource when it is opened', async () => {
    await page.getByRole('link', { name: 'About this server' }).click()
    await sees(result(), '# Edgewise demo')
  })

  it('suggests values for a template, reads what they name, and says what it does not', async () => {
    await show('template/demo%3A%2F%2Fcities%2F%7Bcity%7D', 'City')
    await page.getByLabel('city').fill('K')
    await page.locator('datalist option[value=Kyoto]').waitFor({ state: 'attached' })
    await page.getByLabel('city').fill('Kyoto')
    await press('Read')
    await sees(result(), '"Japan"')
    await page.getByLabel('city').fill('Atlantis')
    await press('Read')
    await sees(result(), /Unknown city: "Atlantis"/)
    // The browser itself reports an answer with a status of 400 and above.
    complaints = complaints.filter((text) => !text.startsWith('Failed to load resource'))
  })

  it('gets the messages of a prompt', async () => {
    await show('prompt/plan', 'Plan a trip')
    await page.getByLabel('city').fill('Quito')
    await page.getByLabel('mood').fill('hungry')
    await press('Get messages')
    await sees(result(), 'Plan three hungry days in Quito.')
  })

  it('shows every message on the wire with its headers', async () => {
    await page.getByRole('tab', { name: 'Wire' }).click()
    const wire = page.getByRole('tabpanel', { name: 'Wire' })
    await wire.getByText('prompts/get', { exact: true }).first().click()
    await sees(wire, /mcp-name: plan/)
  })

  it('says on every row of the wire what it is about, and marks what failed', async () => {
    await show('tool/fail', 'Fail')
    await press('Run')
    await sees(result(), /reported an error/)
    const last = page.locator('#wire li').last()
    await sees(last, /^tool error, \d/)
    expect(await last.locator('.title').innerText()).toMatch(/^tools\/call fail tool error/)
    const colour = (part: string): Promise<string> =>
      last.locator(part).evaluate((each) => getComputedStyle(each).color)
    expect(await colour('.glyph')).toBe(await colour('.outcome'))
    const failed = await page.locator('#wire li[data-failed] strong').allInnerTexts()
    expect(failed).toEqual(['fail', 'demo://cities/Atlantis', 'fail'])
  })

  it('unfolds the last row of the wire into view', async () => {
    const last = page.locator('#wire li').last()
    await last.locator('summary').click()
    await last.locator('.json').waitFor()
    const bottoms = [page.locator('#wire'), last].map((each) =>
      each.evaluate((element) => element.getBoundingClientRect().bottom),
    )
    const [panel = 0, row = 0] = await Promise.all(bottoms)
    expect(Math.floor(row)).toBeLessThanOrEqual(panel)
    await page.getByRole('tab', { name: 'Log' }).click()
  })
})

describe('Playground: questions of the server', () => {
  async function book(): Promise<void> {
    await show('tool/book', 'Book a trip')
    await page.getByLabel('city').selectOption('Oslo')
    await press('Run')
    await sees(dialog(), 'When do you arrive in Oslo')
    await sees(dialog(), /“Decline” tells the server/)
  }
  async function giveWishes(): Promise<void> {
    await page.getByLabel('Arrival').fill('2030-05-17')
    await page.getByLabel('Room').selectOption('Double')
    await press('Send')
    await sees(dialog(), '2 nights in Oslo from 2030-05-17, double room: 280 €.')
  }
  async function confirm(): Promise<void> {
    await page.getByLabel('Book it').check()
    await press('Send')
    await sees(result(), /^Booked 2 nights in Oslo from 2030-05-17. Reference: [0-9A-F]{8}$/)
  }

  it('are asked one after the other, by whom they name; both accepted, it books and links to what it booked [M-ELIC-030] [M-ELIC-032]', async () => {
    await book()
    await sees(dialog(), new URL(worker.url).host)
    await sees(dialog(), /calls itself “Edgewise demo”/)
    // What was filled in can be changed until it is sent
    await page.getByLabel('Arrival').fill('2031-01-01')
    await page.getByLabel('Room').selectOption('Suite')
    await giveWishes()
    await confirm()
    await result().getByRole('link', { name: 'About Oslo' }).click()
    await sees(result(), '"Norway"')
  })

  it('can be declined and dismissed, and the server learns of it [M-ELIC-031]', async () => {
    await book()
    await press('Decline')
    await sees(result(), 'the wishes were not given')
    await press('Run')
    await giveWishes()
    await page.keyboard.press('Escape')
    await sees(result(), 'the offer was not taken')
  })

  it('show a URL whole, and open it only when the person agrees, out of reach of this page [M-ELIC-033] [M-ELIC-034] [M-ELIC-035] [M-ELIC-036] [M-ELIC-037]', async () => {
    await show('tool/sign', 'Sign on a page')
    let visits = 0
    await page.context().route('https://sign.example/**', (route) => {
      visits++
      return route.fulfill({ body: '' })
    })
    await press('Run')
    const address = dialog().locator('.url')
    expect(await address.innerText()).toBe('https://sign.example/contract?id=42')
    expect(await address.locator('strong').innerText()).toBe('sign.example')
    await press('Decline')
    await sees(result(), 'The page was not opened.')
    await press('Run')
    await address.waitFor()
    expect(visits).toBe(0)
    const [opened] = await Promise.all([page.waitForEvent('popup'), press('Open page')])
    expect(opened.url()).toBe('https://sign.example/contract?id=42')
    expect(visits).toBe(1)
    expect(await opened.evaluate(() => window.opener)).toBe(null)
    await opened.close()
    await sees(result(), 'Thank you. The page is open.')
  })

  async function write(): Promise<void> {
    await show('tool/postcard', 'Write a postcard')
    await page.getByLabel('city').selectOption('Kyoto')
    await press('Run')
    await page.getByLabel('Name').fill('Ada')
    await press('Send')
    await sees(dialog(), 'The server asks your model')
  }
  async function answerAndSend(): Promise<void> {
    await sees(dialog(), 'You write postcards of one or two sentences.')
    await sees(dialog(), 'Write a postcard from Kyoto to Ada.')
    await page.getByLabel('Answer of the model').fill('Dear Ada, moss everywhere.')
    await press('Send answer')
    await sees(dialog(), '“Dear Ada, moss everywhere.”')
    await page.getByLabel('Send it to Ada').check()
    await press('Send')
    await sees(result(), /^Sent to Ada with stamp [0-9A-F]{4}: Dear Ada, moss everywhere\.$/)
  }

  it('of a model are shown and answered by hand, between two of the person', async () => {
    await write()
    await answerAndSend()
  })

  it('of a model can be declined, and the request fails with that', async () => {
    await write()
    await press('Decline')
    await sees(result(), 'You declined to let a model answer')
    await write()
    await page.keyboard.press('Escape')
    await sees(result(), 'You declined to let a model answer')
  })

  it.each(['2025-11-25', '2025-06-18'])('are asked on a session of %s too', async (revision) => {
    await connectOver(revision)
    await book()
    await giveWishes()
    await confirm()
    await write()
    await answerAndSend()
    await write()
    await press('Decline')
    await sees(result(), /^You declined to let a model answer/)
  })
})

describe('Playground: connection', () => {
  it.each(['2025-03-26', '2024-11-05'])('speaks the revision %s', async (revision) => {
    await connectOver(revision)
    // These revisions have no titles: things are shown by their names.
    await show('', 'edgewise-demo')
    await sees(page.getByRole('main'), `${revision}, with a session`)
    await show('tool/greet', 'greet')
    await page.getByLabel('name').fill('Ada')
    await press('Run')
    await sees(result(), 'Hello, Ada.')
  })

  it('is kept over a reload', async () => {
    await page.reload()
    await page.getByText('over 2024-11-05').waitFor({ state: 'attached' })
    await page.getByRole('heading', { name: 'greet', level: 1 }).waitFor()
  })

  it('says what may be wrong with an endpoint that cannot be reached', async () => {
    await page.getByLabel('Endpoint').fill('http://127.0.0.1:1/mcp')
    await page.keyboard.press('Enter')
    await sees(page.getByRole('main'), 'may not be running')
    const status = page.locator('#status')
    expect(await status.innerText()).toBe('Cannot reach "http://127.0.0.1:1/mcp"')
    expect(complaints.splice(0)).not.toEqual([])
    await page.getByLabel('Endpoint').fill('http://127.0.0.1:2/mcp')
    expect(await status.innerText()).toBe('')
    expect(await page.getByText('may not be running').count()).toBe(0)
  })

  it('says when the server is lost, and connects again', async () => {
    const own = await open('#/tool/fail')
    const status = own.locator('#status')
    await own.route('**/mcp', (route) => route.abort())
    await press('Run', own)
    await sees(status, 'Lost the connection to Edgewise demo')
    await sees(result(own), /^Cannot reach "[^"]+"$/)
    expect(await own.locator('#wire li[data-failed]').count()).toBeGreaterThan(0)
    await own.unroute('**/mcp')
    await press('Reconnect', own)
    await sees(status, /^Connected to Edgewise demo/)
    await own.context().close()
    expect(complaints.splice(0)).not.toEqual([])
  })
})

describe('Playground: for everyone', () => {
  it('works by keyboard alone', async () => {
    const own = await open()
    const focused = own.locator(':focus')
    await own.getByLabel('Filter').fill('zzz')
    await sees(own.getByRole('navigation'), 'Nothing matches')
    await own.getByLabel('Filter').fill('greet')
    expect(await own.getByText('Nothing matches').count()).toBe(0)
    await own.keyboard.press('ArrowDown')
    await own.keyboard.press('Enter')
    await own.getByRole('heading', { name: 'Greet', level: 1 }).waitFor()
    expect(await focused.innerText()).toBe('Greet')
    const styles = await own.getByLabel('style').locator('option').allInnerTexts()
    expect(styles).toEqual(['plain', 'formal', 'cheerful'])
    await own.keyboard.press('Tab')
    await own.keyboard.type('Grace')
    await own.keyboard.press('Control+Enter')
    await sees(result(own), 'Hello, Grace.')
    await own.goBack()
    await own.getByRole('heading', { name: 'Edgewise demo', level: 1 }).waitFor()
    await own.context().close()
  })

  it('answers for a model by keyboard alone', async () => {
    const own = await open('#/tool/postcard')
    await own.getByLabel('city').focus()
    await own.keyboard.type('Oslo')
    await own.keyboard.press('Control+Enter')
    await sees(dialog(own), 'Who gets the postcard')
    await own.keyboard.type('Grace')
    await own.keyboard.press('Enter')
    await sees(dialog(own), 'The server asks your model')
    await own.keyboard.type('Snow.')
    await own.keyboard.press('Tab')
    expect(await own.locator(':focus').innerText()).toBe('Send answer')
    await own.keyboard.press('Enter')
    await sees(dialog(own), '“Snow.”')
    await own.keyboard.press('Space')
    await own.keyboard.press('Enter')
    await sees(result(own), /^Sent to Grace with stamp .{4}: Snow\.$/)
    await own.context().close()
  })

  it('fits a narrow screen: the list, then one thing with a way back', async () => {
    const own = await open('', { viewport: { width: 320, height: 640 } })
    const width = (): Promise<number> => own.evaluate(() => document.documentElement.scrollWidth)
    expect(await width()).toBe(320)
    await own.getByRole('link', { name: 'Order a pizza' }).click()
    await own.getByRole('heading', { name: 'Order a pizza', level: 1 }).waitFor()
    expect(await own.getByRole('navigation').isVisible()).toBe(false)
    expect(await width()).toBe(320)
    await own.getByRole('link', { name: 'All' }).click()
    await own.getByRole('navigation').waitFor()
    await own.getByRole('tab', { name: 'Wire' }).click()
    for (const row of await own.locator('#wire summary').all()) await row.click()
    const blocks = own.locator('#wire pre')
    await blocks.last().waitFor()
    const cut = (all: Element[]): number =>
      all.filter((each) => each.scrollWidth > each.clientWidth).length
    expect(await blocks.evaluateAll(cut)).toBe(0)
    await own.context().close()
  })

  it('says that there is no tool of the name in the address', async () => {
    const own = await open('#/tool/nope')
    await own.getByRole('heading', { name: 'No such tool', level: 1 }).waitFor()
    await own.context().close()
  })

  it.each(['light', 'dark'] as const)('has no accessibility violations in %s', async (scheme) => {
    const own = await open('#/tool/book', { colorScheme: scheme })
    // Evaluated by the debugger, as the page's own policy allows no such script.
    await own.evaluate(axe.source)
    // Only colours differ between the themes.
    const rules = scheme === 'dark' ? "{ runOnly: ['color-contrast'] }" : '{}'
    const violations = (): Promise<unknown> =>
      own.evaluate(`axe.run(${rules}).then(({ violations }) =>
        violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`)
    await own.getByLabel('city').selectOption('Oslo')
    await press('Run', own)
    await dialog(own).waitFor()
    expect(await violations()).toEqual([])
    await press('Decline', own)
    await sees(result(own), /^Done in/)
    await show('tool/postcard', 'Write a postcard', own)
    await own.getByLabel('city').selectOption('Oslo')
    await press('Run', own)
    await own.getByLabel('Name').fill('Ada')
    await press('Send', own)
    await sees(dialog(own), 'The server asks your model')
    expect(await violations()).toEqual([])
    await press('Decline', own)
    await sees(result(own), 'You declined')
    await show('tool/order', 'Order a pizza', own)
    await own.getByRole('tab', { name: 'Wire' }).click()
    await own.getByRole('tabpanel').locator('summary').first().click()
    expect(await violations()).toEqual([])
    await own.context().close()
  })
})
