// The connection of one server, its settings, and several servers in tabs.
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import {
  connectOver,
  connectTo,
  dialog,
  isConnected,
  press,
  result,
  sees,
  show,
  visit,
} from './visit.ts'

const visited = visit(server)
let page: Page
beforeAll(() => void ({ page } = visited))

const status = (): Locator => page.locator('#status')
const tabs = (): Locator => page.getByRole('tablist', { name: 'Servers' }).getByRole('tab')
const tabNames = (): Promise<string[]> => tabs().locator('.name').allInnerTexts()

describe('Playground: the start', () => {
  it('paints the page in the form that the browser remembers, and offers to reload it when a part is missing', async () => {
    const own = await page.context().newPage()
    const remembered = { theme: 'dark', 'edgewise timeline': '{"isOpen":false}' }
    await own.addInitScript((values) => Object.assign(localStorage, values), remembered)
    let load = (): void => {}
    const isAllowed = new Promise<void>((resolve) => (load = resolve))
    await own.route('**/app-*.js', (route) => isAllowed.then(() => route.continue()))
    await own.goto(visited.url, { waitUntil: 'commit' })
    const paints = (): Promise<number> =>
      own.evaluate(() => performance.getEntriesByName('first-contentful-paint').length)
    await expect.poll(paints).toBe(1)
    expect(await own.locator('html').getAttribute('data-theme')).toBe('dark')
    expect(await own.locator('html').getAttribute('data-timeline')).toBe('closed')
    expect(await own.locator('#status').innerText()).toBe('')
    load()
    await isConnected(own)
    await own.evaluate(() => localStorage.clear())
    // After a deployment, files of the earlier version no longer exist
    await own.route('**/panel-*.js', (route) => route.fulfill({ status: 404 }))
    await press(own, 'Settings')
    await own.getByRole('alert').getByRole('button', { name: 'Reload' }).click()
    await isConnected(own)
    expect(await own.getByRole('alert').isVisible()).toBe(false)
    await own.close()
  })

  it('has one font in the first view, because the first paint waits for each', async () => {
    const own = await page.context().newPage()
    await own.route('**/styles.css', () => {})
    await own.goto(visited.url, { waitUntil: 'commit' })
    await own.locator('#open').waitFor()
    const fonts = await own.evaluate(() => {
      const hasText = (element: Element): boolean =>
        element.matches('input') ||
        [...element.childNodes].some((node) => node instanceof Text && node.data.trim() !== '')
      return [...document.querySelectorAll('body *')]
        .filter((element) => element.checkVisibility() && hasText(element))
        .map((element) => {
          const { fontWeight, fontSize, fontFamily } = getComputedStyle(element)
          return `${fontWeight} ${fontSize} ${fontFamily}`
        })
    })
    expect(fonts.length).toBeGreaterThan(5)
    expect(new Set(fonts).size).toBe(1)
    await own.close()
  })
})

describe('Playground: the connection', () => {
  it('is closed and opened by the button next to the address', async () => {
    await press(page, 'Disconnect')
    await sees(status(), 'Disconnected')
    await page.getByRole('heading', { name: 'Try an MCP server' }).waitFor()
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await isConnected(page)
  })

  it('is opened again with another revision, which keeps what was typed', async () => {
    await show(page, 'tool/greet', 'Greet')
    await page.getByLabel('name').fill('Ada')
    await page.getByLabel('Protocol revision').selectOption('2025-06-18')
    await isConnected(page, 'over MCP 2025-06-18')
    expect(await page.getByLabel('name').inputValue()).toBe('Ada')
    await press(page, 'Run')
    await sees(result(page), 'Hello, Ada.')
    await page.getByLabel('Protocol revision').selectOption('auto')
    await isConnected(page, 'over MCP 2026-07-28')
  })

  it('stays subscribed to a resource over another revision', async () => {
    await show(page, 'resource/demo%3A%2F%2Fabout', 'About this server')
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    await page.getByRole('button', { name: 'Unsubscribe' }).waitFor()
    const again = page.waitForRequest((each) =>
      (each.postData() ?? '').includes('"resources/subscribe"'),
    )
    await connectOver(page, '2025-11-25')
    expect((await again).postData()).toContain('demo://about')
  })

  it('is tested by a ping', async () => {
    await press(page, 'Ping')
    await sees(page.locator('#ping-answer'), /^Answered in \d+ ms$/)
  })

  it('says what is wrong with an address, next to it', async () => {
    await connectTo(page, 'example com')
    await sees(page.getByRole('alert'), /^This is not an address: enter a URL or a domain/)
    expect(await page.locator(':focus').getAttribute('id')).toBe('endpoint')
    const border = await page
      .locator('.address')
      .evaluate((address) => getComputedStyle(address).borderTopColor)
    const color = await page
      .getByRole('alert')
      .evaluate((problem) => getComputedStyle(problem).color)
    expect(border).toBe(color)
    expect(await status().innerText()).toMatch(/^Connected to /)
    await page.getByLabel('Endpoint').fill(`${visited.url}/mcp`)
    expect(await page.getByRole('alert').isVisible()).toBe(false)
  })
})

