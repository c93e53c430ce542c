// Takes the pictures of the playground for the README and the home page, in both themes:
//   npm run build && npx tsx docs/site/pictures.mjs
// Set CHROMIUM_PATH to a browser with the fonts of the system.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { server } from '../../examples/playground/server.ts'
import { host } from '../../test/playground/host.ts'
import { launchChromium } from '../../test/runtimes/chromium.ts'
import { images, root } from './pages.mjs'

const folder = join(root, images)
mkdirSync(folder, { recursive: true })
const playground = await host(server)
const browser = await launchChromium()
for (const colorScheme of ['light', 'dark']) {
  const page = await browser.newPage({ viewport: { width: 1360, height: 850 }, colorScheme })
  await page.goto(`${playground.url}/#/tool/count`)
  await page.getByRole('heading', { name: 'Count slowly', level: 1 }).waitFor()
  await page.getByLabel('pauseMs').fill('1')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('region', { name: 'Result' }).getByText('Counted').first().waitFor()
  await page.screenshot({ path: join(folder, `playground-${colorScheme}.png`) })
}
await browser.close()
playground.close()
