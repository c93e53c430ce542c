// The timeline: what it shows of each request, how it is searched, resized, exported and imported.
import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { isConnected, press, result, sees, show, visit } from './visit.ts'

const visited = visit(server)
let page: Page
beforeAll(() => void ({ page } = visited))

const panel = (): Locator => page.getByRole('complementary', { name: 'Timeline' })
const entries = (): Locator => panel().locator('.entry')
const titles = (): Promise<string[]> => entries().locator('.title').allInnerTexts()
const clear = (): Promise<void> => panel().getByRole('button', { name: 'Clear' }).click()
const search = (text: string): Promise<void> => panel().getByLabel('Search the timeline').fill(text)

/** Calls the tool that counts, and clears the timeline before. */
async function count(): Promise<void> {
  await clear()
  await show(page, 'tool/count', 'Count slowly')
  await page.getByLabel('steps').fill('3')
  await page.getByLabel('pauseMs').fill('20')
  await press(page, 'Run')
  await sees(result(page), 'Counted to 3.')
}

describe('The timeline of the playground', () => {
  it('shows a request, its HTTP exchange and its response as one entry', async () => {
    await show(page, 'prompt/plan', 'Plan a trip')
    await page.getByLabel('city').fill('Quito')
    await press(page, 'Get messages')
    await sees(result(page), 'Plan three calm days')
    const entry = entries().filter({ hasText: 'prompts/get' })
    expect(await entry.count()).toBe(1)
    await entry.locator('summary').first().click()
    await sees(entry, '"prompts/get"')
    await sees(entry, 'Plan three calm days')
    await entry.getByText('POST /mcp').click()
    await sees(entry, /mcp-name: plan/)
    await entry.locator('summary').first().click()
  })

  it('labels every entry, and marks failures', async () => {
    await show(page, 'tool/fail', 'Fail')
    await press(page, 'Run')
    await sees(result(page), /reported an error/)
    const last = entries().filter({ hasText: 'tools/call' }).last()
    expect((await last.locator('.title').innerText()).split(/\s+/)).toEqual([
      'tools/call',
      'fail',
      'tool',
      'error',
    ])
    const color = (part: string): Promise<string> =>
      last
        .locator(part)
        .first()
        .evaluate((each) => getComputedStyle(each).color)
    expect(await color('.glyph')).toBe(await color('.outcome'))
    expect(await panel().locator('[data-failed] strong').allInnerTexts()).toEqual(['fail'])
  })

  it('shows all entries on one axis, and how long requests took', async () => {
    await count()
    const call = entries().filter({ hasText: 'tools/call' })
    expect(await call.locator('.took').first().innerText()).toMatch(/^\d+ ms$/)
    const logs = entries().and(page.locator('[data-kind=log]'))
    expect(await logs.count()).toBeGreaterThan(1)
    const place = (row: Locator): Promise<{ left: number; width: number }> =>
      row.locator('.bar').evaluate((bar) => {
        const { left, width } = bar.getBoundingClientRect()
        return { left, width }
      })
    const bar = await place(call)
    const first = await place(logs.first())
    const last = await place(logs.last())
    expect(bar.width).toBeGreaterThan(100)
    expect(first.left).toBeGreaterThanOrEqual(bar.left)
    expect(last.left).toBeGreaterThan(first.left)
    expect(last.left).toBeLessThanOrEqual(bar.left + bar.width)
    const times = await entries().locator('time').allInnerTexts()
    expect(times).toEqual(times.toSorted())
    expect(times[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3}$/)
  })

  it('shows the progress of a request in its entry', async () => {
    const call = entries().filter({ hasText: 'tools/call' })
    await call.locator('summary').first().click()
    await sees(call, /^3 of 3/)
    await call.locator('summary').first().click()
  })

  it('is filtered by kind and level, and searched', async () => {
    const header = panel().locator('header')
    const height = (): Promise<number> =>
      header.evaluate((each) => each.getBoundingClientRect().height)
    const before = await height()
    await search('counted to 3')
    await expect.poll(titles).toHaveLength(1)
    expect((await titles())[0]).toMatch(/^tools\/call/)
    await expect.poll(() => panel().getByRole('heading').innerText()).toMatch(/1 of \d/)
    expect(await height()).toBe(before)
    await search('nothing like it')
    await sees(panel(), 'No entry matches.')
    await search('')
    await press(page, 'Filter')
    await panel().getByRole('button', { name: 'Log', exact: true }).click()
    await expect.poll(() => entries().and(page.locator(':not([data-kind=log])')).count()).toBe(0)
    expect(await entries().count()).toBeGreaterThan(0)
    await press(page, 'Errors only')
    await sees(panel(), 'No entry matches.')
    await press(page, 'Errors only')
    await panel().getByRole('button', { name: 'Log', exact: true }).click()
    await press(page, 'Filter')
  })

  it('is read by keyboard: the arrow keys move between entries', async () => {
    await panel().getByLabel('Search the timeline').focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    const focused = page.locator(':focus')
    const first = await focused.innerText()
    expect(first).toContain('tools/call')
    await page.keyboard.press('End')
    expect(await focused.innerText()).not.toBe(first)
    await page.keyboard.press('Home')
    expect(await focused.innerText()).toBe(first)
    await page.keyboard.press('ArrowDown')
    expect(await focused.evaluate((each) => each.tagName)).toBe('SUMMARY')
    expect(await focused.innerText()).not.toBe(first)
  })

  it('exports a session, and shows an imported one until the user closes it', async () => {
    const downloading = page.waitForEvent('download')
    await press(page, 'Export')
    const path = await (await downloading).path()
    const before = await titles()
    await clear()
    await sees(panel(), 'Requests, responses and log messages appear here.')
    const input = panel().locator('input[type=file]')
    await input.setInputFiles({
      name: 'bug.json',
      mimeType: 'application/json',
      buffer: await readFile(path),
    })
    await sees(panel(), /^Imported: bug\.json, http/)
    // The file also has a stream that was open when the entries were cleared, as it carries later messages
    const others = (all: string[]): string[] =>
      all.filter((title) => title !== 'subscriptions/listen')
    await expect.poll(async () => others(await titles())).toEqual(others(before))
    expect(await panel().getByRole('button', { name: 'Newest' }).isVisible()).toBe(false)
    expect(await panel().getByRole('button', { name: 'Clear' }).isVisible()).toBe(false)
    await press(page, 'Back to live')
    await sees(panel(), 'Requests, responses and log messages appear here.')
    await input.setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') })
    await sees(panel(), 'Cannot open "a.txt": it is not JSON')
    await press(page, 'Dismiss')
  })

  it('expands the last entry into view', async () => {
    await count()
    const last = entries().last()
    await last.locator('summary').first().click()
    await last.locator('.json').first().waitFor()
    const bottoms = [panel(), last].map((each) =>
      each.evaluate((element) => element.getBoundingClientRect().bottom),
    )
    const [bottom = 0, row = 0] = await Promise.all(bottoms)
    expect(Math.floor(row)).toBeLessThanOrEqual(bottom)
  })

  it('keeps the heading of an entry in view that is opened, however near to the newest one', async () => {
    const own = await visited.open('', { viewport: { width: 1280, height: 500 } })
    await sees(own.locator('.mark'), /^Connected to/)
    /** How far the heading of the open entry is out of view, in whole pixels, as the browser scrolls. */
    const distance = (): Promise<number> =>
      own.evaluate(async () => {
        const frame = (): Promise<unknown> => new Promise((done) => requestAnimationFrame(done))
        for (let frames = 0; frames < 4; frames++) await frame()
        const box = (selector: string): DOMRect | undefined =>
          document.querySelector(selector)?.getBoundingClientRect()
        const { top = 0, bottom = 0 } = box('.scroller') ?? {}
        const heading = box('.entry > [open] > summary') ?? { top: -Infinity, bottom: 0 }
        return Math.floor(Math.max(0, top - heading.top, heading.bottom - bottom))
      })
    const size = Number(await own.locator('.entry').last().getAttribute('aria-setsize'))
    for (const index of [0, 1, 2, 3, 4].map((before) => size - before)) {
      const entry = own.locator(`.entry[aria-posinset="${index}"]`)
      // A heading of the connection
      if ((await entry.count()) === 0) continue
      const heading = entry.locator('summary').first()
      await heading.click()
      await entry.locator('.details').waitFor()
      expect([index, await distance()]).toEqual([index, 0])
      await heading.press('Enter')
      await entry.locator('.details').waitFor({ state: 'hidden' })
    }
    await own.close()
  })

  it('shows the newest entries of a new connection, and counts entries without its headings', async () => {
    const own = await visited.open('', { viewport: { width: 1280, height: 500 } })
    const scroller = own.locator('.scroller')
    await sees(own.locator('.mark'), /^Connected to/)
    const newest = own.getByRole('button', { name: 'Newest' })
    await expect
      .poll(async () => {
        await scroller.evaluate((element) => void (element.scrollTop = 0))
        return newest.isVisible()
      })
      .toBe(true)
    await press(own, 'Reconnect')
    await newest.waitFor({ state: 'hidden' })
    const below = (): Promise<number> =>
      scroller.evaluate(
        ({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop,
      )
    await expect.poll(below).toBeLessThan(2)
    await own.getByRole('button', { name: 'Filter', exact: true }).click()
    await press(own, 'Errors only')
    await own.locator('.entry').first().waitFor({ state: 'detached' })
    expect(await own.locator('.mark').count()).toBeGreaterThan(1)
    expect(await own.locator('.timeline .count').innerText()).toMatch(/^0 of \d+$/)
    await own.close()
  })

  it('scrolls in its panel, and a long form in its own, and not with the page', async () => {
    const own = await visited.open('#/tool/order', { viewport: { width: 1280, height: 500 } })
    const beyond = (): Promise<number> =>
      own.evaluate(() => {
        const { scrollHeight, clientHeight } = document.documentElement
        return scrollHeight - clientHeight
      })
    for (let notes = 0; notes < 8; notes++) await press(own, 'Add to notes')
    expect(await beyond()).toBe(0)
    await own.locator('.entry summary').first().click()
    await own.locator('.entry .json').first().waitFor()
    expect(await beyond()).toBe(0)
    await own.context().close()
  })
})

describe('The panel of the timeline', () => {
  const width = (): Promise<number> =>
    panel().evaluate((each) => Math.round(each.getBoundingClientRect().width))

  it('is resized with the pointer and with the keyboard, and keeps its size', async () => {
    const separator = panel().getByRole('separator')
    const before = await width()
    await separator.focus()
    await page.keyboard.press('ArrowLeft')
    expect(await width()).toBe(before + 16)
    expect(await separator.getAttribute('aria-valuenow')).toBe(String(before + 16))
    await page.keyboard.press('ArrowRight')
    const { x, y, height } = (await separator.boundingBox())!
    await page.mouse.move(x + 4, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x - 46, y + height / 2)
    await page.mouse.up()
    expect(await width()).toBe(before + 50)
    await page.reload()
    expect(await width()).toBe(before + 50)
  })

  it('is closed and opened, and stays closed', async () => {
    await press(page, 'Close the timeline')
    expect(await panel().isVisible()).toBe(false)
    const toggle = page.getByRole('button', { name: 'Timeline' })
    expect(await page.locator(':focus').innerText()).toBe(await toggle.innerText())
    await page.reload()
    await isConnected(page)
    expect(await panel().isVisible()).toBe(false)
    await toggle.click()
    await panel().waitFor()
  })
})
