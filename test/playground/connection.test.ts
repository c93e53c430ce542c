// Connecting, and losing the connection.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { connectOver, connectTo, isConnected, press, result, sees, show, visit } from './visit.ts'

const visited = visit(server)
let page: Page
beforeAll(() => void ({ page } = visited))

/** Answers the page's request for a catalog with cards that have these members. */
async function serveCatalog(own: Page, cards: readonly object[]): Promise<void> {
  const entries = cards.map((members, index) => ({
    identifier: `urn:air:example.com:mcp:${index}`,
    type: 'application/mcp-server-card+json',
    data: {
      name: 'com.example/shop',
      version: '1.0.0',
      description: 'Sells things.',
      remotes: [{ type: 'streamable-http', url: `${visited.url}/mcp${index || ''}` }],
      ...members,
    },
  }))
  await own.route('**/.well-known/ai-catalog.json', (route) =>
    route.fulfill({
      contentType: 'application/ai-catalog+json',
      body: JSON.stringify({ specVersion: '1.0', entries }),
    }),
  )
}

describe('Playground: connection', () => {
  it.each([
    // Titles are what annotations say, or names
    ['2025-03-26', 'Greet'],
    ['2024-11-05', 'greet'],
  ])('uses the revision %s, in which the label of a tool is %s', async (revision, title) => {
    await connectOver(page, revision)
    await show(page, '', 'edgewise-demo')
    await sees(page.getByRole('main'), `${revision}, with a session`)
    await show(page, 'tool/greet', 'greet')
    expect(await page.getByRole('main').locator('h1').innerText()).toBe(title)
    const link = page.getByRole('navigation').locator('a[aria-current]')
    expect(await link.locator('.title').innerText()).toBe(title)
    await page.getByLabel('name').fill('Ada')
    await press(page, 'Run')
    await sees(result(page), 'Hello, Ada.')
  })

  it('is kept over a reload', async () => {
    await page.reload()
    await isConnected(page, 'over MCP 2024-11-05')
    await page.getByRole('heading', { name: 'greet', level: 1 }).waitFor()
  })

  it('reaches a server that supports only HTTP+SSE', async () => {
    const own = await visited.open()
    await connectTo(own, `${visited.url}/sse`)
    await isConnected(own, 'over MCP 2025-11-25')
    await show(own, 'tool/greet', 'Greet')
    await own.getByLabel('name').fill('Ada')
    await press(own, 'Run')
    await sees(result(own), 'Hello, Ada.')
    // The browser logs the failed attempts with newer transports; no more come once the page is closed
    await own.close()
    expect(visited.complaints.splice(0)).not.toEqual([])
  })

  it('shows the info and the session id of the server', async () => {
    await connectOver(page, '2025-11-25')
    await show(page, '', 'Edgewise demo')
    const facts = page.getByRole('main').locator('dl')
    await sees(facts, '2025-11-25, with a session')
    const session = facts.locator('div', { hasText: 'Session' }).locator('code').last()
    expect(await session.innerText()).toMatch(/^[\x21-\x7e]{16,}$/)
    await sees(facts, `${visited.url}/mcp`)
    expect(await facts.locator('.chip').allInnerTexts()).toContain('completions')
    // Chromium sometimes sends the DELETE of the last session twice, although the page calls `fetch` once, and
    // logs that the second is answered with 404
    const complaints = visited.complaints.splice(0).filter((text) => !text.includes('404'))
    expect(complaints).toEqual([])
  })

  it('finds a server by its domain, and notes how it differs from its card', async () => {
    const own = await visited.open()
    const { host } = new URL(visited.url)
    const markup = '<img src=x onerror=alert(1)>'
    await serveCatalog(own, [{ title: markup }])
    await connectTo(own, host)
    await isConnected(own, 'over MCP 2026-07-28')
    expect(await own.getByLabel('Endpoint').inputValue()).toBe(`${visited.url}/mcp`)
    await sees(own.locator('#timeline-panel'), `The card gives "${markup}" as “title”`)
    expect(await own.locator('img[src=x]').count()).toBe(0)
  })

  it('shows the texts of cards as text if a domain lists several servers [E-CARD-088]', async () => {
    const own = await visited.open()
    const { host } = new URL(visited.url)
    const markup = (member: string): string => `<img src=x alt=${member} onerror=alert(1)>`
    const texts = { title: markup('title'), description: markup('description') }
    await serveCatalog(own, [texts, { name: 'com.example/other' }])
    await connectTo(own, host)
    await sees(own.locator('body'), 'lists several servers')
    await sees(own.locator('body'), texts.title)
    expect(await own.locator('img[src=x]').count()).toBe(0)
  })

  it.each([404, 405, 500])('offers the usual address if the catalog gives %i', async (status) => {
    const own = await visited.open()
    await own.route('**/ai-catalog.json', (route) => route.fulfill({ status }))
    await connectTo(own, new URL(visited.url).host)
    await sees(own.locator('#timeline-panel'), `ai-catalog.json: HTTP ${status}`)
    // The browser logs the response, too
    expect(visited.complaints.splice(0)).not.toEqual([])
    await own.getByRole('button', { name: `Connect to ${visited.url}/mcp` }).click()
    await isConnected(own)
    await own.close()
  })

  it('accepts URLs and domains as endpoints', async () => {
    const field = page.getByLabel('Endpoint')
    const isValid = (): Promise<boolean> =>
      field.evaluate((input: HTMLInputElement) => input.validity.valid)
    const entered = await field.inputValue()
    const given = ['https://a.example/mcp', 'http://a', 'my-shop.example', 'localhost:8000']
    for (const text of [...given, '', 'ftp://a.example', 'a b', 'example.com/mcp']) {
      await field.fill(text)
      expect([text, await isValid()]).toEqual([text, given.includes(text)])
    }
    await field.fill(entered)
  })

  it('suggests causes for an unreachable endpoint', async () => {
    await connectTo(page, 'http://127.0.0.1:1/mcp')
    await sees(page.getByRole('main'), 'No server responds at "http://127.0.0.1:1/mcp"')
    const status = page.locator('#status')
    expect(await status.innerText()).toBe('Cannot reach "http://127.0.0.1:1/mcp"')
    // It does not explain the next address
    await connectTo(page, 'not an address')
    await sees(page.getByRole('alert'), /^This is not an address/)
    await page.getByRole('heading', { name: 'Try an MCP server', level: 1 }).waitFor()
    expect(await status.innerText()).toBe('Not connected')
    expect(visited.complaints.splice(0)).not.toEqual([])
  })

  it('adds the scheme of an address with a path: HTTP on this machine, and HTTPS elsewhere', async () => {
    await page.route('https://a.example/**', (route) => route.fulfill({ status: 404 }))
    await connectTo(page, 'a.example/mcp')
    await page.getByRole('heading', { name: 'Cannot connect', level: 1 }).waitFor()
    expect(await page.getByLabel('Endpoint').inputValue()).toBe('https://a.example/mcp')
    await connectTo(page, `${new URL(visited.url).host}/mcp`)
    await isConnected(page)
    expect(await page.getByLabel('Endpoint').inputValue()).toBe(`${visited.url}/mcp`)
    // The browser logs the responses that refuse the page
    visited.complaints.splice(0)
  })

  it('aborts connecting with the button that connects', async () => {
    const own = await visited.open('#/tool/fail')
    const status = own.locator('#status')
    await own.route('**/never', () => {})
    await connectTo(own, `${visited.url}/never`)
    await own.getByRole('button', { name: 'Cancel' }).focus()
    await own.keyboard.press('Enter')
    expect(await status.innerText()).toBe('Cancelled')
    await own.getByRole('heading', { name: 'Try an MCP server', level: 1 }).waitFor()
    expect(await own.getByRole('navigation').getByRole('link').count()).toBe(0)
    // The focus is where it was: the same key connects
    expect(await own.locator(':focus').innerText()).toBe('Connect')
    await own.getByLabel('Endpoint').fill(`${visited.url}/mcp`)
    await own.getByRole('button', { name: 'Connect' }).focus()
    await own.keyboard.press('Enter')
    await isConnected(own)
    // Another address was opened in between
    await own.getByRole('heading', { name: 'Edgewise demo', level: 1 }).waitFor()
  })

  it('connects elsewhere while it connects', async () => {
    const own = await visited.open()
    await own.route('**/never', () => {})
    await connectTo(own, `${visited.url}/never`)
    await own.getByRole('button', { name: 'Cancel' }).waitFor()
    // Nothing of the server before is left to be run
    expect(await own.getByRole('main').locator('h1').innerText()).toBe('Connecting')
    expect(await own.getByRole('navigation').getByRole('link').count()).toBe(0)
    await connectTo(own, `${visited.url}/mcp`)
    await isConnected(own)
  })

  it('shows no steps of a sign-in under the server that the user connects to instead', async () => {
    const own = await visited.open()
    let release = (): void => {}
    const isReleased = new Promise<void>((resolve) => (release = resolve))
    await own.route('**/locked', (route) => route.fulfill({ status: 401 }))
    await own.route('**/.well-known/oauth-protected-resource/locked', async (route) => {
      await isReleased
      await route.fulfill({ status: 404 })
    })
    await connectTo(own, `${visited.url}/locked`)
    const steps = own.getByRole('region', { name: 'Steps of the sign-in' })
    await sees(steps, 'Protected resource metadata')
    await connectTo(own, `${visited.url}/mcp`)
    await isConnected(own)
    release()
    await sees(own.locator('.entry[data-kind=sign-in]'), 'Does not exist')
    expect(await steps.isVisible()).toBe(false)
    await own.close()
    // The browser logs the responses that refuse the page
    visited.complaints.splice(0)
  })

  it.each<
    [what: string, status: number, type: string, body: string, said: string, elsewhere: boolean]
  >([
    [
      'a page that is not there',
      404,
      'text/html',
      '<!doctype html><title>Oh no</title><p>Nothing is here',
      'The server answered HTTP 404 Not Found: Oh no',
      true,
    ],
    [
      'a page',
      200,
      'text/html',
      '<!doctype html><h1>Welcome</h1>',
      'The server answered HTTP 200 OK: Welcome',
      true,
    ],
    [
      'other JSON',
      200,
      'application/json',
      '{"hello":"world"}',
      'The server answered HTTP 200 OK: {"hello":"world"}',
      true,
    ],
    ['nothing', 200, 'text/plain', '', 'The server answered HTTP 200 OK: nothing', true],
    [
      'a proxy that has lost its server',
      502,
      'text/html',
      '<html><head><title>502 Bad Gateway</title>',
      'The server answered HTTP 502 Bad Gateway: 502 Bad Gateway',
      false,
    ],
  ])(
    'describes a response that is not from a server: %s',
    async (_, status, contentType, body, said, elsewhere) => {
      const own = await visited.open()
      await own.route('**/odd', (route) => route.fulfill({ status, contentType, body }))
      await connectTo(own, `${visited.url}/odd`)
      await own.getByRole('main').getByText(said, { exact: true }).waitFor()
      const isElsewhere = own.getByText('The address may be another page of that site')
      expect(await isElsewhere.count()).toBe(elsewhere ? 1 : 0)
      await sees(own.locator('.scroller'), `HTTP ${status}`)
      await own.close()
      visited.complaints.splice(0)
    },
  )

  it('says when the server is lost, and connects again', async () => {
    const own = await visited.open('#/tool/fail')
    const status = own.locator('#status')
    await own.route('**/mcp', (route) => route.abort())
    await press(own, 'Run')
    await sees(status, 'Lost the connection to Edgewise demo')
    await sees(result(own), /^Cannot reach "[^"]+"$/)
    await sees(own.locator('.entry[data-failed]'), 'no response')
    await own.unroute('**/mcp')
    expect(await own.getByRole('button', { name: 'Reconnect now' }).count()).toBe(1)
    // On a phone, the form with that button is hidden
    await own.setViewportSize({ width: 390, height: 844 })
    expect(await own.getByLabel('Endpoint').isVisible()).toBe(false)
    expect(await own.getByRole('button', { name: 'Stop' }).isVisible()).toBe(true)
    await press(own, 'Reconnect now')
    await sees(status, /^Connected to Edgewise demo/)
    await own.clock.install()
    await own.route('**/mcp', (route) => route.abort())
    await press(own, 'Run')
    await sees(status, 'Lost the connection to Edgewise demo')
    const step = async (): Promise<string> => {
      await own.clock.fastForward(80_000)
      return own.locator('#status-step').innerText()
    }
    await expect
      .poll(step, { interval: 50, timeout: 20_000 })
      .toMatch(/^The page has stopped reconnecting: /i)
    await own.getByRole('heading', { name: 'Fail', level: 1 }).waitFor()
    await sees(result(own), /^Cannot reach "[^"]+"$/)
    await own.unroute('**/mcp')
    await press(own, 'Reconnect')
    await sees(status, /^Connected to Edgewise demo/)
    await own.close()
    expect(visited.complaints.splice(0)).not.toEqual([])
  })
})
