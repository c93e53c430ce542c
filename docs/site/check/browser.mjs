// Opens pages of the built site at two widths, in both themes. Checks them with axe, and that they do not
// scroll sideways, and writes a screenshot of each into docs/site/.cache/screenshots.
import { createReadStream, existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import { launchChromium } from '../../../test/runtimes/chromium.ts'

const site = fileURLToPath(new URL('..', import.meta.url))
const screenshots = join(site, '.cache/screenshots')
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

/** The pages, each with what is done there before the check. */
const pages = [
  { name: 'home', path: '/' },
  { name: 'guide', path: '/guides/tools' },
  { name: 'providers', path: '/guides/identity-providers' },
  { name: 'reference', path: '/reference/edgewise/server' },
  { name: 'search', path: '/guides/tools', prepare: search },
]

mkdirSync(screenshots, { recursive: true })
const server = createServer(answer).listen(0, '127.0.0.1')
const browser = await launchChromium()
let faults = 0
for (const width of [390, 1360]) {
  for (const colorScheme of ['light', 'dark']) {
    const viewport = { width, height: width === 390 ? 844 : 900 }
    const context = await browser.newContext({ viewport, colorScheme, bypassCSP: true })
    for (const { name, path, prepare } of pages) {
      const page = await context.newPage()
      page.on('pageerror', (error) => report(name, error))
      await page.goto(`http://127.0.0.1:${server.address().port}${path}`)
      await page.waitForLoadState('networkidle')
      await prepare?.(page)
      const file = join(screenshots, `${name}-${width}-${colorScheme}.png`)
      await page.screenshot({ path: file })
      const label = `${name}, ${width} px, ${colorScheme}`
      for (const violation of await violationsOf(page)) report(label, violation)
      const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
      if (isWide) report(label, 'The page scrolls sideways')
      await page.close()
    }
    await context.close()
  }
}
await browser.close()
server.close()
console.log(`Screenshots: ${screenshots}. Faults: ${faults}`)
if (faults > 0) process.exitCode = 1

async function search(page) {
  await page.locator('.VPNavBarSearch button').first().click()
  await page.locator('input[type=search]').fill('auth0')
  await page.locator('.VPLocalSearchBox .result').first().waitFor()
}

async function violationsOf(page) {
  await page.evaluate(axe.source)
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ', ' + nodes.length + ' times: ' + nodes[0].html))`)
}

function report(label, fault) {
  faults++
  console.error(`${label}: ${fault}`)
}

/** Serves the built site, with addresses as on Cloudflare. */
function answer({ url }, response) {
  const { pathname } = new URL(url, 'http://site')
  const path = join(site, 'dist', decodeURIComponent(pathname).replace(/\/$/, '/index'))
  const file = extname(path) !== '' && existsSync(path) ? path : `${path}.html`
  if (!existsSync(file)) return response.writeHead(404).end()
  response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream')
  createReadStream(file).pipe(response)
}
