// The wire inspector: every message, what it is about, and its timing.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { press, result, sees, show, visit } from './visit.ts'

const visited = visit(server)
let page: Page
beforeAll(() => void ({ page } = visited))

describe('Playground: wire', () => {
  it('shows every message, with its headers and JSON', async () => {
    await show(page, 'prompt/plan', 'Plan a trip')
    await page.getByLabel('city').fill('Quito')
    await press(page, 'Get messages')
    await sees(result(page), 'Plan three calm days')
    await page.getByRole('tab', { name: 'Wire' }).click()
    const wire = page.getByRole('tabpanel', { name: 'Wire' })
    await wire.getByText('prompts/get', { exact: true }).first().click()
    await sees(wire, /mcp-name: plan/)
    await sees(wire, '"prompts/get"')
    await wire.locator('details[open] summary').click()
  })

  it('labels every row, and marks failures', async () => {
    await show(page, 'tool/fail', 'Fail')
    await press(page, 'Run')
    await sees(result(page), /reported an error/)
    const last = page.locator('#wire li').last()
    await sees(last, 'tool error')
    expect(await last.locator('.title').innerText()).toMatch(/^tools\/call fail tool error/)
    const colour = (part: string): Promise<string> =>
      last.locator(part).evaluate((each) => getComputedStyle(each).color)
    expect(await colour('.glyph')).toBe(await colour('.outcome'))
    const failed = await page.locator('#wire li[data-failed] strong').allInnerTexts()
    expect(failed).toEqual(['fail'])
  })

  it('shows the time of every message, and of responses the time since the request', async () => {
    await page.getByRole('button', { name: 'Clear' }).click()
    await show(page, 'tool/count', 'Count slowly')
    await page.getByLabel('steps').fill('3')
    await page.getByLabel('pauseMs').fill('20')
    await press(page, 'Run')
    await sees(result(page), 'Counted to 3.')
    await expect.poll(() => page.locator('#wire li').count()).toBe(7)
    const rows = page.locator('#wire li')
    const times = await rows.locator('time').allInnerTexts()
    expect(times.every((time) => /^\d\d:\d\d:\d\d\.\d{3}$/.test(time))).toBe(true)
    expect(times).toEqual(times.toSorted())
    expect(await rows.first().locator('.took').count()).toBe(0)
    const took = await rows.locator('.took').allInnerTexts()
    expect(took).toHaveLength(6)
    expect(
      took.every((text) => /^\d+ ms$/.test(text)),
      took.join(),
    ).toBe(true)
  })

  it('scrolls in its panel, as a long form in its own, and not with the page', async () => {
    const own = await visited.open('#/tool/order', { viewport: { width: 1280, height: 500 } })
    const beyond = (): Promise<number> =>
      own.evaluate(() => {
        const { scrollHeight, clientHeight } = document.documentElement
        return scrollHeight - clientHeight
      })
    for (let notes = 0; notes < 8; notes++) await press(own, 'Add to notes')
    expect(await beyond()).toBe(0)
    await own.getByRole('tab', { name: 'Wire' }).click()
    await own.locator('#wire summary').first().click()
    await own.locator('#wire pre').first().waitFor()
    expect(await beyond()).toBe(0)
  })

  it('unfolds the last row into view', async () => {
    const last = page.locator('#wire li').last()
    await last.locator('summary').click()
    await last.locator('.json').waitFor()
    const bottoms = [page.locator('#wire'), last].map((each) =>
      each.evaluate((element) => element.getBoundingClientRect().bottom),
    )
    const [panel = 0, row = 0] = await Promise.all(bottoms)
    expect(Math.floor(row)).toBeLessThanOrEqual(panel)
    await page.getByRole('tab', { name: 'Log' }).click()
  })
})
