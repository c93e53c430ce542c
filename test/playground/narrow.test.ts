// The page on the narrow screen of a phone.
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { LONG, server as crowd } from './crowd.ts'
import { showTimeline, states } from './states.ts'
import { connectTo, dialog, press, result, sees, show, visit } from './visit.ts'

const viewport = { width: 360, height: 640 }
const visited = visit(server)
const crowded = visit(crowd)

/** The width that the page, or its part that scrolls, can be scrolled to. */
const width = (page: Page): Promise<number> =>
  page.evaluate(() =>
    Math.max(
      document.documentElement.scrollWidth,
      document.querySelector('#workspace')?.scrollWidth ?? NaN,
    ),
  )

describe('The playground at 360 pixels', () => {
  let page: Page
  beforeAll(async () => {
    page = await visited.open('', { viewport })
  })

  it.each(states)('does not scroll sideways in %s', async (_, reach) => {
    await reach(page)
    expect(await width(page)).toBe(360)
    const outside = await page
      .getByRole('dialog')
      .evaluateAll((dialogs) =>
        dialogs.filter(
          (dialog) =>
            dialog.scrollWidth > dialog.clientWidth || dialog.getBoundingClientRect().right > 360,
        ),
      )
    expect(outside).toEqual([])
  })

  it('does not scroll sideways with words that are longer than the screen', async () => {
    const own = await crowded.open('#/', { viewport })
    expect(await width(own)).toBe(360)
    await show(own, 'tool/lengthen', 'long'.repeat(30))
    expect(await width(own)).toBe(360)
    await own.getByRole('combobox', { name: LONG }).selectOption(LONG)
    await press(own, 'Run')
    await dialog(own).waitFor()
    const isCut = (box: Element): boolean => box.scrollWidth > box.clientWidth
    expect(await dialog(own).evaluate(isCut)).toBe(false)
    await press(own, 'Send')
    await sees(result(own), /^Done in/)
    expect(await width(own)).toBe(360)
    await showTimeline(own)
    expect(await width(own)).toBe(360)
    expect(await own.locator('.scroller').evaluate(isCut)).toBe(false)
  })

  it('keeps the button that closes "Copy as" in view below a long text', async () => {
    const own = await visited.open('#/tool/calculate', { viewport })
    await press(own, 'Copy as')
    await dialog(own).getByRole('button', { name: 'curl' }).click()
    const button = await dialog(own).getByRole('button', { name: 'Close' }).boundingBox()
    const box = await dialog(own).boundingBox()
    expect(button!.y + button!.height).toBeLessThan(box!.y + box!.height)
    await press(own, 'Close')
    await dialog(own).waitFor({ state: 'detached' })
  })

  it('does not scroll sideways in a form of unions and of objects in lists', async () => {
    const own = await crowded.open('#/tool/arrange', { viewport })
    await press(own, 'Add to guests')
    expect(await width(own)).toBe(360)
  })
})

/** Whether no part of a tab is scrolled out of view. */
const isWhole = (tab: Locator): Promise<boolean> =>
  tab.evaluate((each) => {
    const row = each.parentElement!.getBoundingClientRect()
    const { left, right } = each.getBoundingClientRect()
    return Math.ceil(left) >= Math.floor(row.left) && Math.floor(right) <= Math.ceil(row.right)
  })

/** Whether both ends of a tab can be pressed. */
const isUncovered = (tab: Locator): Promise<boolean> =>
  tab.evaluate((each) => {
    const { left, right, top } = each.getBoundingClientRect()
    return [left + 2, right - 2].every((x) => each.contains(document.elementFromPoint(x, top + 20)))
  })

