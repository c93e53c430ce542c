// Sign-in as a page does it, in a real browser: popup, left page, tabs that share what they know.
import { build } from 'esbuild'
import type { BrowserContext, Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { root } from '../../root.ts'
import { openChromium, type SharedBrowser } from '../chromium.ts'
import type { PageFacts } from './page/app.ts'
import { createWorld, ISSUER, type World } from '../../authorization/world.ts'

const APP = 'https://app.example'
const AUTHORIZE = `${ISSUER}/authorize`
const TOKEN = `${ISSUER}/token`

let browser: SharedBrowser
let context: BrowserContext
let world: World
/** Headers of the page that asks the user. */
let consentHeaders: Record<string, string> = {}
const scripts = new Map<string, string>()

beforeAll(async () => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [
      'test/runtimes/authorization/page/app.ts',
      'test/runtimes/authorization/page/callback.ts',
    ],
    outdir: '/',
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'warning',
  })
  for (const { path, text } of outputFiles) scripts.set(path, text)
  browser = await openChromium()
})
afterAll(() => browser.close())

beforeEach(async () => {
  consentHeaders = {}
  world = createWorld()
  context = await browser.newContext()
  await context.route('**/*', serve)
})
afterEach(() => context.close())

/** Serves the app's pages, and the world to them. */
async function serve(route: Route): Promise<void> {
  const request = route.request()
  const { origin, pathname } = new URL(request.url())
  if (origin === APP) {
    const script = scripts.get(pathname)
    if (script) return route.fulfill({ contentType: 'text/javascript', body: script })
    const name = pathname === '/callback' ? 'callback' : 'app'
    const body = `<!doctype html><title>${name}</title><body><button>Connect</button><script type="module" src="/${name}.js"></script>`
    return route.fulfill({ contentType: 'text/html', body })
  }
  const { origin: _, ...headers } = await request.allHeaders()
  const method = request.method()
  const body = request.postData()
  const form = headers['content-type']?.includes('urlencoded')
  const response = await world.fetch(request.url(), {
    method,
    headers,
    ...(body !== null && { body: form ? new URLSearchParams(body) : body }),
  })
  const location = response.headers.get('location')
  if (location) {
    const consent = `<!doctype html><title>Consent</title><a href="${location.replaceAll('&', '&amp;')}">Allow</a>`
    return route.fulfill({
      contentType: 'text/html',
      body: consent,
      headers: { 'content-type': 'text/html', ...consentHeaders },
    })
  }
  await route.fulfill({
    status: response.status,
    headers: {
      ...Object.fromEntries(response.headers),
      'access-control-allow-origin': APP,
      'access-control-expose-headers': 'www-authenticate',
    },
    body: await response.text(),
  })
}

async function open(path = '/'): Promise<Page> {
  const page = await context.newPage()
  await page.goto(APP + path)
  return page
}

const shown = (page: Page, text: string): Promise<unknown> =>
  page.waitForSelector(`body[data-shown="${text}"]`)

/** Clicks, and agrees in the popup that opens. */
async function connectByPopup(page: Page): Promise<void> {
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('button')])
  const closed = popup.waitForEvent('close')
  await popup.click('a')
  await closed
}

/**
 * Says whether the page has the focus, which Playwright gives to all pages at once, and counts how
 * often the page looks.
 */
const focus = (page: Page, has: boolean): Promise<unknown> =>
  page.evaluate(`looks = 0; document.hasFocus = () => ++looks && ${has}`)
const looks = (page: Page): Promise<number> => page.evaluate('looks')

describe('a popup', () => {
  it('signs the user in, closes, and is not needed again', async () => {
    const page = await open()
    await connectByPopup(page)
    await shown(page, 'book')
    const another = await open()
    await another.click('button')
    await shown(another, 'book')
    expect(world.to(AUTHORIZE)).toHaveLength(1)
    expect(world.to(AUTHORIZE)[0]?.query).toMatchObject({ redirect_uri: `${APP}/callback` })
    expect(world.to(`${ISSUER}/register`)[0]?.body.application_type).toBe('web')
  })

  it('that is cut off from the page by the authorization server does so too', async () => {
    consentHeaders = { 'cross-origin-opener-policy': 'same-origin' }
    const page = await open()
    await connectByPopup(page)
    await shown(page, 'book')
  })

  it('that the user closes ends signing in, long before the time for it is over', async () => {
    const page = await open()
    await focus(page, false)
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('button')])
    await popup.waitForSelector('a')
    await expect.poll(() => looks(page)).toBeGreaterThan(1)
    await popup.close()
    await focus(page, true)
    await page.waitForSelector('body[data-shown*="The popup was closed"]')
    expect(world.to(TOKEN)).toEqual([])
    // The next click starts over
    await connectByPopup(page)
    await shown(page, 'book')
  })

  it('that the user closes before it leads anywhere ends signing in too', async () => {
    const page = await open()
    let register: (() => void) | undefined
    const registered = new Promise<void>((resolve) => (register = resolve))
    await context.route(`${ISSUER}/register`, async (route) => {
      await registered
      await serve(route)
    })
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('button')])
    await popup.close()
    register?.()
    await page.waitForSelector('body[data-shown*="The popup was closed"]')
    expect(world.to(AUTHORIZE)).toEqual([])
  })

  it('that is cut off is waited for, also while the user looks at the page', async () => {
    consentHeaders = { 'cross-origin-opener-policy': 'same-origin' }
    const page = await open()
    await focus(page, false)
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('button')])
    await popup.waitForSelector('a')
    // Until the page has given up looking
    for (let before = 0, now = 1; now > before;) {
      before = await looks(page)
      await page.waitForTimeout(2_000)
      now = await looks(page)
    }
    await focus(page, true)
    await page.waitForTimeout(2_000)
    expect(await page.getAttribute('body', 'data-shown')).toBe('waiting')
    await popup.click('a')
    await shown(page, 'book')
  })

  it('of one page signs in all pages that want to at once', async () => {
    const [first, second] = await Promise.all([open(), open()])
    const opened: Page[] = []
    for (const page of [first, second]) page.on('popup', (popup) => opened.push(popup))
    await Promise.all([first.click('button'), second.click('button')])
    await expect.poll(() => opened.length).toBe(1)
    const link = opened[0]!.locator('a')
    await link.waitFor()
    await link.click()
    await Promise.all([shown(first, 'book'), shown(second, 'book')])
    expect(opened).toHaveLength(1)
    expect(world.to(AUTHORIZE)).toHaveLength(1)
    expect(world.to(TOKEN)).toHaveLength(1)
  })

  it('leaves no code in the history', async () => {
    const page = await open('/callback?code=c&state=s')
    await shown(page, 'no page is waiting')
    expect(page.url()).toBe(`${APP}/callback`)
  })
})

