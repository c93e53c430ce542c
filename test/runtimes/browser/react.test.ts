// The hook for React.
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openChromium, type SharedBrowser } from '../chromium.ts'
import type { App } from './scripts/hook.ts'
import { complaintsOf, startSite, type Site } from './site.ts'

/** Inside pages only. */
declare const app: App

let site: Site
let browser: SharedBrowser
let context: BrowserContext
let page: Page
let complaints: string[]

beforeAll(async () => {
  ;[site, browser] = await Promise.all([startSite(['hook', 'worker']), openChromium()])
})
afterAll(async () => {
  await browser.close()
  await site.stop()
})
beforeEach(async () => {
  context = await browser.newContext()
  page = await context.newPage()
  complaints = complaintsOf(page)
})
afterEach(async () => {
  await context.close()
  expect(complaints).toEqual([])
})

describe('The hook for React, in strict mode,', () => {
  beforeEach(async () => {
    await page.goto(`${site.origin}/hook.html`)
    await page.waitForFunction('typeof app === "object"')
  })
  const shows = (text: string): Promise<void> =>
    page.locator('#status').getByText(text, { exact: true }).waitFor()

  it('connects while its component is mounted, and calls tools', async () => {
    await page.evaluate(() => app.show(false))
    await shows('ready')
    await page.getByRole('button', { name: 'Call' }).click()
    await page.locator('#answer').getByText('"42"').waitFor()
    expect(await page.evaluate(() => new Set(app.renders).has('connecting'))).toBe(true)
    await page.evaluate(() => app.unmount())
    await page.locator('#status').waitFor({ state: 'detached' })
  })

  it('shows automatically that the server is gone and back', async () => {
    await page.evaluate(() => app.show(false))
    await shows('ready')
    const before = await page.evaluate(() => app.renders.length)
    await page.evaluate(() => app.replace())
    await page.waitForFunction((from) => app.renders.slice(from).includes('reconnecting'), before)
    await shows('ready')
    await page.getByRole('button', { name: 'Call' }).click()
    await page.locator('#answer').getByText('"42"').waitFor()
  })

  it('leaves a connection open that others share', async () => {
    await page.evaluate(() => app.show(true))
    await shows('ready')
    await page.evaluate(() => app.unmount())
    await page.locator('#status').waitFor({ state: 'detached' })
    expect(await page.evaluate(() => app.shared.getSnapshot().status)).toBe('ready')
    await page.evaluate(() => app.show(true))
    await shows('ready')
    await page.evaluate(() => app.shared.close())
    await shows('idle')
  })
})
