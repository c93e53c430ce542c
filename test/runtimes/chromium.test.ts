import { browserSuites } from './browser-suites.ts'
import { openChromium } from './chromium.ts'

browserSuites('Chromium', async (url, line) => {
  const browser = await openChromium()
  const page = await browser.newPage()
  page.on('console', (message) => line(message.text()))
  page.on('pageerror', (error) => line(String(error)))
  await page.goto(url)
  return browser
})
