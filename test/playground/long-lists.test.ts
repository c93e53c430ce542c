// Lists that are longer than a page should hold: what the server logs, what goes over the wire, and
// what it offers.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { server, TOOLS } from './crowd.ts'
import { press, result, sees, visit } from './visit.ts'

const visited = visit(server, '#/tool/flood')
let page: Page
beforeAll(() => void ({ page } = visited))
const LINES = 10_000

const scroller = () => page.locator('.scroller')
const rows = (): Promise<number> => page.locator('.entry').count()
const total = (): Promise<string> => page.locator('.timeline .count').innerText()
const scroll = (share: number): Promise<void> =>
  scroller()
    .evaluate(
      (panel, at) => (panel.scrollTop = (panel.scrollHeight - panel.clientHeight) * at),
      share,
    )
    .then(() => undefined)

it('the playground shows the entry of a list that the address selects', async () => {
  const viewport = { width: 1280, height: 400 }
  const own = await visited.open('#/tool/tool-0040', { viewport })
  const link = own.getByRole('navigation').locator('[aria-current]')
  expect(await link.innerText()).toContain('tool-0040')
  const bottom = await link.evaluate((element) => element.getBoundingClientRect().bottom)
  expect(bottom).toBeLessThanOrEqual(400)
})

describe('The timeline with 10,000 log messages', () => {
  beforeAll(async () => {
    await page.getByLabel('lines').fill(String(LINES))
    await press(page, 'Run')
    await sees(result(page), `Logged ${LINES} lines.`)
    await scroller().getByText(`Line ${LINES}`, { exact: true }).waitFor()
  })

  it('is counted whole, followed to its end, and in the document only where it is seen', async () => {
    expect(parseInt((await total()).replace(',', ''))).toBeGreaterThan(LINES)
    expect(await rows()).toBeLessThan(120)
    const last = page.locator('.entry').last()
    const position = await last.getAttribute('aria-posinset')
    expect(await last.getAttribute('aria-setsize')).toBe(position)
    expect(Number(position)).toBeGreaterThan(LINES)
    // The browser scrolls by whole pixels, while rows may end between two
    expect(await last.evaluate((row) => row.getBoundingClientRect().bottom)).toBeLessThan(801)
  })

  it('is searched to its beginning, and shows everything again', async () => {
    await page.getByLabel('Search the timeline').fill('line 9999')
    await expect.poll(total).toMatch(/^1 of 10,0\d\d$/)
    expect(await page.locator('.entry .name').allInnerTexts()).toEqual(['Line 9999'])
    await page.getByLabel('Search the timeline').fill('')
    await expect.poll(total).toMatch(/^10,0\d\d$/)
  })

  it('can be read from its beginning and in its middle', async () => {
    await scroll(0)
    await scroller().getByText('Line 1', { exact: true }).waitFor()
    expect(await rows()).toBeLessThan(120)
    await scroll(0.5)
    await scroller()
      .getByText(/^Line [3-6]\d{3}/)
      .first()
      .waitFor()
    expect(await rows()).toBeLessThan(120)
    // Looked at in one go, as the page may still be busy with what was not seen before
    const look = (): Promise<boolean> =>
      scroller().evaluate((panel) => {
        const { top, bottom } = panel.getBoundingClientRect()
        const seen = [...panel.querySelectorAll('li')]
        const boxes = seen.map((row) => row.getBoundingClientRect())
        const lines = seen.map((row) =>
          parseInt(row.querySelector('.name')?.textContent.slice(5) ?? ''),
        )
        const first = lines[0] ?? 0
        return (
          lines.every((line, index) => line === first + index) &&
          (boxes[0]?.top ?? Infinity) <= top &&
          (boxes.at(-1)?.bottom ?? 0) >= bottom
        )
      })
    await expect.poll(look).toBe(true)
  })

  it('moves as far as it is scrolled, however high the rows are that come into view', async () => {
    await scroll(0.5)
    const moved = await scroller().evaluate(async (panel) => {
      const frame = (): Promise<unknown> => new Promise((done) => requestAnimationFrame(done))
      const settle = async (): Promise<void> => {
        for (let frames = 0; frames < 4; frames++) await frame()
      }
      await settle()
      const { top, height } = panel.getBoundingClientRect()
      const steps: number[] = []
      for (let step = 0; step < 30; step++) {
        const rows = [...panel.querySelectorAll('li')]
        const row = rows.find((each) => each.getBoundingClientRect().top > top + height / 3)
        const before = row?.getBoundingClientRect().top ?? NaN
        panel.scrollTop -= 150
        await settle()
        steps.push(Math.round((row?.getBoundingClientRect().top ?? NaN) - before))
      }
      return steps
    })
    expect(moved).toEqual(moved.map(() => 150))
  })

  it('stays where it is read while more is logged', async () => {
    await scroll(0)
    await scroller().getByText('Line 1', { exact: true }).waitFor()
    await page.getByLabel('lines').fill('50')
    await press(page, 'Run')
    await sees(result(page), 'Logged 50 lines.')
    await expect.poll(total).toMatch(/^10,0[5-9]\d$/)
    expect(await scroller().evaluate((panel) => panel.scrollTop)).toBe(0)
    await scroller().getByText('Line 1', { exact: true }).waitFor()
  })

  it('keeps entries expanded that are scrolled out of view', async () => {
    const first = page.locator('.entry[aria-posinset="2"]')
    await first.locator('summary').first().click()
    await first.locator('.json').first().waitFor()
    await scroll(1)
    await first.waitFor({ state: 'detached' })
    await scroll(0)
    await first.locator('.json').first().waitFor()
  })

  it('goes to the end when the user wants to follow it again', async () => {
    await press(page, 'Newest')
    await scroller().getByText('Line 50', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Newest' }).isVisible()).toBe(false)
  })

  it('keeps the focus in the list when its row is scrolled out of view', async () => {
    await page.locator('.entry summary').last().focus()
    await scroll(0)
    await page.locator('li[aria-posinset="1"]').waitFor()
    expect(await page.locator(':focus').getAttribute('class')).toBe('scroller')
    await page.keyboard.press('End')
    await page.locator('.entry summary:focus').waitFor()
  })

  it('is empty after it was cleared', async () => {
    await press(page, 'Clear')
    await sees(scroller(), 'Requests, responses and log messages appear here.')
    expect(await rows()).toBe(0)
  })
})

describe('Playground: 1,000 tools', () => {
  const links = () => page.locator('#lists a')

  it('are shown a part at a time, next to the other lists', async () => {
    expect(await page.getByRole('heading', { name: 'Tools' }).innerText()).toContain('1,003')
    expect(await links().count()).toBe(101)
    await page.getByRole('link', { name: 'one', exact: true }).waitFor()
  })

  it('show more on request, and move the focus there', async () => {
    await press(page, `Show 100 more of ${TOOLS - 97}`)
    expect(await links().count()).toBe(201)
    expect(await page.locator(':focus').innerText()).toContain('tool-0098')
  })

  it('are found by the words of their name and description', async () => {
    await page.getByLabel('Search tools, resources and prompts').fill('thing 1000')
    expect(await links().allInnerTexts()).toEqual(['tool-1000\nDoes thing number 1000.'])
    await page.getByLabel('Search tools, resources and prompts').fill('tool-')
    expect(await links().count()).toBe(100)
    await page.getByLabel('Search tools, resources and prompts').fill('0777')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'tool-0777', level: 1 }).waitFor()
    await press(page, 'Run')
    await sees(result(page), 'tool-0777')
  })
})