describe('a page that cannot open one', () => {
  it.each(['/?redirect', '/?redirect&same'])(
    'is left, and continues when it is back: %s [M-ASEC-010]',
    async (path) => {
      const page = await open(path)
      await page.click('button')
      await page.waitForURL(`${AUTHORIZE}?**`)
      await page.click('a')
      // Either by way of another page, or to this one
      await page.waitForURL((url) => url.origin === APP && url.pathname === '/')
      await shown(page, 'book')
      expect(page.url().replace('=', '')).toBe(APP + path.replace('redirect&', ''))
      expect(world.to(AUTHORIZE)).toHaveLength(1)
      expect(world.to(TOKEN)).toHaveLength(1)
    },
  )

  it('continues when the user comes back to it as it was, without signing in', async () => {
    const page = await open('/?redirect')
    // Stays where it is: not every Chromium keeps pages that are left
    const stay = (route: Route): Promise<void> => route.fulfill({ status: 204 })
    const there = `${AUTHORIZE}?**`
    await context.route(there, stay)
    await Promise.all([page.waitForRequest(there), page.click('button')])
    await page.evaluate(() => {
      dispatchEvent(new PageTransitionEvent('pageshow', { persisted: false }))
    })
    expect(await page.getAttribute('body', 'data-shown')).toBe('waiting')
    await page.evaluate(() => {
      dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
    })
    await page.waitForSelector('body[data-shown*="The user came back without signing in"]')
    await context.unroute(there, stay)
    await page.click('button')
    await page.waitForURL(there)
    await page.click('a')
    await shown(page, 'book')
  })

  it('is left too when the browser blocks the popup', async () => {
    const page = await open()
    await page.evaluate('window.open = () => null')
    await page.click('button')
    await page.waitForURL(`${AUTHORIZE}?**`)
    await page.click('a')
    await page.waitForURL(`${APP}/`)
    await shown(page, 'book')
  })

  it('has nothing to continue with unless something came back, and then once', async () => {
    const page = await open('/?redirect')
    expect(await page.getAttribute('body', 'data-shown')).toBeNull()
    await page.click('button')
    await page.waitForURL(`${AUTHORIZE}?**`)
    // The user changes their mind
    await page.goto(`${APP}/?redirect`)
    expect(await page.getAttribute('body', 'data-shown')).toBeNull()
    await page.click('button')
    await page.waitForURL(`${AUTHORIZE}?**`)
    await page.click('a')
    await shown(page, 'book')
    await page.reload()
    expect(await page.getAttribute('body', 'data-shown')).toBeNull()
    expect(world.to(TOKEN)).toHaveLength(1)
  })

  it('is not left against the will of the application', async () => {
    const page = await open('/?stay')
    await page.evaluate('window.open = () => null')
    await page.click('button')
    await shown(page, 'Error: The browser blocks the popup')
    expect(page.url()).toBe(`${APP}/?stay`)
  })

  it('shows that the user denied access', async () => {
    const page = await open('/?redirect')
    await page.click('button')
    await page.waitForURL(`${AUTHORIZE}?**`)
    const href = (await page.getAttribute('a', 'href')) ?? ''
    await page.goto(href.replace(/code=[^&]+/, 'error=access_denied'))
    await page.waitForURL(`${APP}/?redirect`)
    await page.waitForSelector('body[data-shown*="access_denied"]')
    expect(world.to(TOKEN)).toEqual([])
  })
})

describe('pages of one origin', () => {
  it('renew a token once, whichever of them gets the 401 [M-ASEC-009] [B085]', async () => {
    const page = await open()
    await connectByPopup(page)
    await shown(page, 'book')
    const pages = [page, await open(), await open()]
    for (const other of pages.slice(1)) {
      await other.click('button')
      await shown(other, 'book')
    }
    world.valid.clear()
    await Promise.all(pages.map((one) => one.click('button')))
    await Promise.all(pages.map((one) => shown(one, 'book')))
    expect(world.to(TOKEN).map(({ body }) => body.grant_type)).toEqual([
      'authorization_code',
      'refresh_token',
    ])
  })

  it('share a key that no page can take away [M-XAUTH-034]', async () => {
    const keyPair = (page: Page) =>
      page.evaluate(() => (globalThis as unknown as PageFacts).keyPair())
    const [first, second] = await Promise.all([open(), open()])
    const [one, other] = await Promise.all([keyPair(first), keyPair(second)])
    expect(one).toEqual({ extractable: false, x: expect.any(String), takeable: false })
    expect(other.x).toBe(one.x)
    await first.reload()
    expect(await keyPair(first)).toEqual(one)
  })
})
