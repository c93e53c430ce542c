import type { Plugin } from 'esbuild'
import type { Page } from 'playwright-core'
import { launchChromium } from './chromium.ts'
import { frameSuite } from './frame-suite.ts'
import { bundle, portableSuite, suiteElsewhere, type Start } from './runtime.ts'

/** Runs something in a page; what it and its workers print are lines. */
function inPage(
  scripts: () => Promise<Record<string, string>>,
  work: (page: Page) => Promise<void>,
): Start {
  return async (line) => {
    const files = await scripts()
    const browser = await launchChromium()
    try {
      const page = await browser.newPage()
      page.on('console', (message) => line(message.text()))
      page.on('pageerror', (error) => line(String(error)))
      // A secure origin of its own, served by the test: crypto and cookies work as on a real page.
      await page.route('**/*', (route) => {
        const script = files[new URL(route.request().url()).pathname.slice(1)]
        return route.fulfill(
          script === undefined
            ? { contentType: 'text/html', body: '<!doctype html><title>Suite</title>' }
            : { contentType: 'text/javascript', body: script },
        )
      })
      await page.goto('https://suite.test/')
      await work(page)
    } finally {
      await browser.close()
    }
  }
}

portableSuite(
  'Chromium',
  inPage(
    async () => ({ 'main.js': await bundle('main.ts', ['browser']) }),
    (page) => page.evaluate(`import('/main.js').then(() => {})`),
  ),
)

portableSuite(
  'a dedicated worker in Chromium',
  inPage(
    async () => ({ 'main.js': `${await bundle('main.ts', ['browser'])}\npostMessage('end')` }),
    (page) =>
      page.evaluate(
        () =>
          new Promise((resolve, reject) => {
            const worker = new Worker('/main.js', { type: 'module' })
            worker.onmessage = () => resolve()
            worker.onerror = ({ message }) => reject(new Error(message))
          }),
      ),
  ),
)

/** Lets the suite look into the server of the frame, in place of one of its own. */
const serverOfFrame: Plugin = {
  name: 'server-of-frame',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/server\.ts$/ }, ({ path }) => ({ path, namespace: 'frame' }))
    onLoad({ filter: /.*/, namespace: 'frame' }, () => ({
      contents: 'export const { server, changing, running, aborted } = frames[0].portable',
    }))
  },
}

suiteElsewhere(
  'Portable suite across an iframe in Chromium',
  frameSuite,
  inPage(
    async () => ({
      'frame-server.js': await bundle('frame-server.ts', ['browser']),
      'main.js': await bundle('frame-main.ts', ['browser'], [serverOfFrame]),
    }),
    async (page) => {
      await page.evaluate(async () => {
        const frame = document.createElement('iframe')
        frame.src = '/frame'
        const loaded = new Promise((resolve) => frame.addEventListener('load', resolve))
        document.body.append(frame)
        await loaded
        const script = frame.contentDocument!.createElement('script')
        script.type = 'module'
        script.src = '/frame-server.js'
        const run = new Promise((resolve) => script.addEventListener('load', resolve))
        frame.contentDocument!.body.append(script)
        await run
      })
      await page.evaluate(`import('/main.js').then(() => {})`)
    },
  ),
)
