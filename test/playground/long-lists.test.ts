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

const rows = (id: string): Promise<number> => page.locator(`#${id} li`).count()
const scroll = (id: string, share: number): Promise<void> =>
  page
    .locator(`#${id}`)
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

describe('Playground: a log of 10,000 lines', () => {
  beforeAll(async () => {
    await page.getByLabel('lines').fill(String(LINES))
    await press(page, 'Run')
    await sees(result(page), `Logged ${LINES} lines.`)
    await page.locator('#log').getByText(`Line ${LINES}`, { exact: true }).waitFor()
  })

  it('is counted whole, followed to its end, and in the document only where it is seen', async () => {
    expect(await page.getByRole('tab', { name: 'Log' }).innerText()).toContain('10,000')
    expect(await rows('log')).toBeLessThan(120)
    const last = page.locator('#log li').last()
    expect(await last.getAttribute('aria-posinset')).toBe(String(LINES))
    expect(await last.getAttribute('aria-setsize')).toBe(String(LINES))
    // The browser scrolls by whole pixels, while rows may end between two
    expect(await last.evaluate((row) => row.getBoundingClientRect().bottom)).toBeLessThan(801)
  })

  it('can be read from its beginning and in its middle, without news being read out', async () => {
    await scroll('log', 0)
    await page.locator('#log').getByText('Line 1', { exact: true }).waitFor()
    expect(await rows('log')).toBeLessThan(120)
    expect(await page.getByRole('log').getAttribute('aria-live')).toBe('off')
    await scroll('log', 0.5)
    await page
      .locator('#log')
      .getByText(/^Line [3-6]\d{3}/)
      .first()
      .waitFor()
    expect(await rows('log')).toBeLessThan(120)
    // Looked at in one go, as the page may still be busy with what was not seen before
    const look = (): Promise<boolean> =>
      page.locator('#log').evaluate((panel) => {
        const { top, bottom } = panel.getBoundingClientRect()
        const seen = [...panel.querySelectorAll('li')]
        const boxes = seen.map((row) => row.getBoundingClientRect())
        const lines = seen.map((row) =>
          parseInt(row.querySelector('p')?.textContent.slice(5) ?? ''),
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
    await scroll('log', 0.5)
    const moved = await page.locator('#log').evaluate(async (panel) => {
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
    await scroll('log', 0)
    await page.locator('#log').getByText('Line 1', { exact: true }).waitFor()
    await page.getByLabel('lines').fill('50')
    await press(page, 'Run')
    await sees(result(page), 'Logged 50 lines.')
    await expect.poll(() => page.getByRole('tab', { name: 'Log' }).innerText()).toContain('10,050')
    expect(await page.locator('#log').evaluate((panel) => panel.scrollTop)).toBe(0)
    await page.locator('#log').getByText('Line 1', { exact: true }).waitFor()
  })

  it('is on the wire too, each message once', async () => {
    await page.getByRole('tab', { name: 'Wire' }).click()
    await page.locator('#wire li').last().waitFor()
    expect(await rows('wire')).toBeLessThan(120)
    const count = await page.getByRole('tab', { name: 'Wire' }).locator('.count').innerText()
    expect(Number(count.replace(',', ''))).toBeGreaterThan(LINES + 50)
    await scroll('wire', 0.5)
    await page.locator('#wire').getByText('notifications/message').first().waitFor()
  })

  it('keeps expanded sections when other views are visited', async () => {
    await scroll('wire', 0)
    const first = page.locator('#wire li[aria-posinset="1"]')
    await first.locator('summary').click()
    await first.locator('.json').waitFor()
    await scroll('wire', 1)
    await first.waitFor({ state: 'detached' })
    await scroll('wire', 0)
    await first.locator('.json').waitFor()
  })

  it('is empty after it was cleared', async () => {
    await press(page, 'Clear')
    await sees(page.locator('#wire'), 'Every message to and from the server appears here.')
    expect(await rows('wire')).toBe(0)
    await page.getByRole('tab', { name: 'Log' }).click()
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
    await page.getByLabel('Filter').fill('thing 1000')
    expect(await links().allInnerTexts()).toEqual(['tool-1000\nDoes thing number 1000.'])
    await page.getByLabel('Filter').fill('tool-')
    expect(await links().count()).toBe(100)
    await page.getByLabel('Filter').fill('0777')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'tool-0777', level: 1 }).waitFor()
    await press(page, 'Run')
    await sees(result(page), 'tool-0777')
  })
})
