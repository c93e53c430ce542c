import { launchChromium } from './chromium.ts'
import { bundle, portableSuite } from './runtime.ts'

portableSuite('Chromium', async (line) => {
  const script = await bundle('main.ts', ['browser'])
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    page.on('console', (message) => line(message.text()))
    page.on('pageerror', (error) => line(String(error)))
    // A secure origin of its own, served by the test: crypto and cookies work as on a real page.
    await page.route('**/*', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Suite</title>' }),
    )
    await page.goto('https://suite.test/')
    await page.evaluate(`(async () => {
      const url = URL.createObjectURL(new Blob([${JSON.stringify(script)}], { type: 'text/javascript' }))
      await import(url)
    })()`)
  } finally {
    await browser.close()
  }
})