describe('Playground: settings', () => {
  const dialog = (): Locator => page.getByRole('dialog', { name: 'Settings' })

  it('take a token at once, also where their fields scroll', async () => {
    await page.setViewportSize({ width: 1280, height: 500 })
    await press(page, 'Settings')
    await dialog().locator('[type=password]:focus').waitFor()
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('mark what is invalid, and stay open', async () => {
    await press(page, 'Settings')
    await dialog().getByLabel('Roots').fill('/home/ada')
    await press(page, 'Apply')
    await sees(dialog(), /“\/home\/ada” is not a file URI/)
    expect(await page.locator(':focus').getAttribute('aria-invalid')).toBe('true')
    await dialog().getByLabel('Roots').fill('')
  })

  it('are applied at once: headers and the token go with the requests', async () => {
    await dialog().getByLabel('Headers').fill('X-Tenant: four')
    await dialog().getByLabel('Bearer token').fill('hunter2')
    const [request] = await Promise.all([
      page.waitForRequest((each) => each.headers()['x-tenant'] === 'four'),
      press(page, 'Apply'),
    ])
    expect(request.headers()['authorization']).toBe('Bearer hunter2')
    await isConnected(page)
  })

  it('are kept over a reload, and secrets nowhere but in this tab of the browser', async () => {
    const everywhere = 'JSON.stringify(localStorage) + location.href + history.state'
    expect(await page.evaluate(everywhere)).not.toMatch(/hunter2|four/)
    const [request] = await Promise.all([
      page.waitForRequest((each) => each.headers()['x-tenant'] === 'four'),
      page.reload(),
    ])
    expect(request.headers()['authorization']).toBe('Bearer hunter2')
    await isConnected(page)
    const other = await page.context().newPage()
    const requests: (string | undefined)[] = []
    other.on('request', (each) => requests.push(each.headers()['authorization']))
    await other.goto(page.url())
    await isConnected(other)
    expect(requests.filter(Boolean)).toEqual([])
    await other.close()
  })

  it('do not follow to another server', async () => {
    const requests: (string | undefined)[] = []
    // The connection to the first server ends with a request to it, which has its headers
    page.on('request', (each) => {
      if (!each.url().endsWith('/mcp')) requests.push(each.headers()['x-tenant'])
    })
    await show(page, 'tool/greet', 'Greet')
    await connectTo(page, `${visited.url}/sse`)
    await isConnected(page)
    // Nor does the view
    await page.getByRole('heading', { name: 'Edgewise demo', level: 1 }).waitFor()
    expect(requests.length).toBeGreaterThan(0)
    expect(requests.filter(Boolean)).toEqual([])
    visited.complaints.splice(0)
    page.removeAllListeners('request')
  })
})

describe('Playground: several servers', () => {
  it('are open in tabs, each with its own view', async () => {
    await connectTo(page, `${visited.url}/mcp`)
    await isConnected(page)
    await show(page, 'tool/greet', 'Greet')
    await press(page, 'Open another server')
    expect(await page.locator(':focus').getAttribute('id')).toBe('endpoint')
    expect(await tabNames()).toEqual(['Edgewise demo', 'New server'])
    const isMarked = await page
      .locator('.address')
      .evaluate((element) => element.matches(':has([aria-invalid])'))
    expect(isMarked).toBe(false)
    await connectTo(page, `${visited.url}/mcp?key=hunter2&room=1`)
    await isConnected(page)
    await show(page, 'prompt/plan', 'Plan a trip')
    await tabs().first().click()
    await page.getByRole('heading', { name: 'Greet', level: 1 }).waitFor()
    await page.getByRole('tab', { name: 'Edgewise demo 2', exact: true }).waitFor()
    expect(await tabs().last().getAttribute('title')).toContain('Delete closes this tab')
    expect(await tabs().first().getAttribute('aria-selected')).toBe('true')
  })

  it('keep the place in their timelines, or follow the end', async () => {
    await page.setViewportSize({ width: 1280, height: 400 })
    await page.getByRole('button', { name: 'Timeline', exact: true }).click()
    const scroller = page.locator('.scroller')
    /** The position of the first row in view, and how much of the list is below the view. */
    const place = (): Promise<{ row: number; below: number }> =>
      scroller.evaluate((panel) => {
        const { scrollTop, scrollHeight, clientHeight } = panel
        const { top } = panel.getBoundingClientRect()
        const row = [...panel.querySelectorAll('li')].find(
          (each) => each.getBoundingClientRect().bottom > top + 1,
        )
        return { row: Number(row?.ariaPosInSet), below: scrollHeight - clientHeight - scrollTop }
      })
    // Until the list has its new height, it follows its end
    await expect
      .poll(async () => {
        await scroller.evaluate((element) => void (element.scrollTop = 60))
        return page.getByRole('button', { name: 'Newest' }).isVisible()
      })
      .toBe(true)
    const { row } = await place()
    expect(row).toBeGreaterThan(1)
    await tabs().last().click()
    await expect.poll(async () => (await place()).below).toBeLessThan(2)
    await tabs().first().click()
    await expect.poll(async () => (await place()).row).toBe(row)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('are reached by arrow keys', async () => {
    await page.keyboard.press('ArrowRight')
    await page.getByRole('heading', { name: 'Plan a trip', level: 1 }).waitFor()
    expect(await page.locator(':focus').getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('Home')
    await page.getByRole('heading', { name: 'Greet', level: 1 }).waitFor()
    await page.keyboard.press('End')
    await page.getByRole('heading', { name: 'Plan a trip', level: 1 }).waitFor()
  })

  it('are in the address of the page without secrets, and come back after a reload', async () => {
    const { searchParams } = new URL(page.url())
    expect(searchParams.getAll('url')).toEqual([`${visited.url}/mcp`, `${visited.url}/mcp?room=1`])
    expect(page.url()).not.toContain('hunter2')
    const [request] = await Promise.all([
      page.waitForRequest((each) => each.url().includes('room=1')),
      page.reload(),
    ])
    expect(request.url()).toContain('key=hunter2')
    await isConnected(page)
    await page.getByRole('heading', { name: 'Plan a trip', level: 1 }).waitFor()
    await expect.poll(tabNames).toEqual(['Edgewise demo', 'Edgewise demo'])
  })

  it('ask their questions in their own tab, which is marked until then', async () => {
    await show(page, 'tool/sign', 'Sign on a page')
    let release = (): void => {}
    const isReleased = new Promise<void>((resolve) => (release = resolve))
    await page.route(/room=1/, (route) => isReleased.then(() => route.continue()))
    await press(page, 'Run')
    await tabs().first().click()
    await page.getByRole('heading', { name: 'Edgewise demo', level: 1 }).waitFor()
    release()
    const asking = page.getByRole('tab', { name: /has a question$/ })
    await asking.waitFor()
    expect(await asking.getAttribute('aria-selected')).toBe('false')
    expect(await page.title()).toMatch(/^\(1\) /)
    expect(await dialog(page).count()).toBe(0)
    await asking.click()
    await sees(dialog(page), 'The contract waits for your signature.')
    await press(page, 'Decline')
    await sees(result(page), 'The page was not opened.')
    expect(await tabs().last().locator('.asks').isVisible()).toBe(false)
    expect(await page.title()).not.toContain('(1)')
    await page.unrouteAll()
  })

  it('are closed by a button that only screen readers reach, as touch screens have no Delete key', async () => {
    await press(page, 'Open another server')
    expect(await tabs().count()).toBe(3)
    await page.getByRole('button', { name: 'Close the current tab' }).press('Enter')
    expect(await tabNames()).toEqual(['Edgewise demo', 'Edgewise demo'])
    expect(await page.locator(':focus').getAttribute('role')).toBe('tab')
  })

  it('are closed by Delete, except the last', async () => {
    await tabs().last().focus()
    await page.keyboard.press('Delete')
    expect(await tabNames()).toEqual(['Edgewise demo'])
    expect(await page.locator(':focus').getAttribute('role')).toBe('tab')
    await page.keyboard.press('Delete')
    expect(await tabNames()).toEqual(['Edgewise demo'])
    expect(await page.getByRole('button', { name: 'Close the current tab' }).count()).toBe(0)
    await isConnected(page)
  })

  it('are offered in a new tab, first the server of the page', async () => {
    await press(page, 'Open another server')
    await page.locator('.servers').getByRole('button').first().click()
    await isConnected(page)
    expect(await page.getByLabel('Endpoint').inputValue()).toBe(`${visited.url}/mcp`)
    expect(await tabNames()).toEqual(['Edgewise demo', 'Edgewise demo'])
  })
})
