// What `npm start` runs: the Worker that serves the page and its server.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openChromium, type SharedBrowser } from '../runtimes/chromium.ts'
import { connectOver, dialog, isConnected, press, result, sees, show } from './visit.ts'
import { startWorker, type RunningWorker } from './wrangler.ts'

let worker: RunningWorker
let browser: SharedBrowser
let page: Page

beforeAll(async () => {
  ;[worker, browser] = await Promise.all([startWorker(), openChromium()])
  page = await browser.newPage()
  await page.goto(worker.url)
  await isConnected(page, 'Connected to Edgewise demo over MCP 2026-07-28')
})
afterAll(async () => {
  await browser.close()
  await worker.stop()
})

describe('The playground of `npm start`', () => {
  it('runs under a strict policy', async () => {
    const { headers } = await fetch(worker.url)
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self' 'sha256-[^']+'; style-src 'self' 'sha256-[^']+';/,
    )
  })

  it.each(['2026-07-28', '2025-11-25'])('asks while it answers over %s', async (revision) => {
    await connectOver(page, revision)
    await show(page, 'tool/book', 'Book a trip')
    await page.getByLabel('city').selectOption('Oslo')
    await press(page, 'Run')
    await page.getByLabel('Arrival').fill('2030-05-17')
    await page.getByLabel('Room').selectOption('Double')
    await press(page, 'Send')
    await page.getByLabel('Book it').check()
    await press(page, 'Send')
    await sees(result(page), /^Booked 2 nights in Oslo from 2030-05-17\./)
  })

  it('carries out a task', async () => {
    await connectOver(page, '2026-07-28')
    await show(page, 'tool/develop', 'Develop a film')
    await press(page, 'Run')
    await sees(dialog(page), 'On which paper are its 3 pictures printed?')
    await page.getByLabel('Paper').selectOption('Matte')
    await press(page, 'Send')
    await sees(result(page), 'Printed 3 pictures on matte paper.')
    await result(page).getByText('Task', { exact: true }).click()
    await sees(result(page), /"status": "completed"/)
  })
})
