// What the tests of the playground do with its page, in the words of a person.
import type { Server } from 'edgewise/server'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { openChromium, type SharedBrowser } from '../runtimes/chromium.ts'
import { PATIENCE } from '../patience.ts'
import { host, type Host } from './host.ts'

/** A playground that is served while the tests of a file run. */
export interface Visit {
  /** Where the page is. */
  readonly url: string
  /** Opened at first: tests go on with it, as a person would. */
  readonly page: Page
  /**
   * What the browser complained of since the test began: script errors, refused resources, failed
   * requests. A test that expects some takes them out; any that remains fails it.
   */
  readonly complaints: string[]
  /** Opens another page, in a browser of its own. */
  open(path?: string, options?: BrowserContextOptions): Promise<Page>
}

/**
 * Serves the page together with a server, and opens it.
 *
 * @param executable A Chromium to open it in, if not that of all tests.
 */
export function visit(server: Server, path = '', executable?: string): Visit {
  let served: Host
  let browser: SharedBrowser
  let page: Page
  const complaints: string[] = []

  async function open(at = '', options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
      ...options,
    })
    context.setDefaultTimeout(PATIENCE.timeout)
    const opened = await context.newPage()
    opened.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    opened.on('pageerror', (error) => complaints.push(String(error)))
    await opened.goto(`${served.url}/${at}`)
    await isConnected(opened)
    return opened
  }

  beforeAll(async () => {
    ;[served, browser] = await Promise.all([host(server), openChromium([], executable)])
    page = await open(path)
  })
  afterAll(async () => {
    await browser.close()
    served.close()
  })
  afterEach(() => expect(complaints.splice(0)).toEqual([]))

  return {
    get url() {
      return served.url
    },
    get page() {
      return page
    },
    complaints,
    open,
  }
}

/** Waits until the page says that it is connected, to whom and how. */
export const isConnected = (page: Page, how: string | RegExp = /^Connected to /): Promise<void> =>
  page.locator('#status', { hasText: how }).waitFor({ state: 'attached' })

/** Shows the form with the address, which narrow screens hide while connected. */
export async function showAddress(page: Page): Promise<void> {
  const change = page.getByRole('button', { name: 'Change' })
  if (await change.isVisible()) await change.click()
}

/** Connects to another address. */
export async function connectTo(page: Page, url: string): Promise<void> {
  if (!(await page.getByLabel('Endpoint').isVisible())) await showAddress(page)
  await page.getByLabel('Endpoint').fill(url)
  await page.getByLabel('Endpoint').press('Enter')
}

/** Shows another view. */
export async function show(page: Page, route: string, title: string): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), `#/${route}`)
  await page.getByRole('heading', { name: title, level: 1 }).waitFor()
}

/** What the last run gave. */
export const result = (page: Page): Locator => page.getByRole('region', { name: 'Result' })

/** The question that is open. */
export const dialog = (page: Page): Locator => page.getByRole('dialog')

/** Presses a button. */
export const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name }).click()

/** Waits until something says a text. */
export async function sees(locator: Locator, text: string | RegExp): Promise<void> {
  await locator.getByText(text).first().waitFor()
}

/** Chooses another revision, over which the page connects again. */
export async function connectOver(page: Page, revision: string): Promise<void> {
  await page.getByLabel('Protocol revision').selectOption(revision)
  await isConnected(page, `over MCP ${revision}`)
}
