// Signs in from the playground, in a real Chromium, to the Worker of an example that is its own
// authorization server: popup, consent, calls, step-up, renewal.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { start } from '../../examples/cloudflare-sign-in/start.ts'
import { openChromium, type SharedBrowser } from '../runtimes/chromium.ts'
import { server } from '../../examples/playground/server.ts'
import { PATIENCE } from '../patience.ts'
import { host, type Host } from './host.ts'

let playground: Host
let notes: Awaited<ReturnType<typeof start>>
let browser: SharedBrowser
let page: Page
/** The grants that were asked of the token endpoint, and what the browser complained of. */
const grants: (string | null)[] = []
const complaints: string[] = []

beforeAll(async () => {
  ;[playground, notes, browser] = await Promise.all([host(server), start(), openChromium()])
  const context = await browser.newContext()
  context.setDefaultTimeout(PATIENCE.timeout)
  context.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname !== '/token') return
    grants.push(new URLSearchParams(request.postData() ?? '').get('grant_type'))
  })
  page = await context.newPage()
  page.on('pageerror', (error) => complaints.push(String(error)))
})
afterAll(async () => {
  await browser.close()
  playground.close()
  await notes.stop()
})

/** Triggers a consent popup, and consents; returns the requested scopes. */
async function consentAfter(act: () => Promise<void>): Promise<string[]> {
  const [popup] = await Promise.all([page.waitForEvent('popup'), act()])
  const scopes = popup.getByRole('listitem')
  await scopes.first().waitFor()
  const asked = await scopes.allTextContents()
  await popup.getByRole('textbox', { name: 'Your name' }).fill('grace')
  await Promise.all([
    popup.waitForEvent('close'),
    popup.getByRole('button', { name: 'Allow' }).click(),
  ])
  return asked
}

async function run(tool: string): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), `#/tool/${tool}`)
  await page.getByRole('heading', { name: tool, level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Run' }).click()
}
const result = (text: string): Promise<void> =>
  page.getByRole('region', { name: 'Result' }).getByText(text).first().waitFor()

describe('Signing in from the playground', () => {
  it('waits for the user: a link to the page leads nowhere else', async () => {
    await page.goto(`${playground.url}/?url=${encodeURIComponent(`${notes.origin}/mcp`)}`)
    // Playwright's own ways of looking count as something that the user did
    const session = await page.context().newCDPSession(page)
    const expression = 'document.body.textContent'
    const text = async (): Promise<unknown> =>
      (await session.send('Runtime.evaluate', { expression })).result.value
    await expect.poll(text).toContain('The server requires that you sign in')
    expect(page.context().pages()).toHaveLength(1)
    expect(new URL(page.url()).origin).toBe(playground.url)
  })

  it('can be denied on a page that fits a phone, and the page says so [P010]', async () => {
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Sign in' }).click(),
    ])
    const deny = popup.getByRole('button', { name: 'Deny' })
    await deny.waitFor()
    const viewport = popup.locator('meta[name="viewport"]')
    expect(await viewport.getAttribute('content')).toContain('width=device-width')
    await Promise.all([popup.waitForEvent('close'), deny.click()])
    await page.getByText('access_denied').first().waitFor()
  })

  it('opens its window again on request, and shows what each document said', async () => {
    const [lost] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Connect', exact: true }).click(),
    ])
    const steps = page.getByRole('region', { name: 'Steps of the sign-in' })
    await steps.getByText('Sign-in page').waitFor()
    const titles = await steps.locator('strong').allInnerTexts()
    expect(titles).toContain('Challenge of the server')
    await steps.getByText('Authorization server metadata').click()
    await steps.getByText('"code_challenge_methods_supported"').waitFor()
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Open sign-in again' }).click(),
    ])
    if (!lost.isClosed()) await lost.waitForEvent('close')
    await popup.getByRole('button', { name: 'Deny' }).click()
    await page.locator('#status', { hasText: 'access_denied' }).waitFor()
  })

  it('goes on in another window after the user has closed the first', async () => {
    const setFocus = (hasFocus: boolean): Promise<unknown> =>
      page.evaluate((value) => Object.assign(document, { hasFocus: () => value }), hasFocus)
    const status = (text: string): Promise<void> =>
      page.locator('#status', { hasText: text }).waitFor()
    // In a headless browser, all windows have the focus
    await setFocus(false)
    const [closed] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Connect', exact: true }).click(),
    ])
    await closed.getByRole('button', { name: 'Deny' }).waitFor()
    await closed.close()
    await setFocus(true)
    await status('The sign-in window was closed before you signed in at')
    await page.getByText('Open it again, or cancel.').waitFor()
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Open sign-in again' }).click(),
    ])
    await status('Waiting for you to sign in')
    await popup.getByRole('button', { name: 'Deny' }).click()
    await status('access_denied')
  })

  it('can be cancelled while the window is open', async () => {
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Connect', exact: true }).click(),
    ])
    await page.locator('#status', { hasText: 'Waiting for you to sign in' }).waitFor()
    await Promise.all([
      popup.waitForEvent('close'),
      page.getByRole('button', { name: 'Cancel' }).click(),
    ])
    await page.locator('#status', { hasText: 'Cancelled' }).waitFor()
  })

  it('goes through a popup with the consent of the user', async () => {
    const connect = page.getByRole('button', { name: 'Connect' })
    expect(await consentAfter(() => connect.click())).toEqual(['notes:read'])
    await page
      .locator('#status', { hasText: 'Connected to notes over MCP 2026-07-28' })
      .waitFor({ state: 'attached' })
    await run('list')
    await result('Notes of grace:')
    await page.getByLabel('Search the timeline').fill('token')
    const steps = page.locator('.entry[data-kind=sign-in] .name')
    await expect.poll(() => steps.allInnerTexts()).toContain('Token')
    await page.getByLabel('Search the timeline').fill('')
  })

  it('requests more scopes when a tool needs them', async () => {
    await page.evaluate(() => (location.hash = '#/tool/write'))
    await page.getByLabel('text', { exact: true }).fill('Fix the roof')
    expect(await consentAfter(() => run('write'))).toEqual(['notes:read', 'notes:write'])
    await result('Kept')
    await run('list')
    await result('Fix the roof')
  })

  it('refreshes an expired token without a prompt', async () => {
    grants.length = 0
    await page.evaluate(() => {
      const { now } = Date
      Date.now = () => now() + 2 * 3_600_000
    })
    await run('list')
    await expect.poll(() => grants).toEqual(['refresh_token'])
    await result('Fix the roof')
    expect(page.context().pages()).toHaveLength(1)
  })

  it('is remembered after a reload, and in other tabs', async () => {
    for (const tab of [page, await page.context().newPage()]) {
      await tab.goto(`${playground.url}/?url=${encodeURIComponent(`${notes.origin}/mcp`)}`)
      await tab.locator('#status', { hasText: 'Connected to notes' }).waitFor({ state: 'attached' })
    }
  })

  it('is forgotten when the user signs out', async () => {
    await page.evaluate(() => (location.hash = '#/'))
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Try an MCP server' }).waitFor()
    const connect = page.getByRole('button', { name: 'Connect' })
    expect(await consentAfter(() => connect.click())).toEqual(['notes:read'])
    await page.locator('#status', { hasText: 'Connected to notes' }).waitFor({ state: 'attached' })
    expect(complaints).toEqual([])
  })
})