describe('Playground on a narrow screen', () => {
  let page: Page
  beforeAll(async () => {
    page = await visited.open('', { viewport: { width: 320, height: 640 } })
  })

  it('shows the list, then one thing with a way back', async () => {
    expect(await width(page)).toBe(320)
    await page.getByRole('link', { name: 'Order a pizza' }).click()
    await page.getByRole('heading', { name: 'Order a pizza', level: 1 }).waitFor()
    expect(await page.getByRole('navigation', { name: /^Tools/ }).isVisible()).toBe(false)
    expect(await width(page)).toBe(320)
    const places = page.getByRole('navigation', { name: 'Places' })
    const goTo = (name: string): Promise<void> => places.getByRole('button', { name }).click()
    await goTo('Timeline')
    expect(await page.getByRole('heading', { name: 'Order a pizza' }).isVisible()).toBe(false)
    await goTo('Server')
    await page.getByRole('heading', { name: 'Order a pizza', level: 1 }).waitFor()
    await goTo('History')
    await page.getByRole('heading', { name: 'History', level: 1 }).waitFor()
    await goTo('Server')
    await page.getByRole('navigation', { name: /^Tools/ }).waitFor()
    await page.getByRole('link', { name: 'Order a pizza' }).click()
    await page.getByRole('link', { name: 'All', exact: true }).click()
    await page.getByRole('navigation', { name: /^Tools/ }).waitFor()
  })

  it('shows no way back where nothing is listed', async () => {
    const own = await visited.open('#/tool/fail', { viewport })
    const back = own.getByRole('link', { name: 'All' })
    expect(await back.isVisible()).toBe(true)
    await own.route('**/never', () => {})
    await connectTo(own, `${visited.url}/never`)
    await own.getByRole('heading', { name: 'Connecting', level: 1 }).waitFor()
    expect(await back.isVisible()).toBe(false)
  })

  it('shows the button to reconnect where a view advises to use it', async () => {
    const own = await visited.open('#/tool/greet', { viewport })
    const button = own.getByRole('button', { name: 'Reconnect' })
    expect(await button.isVisible()).toBe(false)
    await show(own, 'tool/nope', 'No such tool')
    await sees(own.getByRole('main'), /“Reconnect” loads the lists again/)
    expect(await button.isVisible()).toBe(true)
  })

  it('takes the Tab key from top to bottom', async () => {
    const own = await visited.open('', { viewport: { width: 390, height: 844 } })
    const stops: { name: string; top: number }[] = []
    for (let name = ''; name !== 'Greet'; name = stops.at(-1)?.name ?? '') {
      expect(stops.length).toBeLessThan(20)
      await own.keyboard.press('Tab')
      stops.push(
        await own.locator(':focus').evaluate((element) => ({
          name: (
            element.getAttribute('placeholder') ??
            (element.querySelector('.title') ?? element).textContent
          ).trim(),
          top: element.getBoundingClientRect().top + scrollY,
        })),
      )
    }
    const names = stops.map(({ name }) => name)
    expect(names[0]).toBe('Skip to the content')
    const below = stops.slice(names.indexOf('Change') + 1)
    // The history is in the bar at the bottom
    expect(below.map(({ name }) => name)).toEqual([
      'Edgewise demo',
      'Check',
      'Search tools and more',
      'Greet',
    ])
    expect(below.map(({ top }) => top)).toEqual(
      below.map(({ top }) => top).toSorted((one, other) => one - other),
    )
  })

  it('breaks long lines of the timeline instead of cutting them', async () => {
    await showTimeline(page)
    await page.locator('.entry summary').first().click()
    const parts = page.locator('.entry [open] details:not([open]) > summary')
    const blocks = page.locator('.entry :is(pre, .json)')
    // The parts of an entry are drawn after it was opened
    const openParts = async (): Promise<number> => {
      while ((await parts.count()) > 0) await parts.first().click()
      return blocks.count()
    }
    await expect.poll(openParts).toBeGreaterThan(2)
    const cut = (all: Element[]): number =>
      all.filter((each) => each.scrollWidth > each.clientWidth).length
    await expect.poll(() => blocks.evaluateAll(cut)).toBe(0)
  })

  it('breaks the long keys of JSON after a slash', async () => {
    const keys = page.locator('.entry .json .key', { hasText: '/' })
    const wrapped = await keys.evaluateAll((all) =>
      all
        .filter((key) => key.getClientRects().length > 1)
        .flatMap((key) => [...key.childNodes].filter((node) => node instanceof Text))
        .map((part) => {
          const range = new Range()
          range.selectNodeContents(part)
          return range.getClientRects().length
        }),
    )
    expect(new Set(wrapped)).toEqual(new Set([1]))
  })

  it('has entries in its list that are high enough for fingers, also without a description', async () => {
    const own = await crowded.open('#/', { viewport })
    const entry = own.getByRole('link', { name: 'Arrange', exact: true })
    expect((await entry.boundingBox())!.height).toBeGreaterThanOrEqual(40)
  })

  it('does not scroll sideways with many tabs', async () => {
    for (let count = 1; count < 6; count++) await press(page, 'Open another server')
    expect(await width(page)).toBe(320)
  })

  it.each([0, 3, 5])('shows all of tab %i of six once it is selected', async (index) => {
    const tab = page.getByRole('tab').nth(index)
    await tab.click()
    await expect.poll(() => isWhole(tab)).toBe(true)
  })

  it('shows the whole name of the selected one of two tabs', async () => {
    const own = await visited.open('', { viewport: { width: 390, height: 844 } })
    const name = own.locator('[aria-selected=true] .name')
    const isCut = (): Promise<boolean> =>
      name.evaluate((each) => each.scrollWidth > each.clientWidth)
    expect(await isCut()).toBe(false)
    await press(own, 'Open another server')
    expect(await name.innerText()).toBe('New server')
    expect(await isCut()).toBe(false)
  })

  it('shows the whole port of tabs that are not selected, because their hosts are alike', async () => {
    const own = await visited.open('', { viewport: { width: 390, height: 844 } })
    for (const port of [59_991, 59_992, 59_993]) {
      await press(own, 'Open another server')
      await connectTo(own, `http://127.0.0.1:${port}/mcp`)
    }
    const ports = own.locator('[role=tab]:not([aria-selected=true]) .which')
    expect(await ports.allInnerTexts()).toEqual(['', ':59991', ':59992'])
    const cut = await ports.evaluateAll((all) =>
      all.map((each) => each.scrollWidth > each.clientWidth),
    )
    expect(cut).toEqual([false, false, false])
    // The browser logs that nothing responds at these ports
    expect(visited.complaints.splice(0)).not.toEqual([])
  })

  it('shows the tab whose server asks a question, which covers no part of the selected one', async () => {
    const own = await visited.open('#/tool/sign', { viewport })
    let release = (): void => {}
    const isReleased = new Promise<void>((resolve) => (release = resolve))
    await own.route('**/mcp', (route) => isReleased.then(() => route.continue()))
    await press(own, 'Run')
    for (let count = 0; count < 3; count++) await press(own, 'Open another server')
    const tab = own.getByRole('tab').first()
    await expect.poll(() => isWhole(tab)).toBe(false)
    release()
    await own.getByRole('tab', { name: /has a question$/ }).waitFor()
    await expect.poll(() => isWhole(tab)).toBe(true)
    for (const index of [3, 2, 1]) {
      const other = own.getByRole('tab').nth(index)
      // A click of the mouse would first scroll to the tab
      await other.dispatchEvent('click')
      await expect.poll(() => isUncovered(other)).toBe(true)
      expect(await isWhole(tab)).toBe(true)
    }
  })
})
