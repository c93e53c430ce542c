// Tools: their forms, their calls, their results.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { dialog, press, result, sees, show, visit } from './visit.ts'

const visited = visit(server)
let page: Page
beforeAll(() => void ({ page } = visited))

describe('Playground: tools', () => {
  it('are listed with resources, templates and prompts of its own Worker', async () => {
    const nav = page.getByRole('navigation')
    for (const name of ['Tools', 'Resources', 'Templates', 'Prompts']) {
      await nav.getByRole('heading', { name }).waitFor()
    }
    expect(await page.locator('#lists').getByRole('link').count()).toBe(14)
    await sees(page.getByRole('main'), '2026-07-28, stateless')
  })

  it('are called with a generated form; structured content is shown once', async () => {
    await show(page, 'tool/calculate', 'Calculate')
    await page.getByLabel('a', { exact: true }).fill('6')
    await page.getByLabel('b', { exact: true }).fill('7')
    await page.getByLabel('operation').selectOption('multiply')
    await press(page, 'Run')
    await sees(result(page), '6 × 7 = 42')
    expect(await result(page).getByText('6 × 7 = 42').count()).toBe(1)
  })

  it('are not called while required fields are empty', async () => {
    await show(page, 'tool/greet', 'Greet')
    await press(page, 'Run')
    expect(await page.locator('input:user-invalid').count()).toBe(1)
    const name = page.getByLabel('name')
    expect(await name.getAttribute('aria-invalid')).toBe('true')
    await sees(page.locator('.field', { has: name }), 'Enter a value')
    expect(await name.evaluate((input) => input === document.activeElement)).toBe(true)
    await name.fill('Ada')
    expect(await name.getAttribute('aria-invalid')).toBeNull()
    await name.fill('')
    expect(await result(page).isVisible()).toBe(false)
  })

  it('take nested objects, lists, choices and raw JSON, as fields or as one JSON text', async () => {
    await show(page, 'tool/order', 'Order a pizza')
    await page.getByRole('combobox', { name: 'size' }).selectOption('large')
    await page.getByLabel('olives').check()
    await page.getByLabel('basil').check()
    await press(page, 'Add to notes')
    await page.keyboard.type('Ring twice')
    await press(page, 'Add to notes')
    await page.keyboard.type('No knife')
    await press(page, 'Remove notes 1')
    await page.getByLabel('street').fill('Storgata 1')
    await page.getByLabel('city').fill('Oslo')
    await page.getByLabel('extra').fill('{"tip": 2}')
    const order = {
      size: 'large',
      toppings: ['olives', 'basil'],
      notes: ['No knife'],
      delivery: { street: 'Storgata 1', city: 'Oslo' },
      extra: { tip: 2 },
    }
    await press(page, 'JSON')
    expect(JSON.parse(await page.getByLabel('Arguments as JSON').inputValue())).toEqual(order)
    await press(page, 'Edit as fields')
    expect(await page.getByLabel('street').inputValue()).toBe('Storgata 1')
    await press(page, 'Run')
    const shown = await result(page).getByRole('group', { name: 'JSON' }).innerText()
    expect(JSON.parse(shown)).toEqual({ minutes: 35, order })
  })

  it('show progress on a bar and logs as they come, and can be cancelled while they run', async () => {
    await show(page, 'tool/count', 'Count slowly')
    await page.getByLabel('steps').fill('50')
    await page.getByLabel('pauseMs').fill('2000')
    await press(page, 'Run')
    await sees(result(page), /^Step \d+ of 50$/)
    expect(await result(page).getByRole('progressbar').getAttribute('max')).toBe('50')
    await sees(page.locator('.entry[data-kind=log]'), 'Counting to 50')
    // The browser asks before it closes a page that would lose a call, and no other
    const asks = (): Promise<boolean> =>
      page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
    expect(await asks()).toBe(true)
    await press(page, 'Cancel')
    await sees(result(page), 'Cancelled')
    expect(await asks()).toBe(false)
  })

  it('show their result and duration', async () => {
    await page.getByLabel('steps').fill('3')
    await page.getByLabel('pauseMs').fill('0')
    await press(page, 'Run')
    await sees(result(page), 'Counted to 3.')
    await sees(result(page), /^Done in/)
  })

  it('that become tasks report progress, request input, and end', async () => {
    await show(page, 'tool/develop', 'Develop a film')
    await press(page, 'Run')
    await sees(result(page), /^Developing in darkroom \d$/)
    await sees(dialog(page), 'On which paper are its 3 pictures printed?')
    await page.getByLabel('Paper').selectOption('Matte')
    // What is shown for a moment only, a busy machine may be late for
    await page.evaluate(() => {
      const shown: (string | null)[] = []
      const note = (): void => void shown.push(document.body.textContent)
      new MutationObserver(note).observe(document.body, { childList: true, subtree: true })
      Object.assign(globalThis, { shown })
    })
    await press(page, 'Send')
    await sees(result(page), 'Printed 3 pictures on matte paper.')
    const printing = 'shown.some((text) => text.includes("Printing on matte paper"))'
    expect(await page.evaluate(printing)).toBe(true)
    await result(page).getByText('Task', { exact: true }).click()
    await sees(result(page), /"status": "completed"/)
    const states = page.locator('.entry', { hasText: 'tasks/get' })
    expect(await states.count()).toBe(1)
    await sees(states, /^completed, \d+ messages$/)
  })

  it('and their messages count alike in the timeline, whichever kinds are shown', async () => {
    const count = (text: RegExp): Promise<string> =>
      page.locator('.timeline .count', { hasText: text }).innerText()
    await press(page, 'Filter')
    const log = page.getByRole('button', { name: 'Log', exact: true })
    // An entry may be added in between
    await expect
      .poll(async () => {
        await log.click()
        const filtered = await count(/ of /)
        await log.click()
        return filtered.replace(/.* of /, '') === (await count(/^\d+$/))
      })
      .toBe(true)
    await press(page, 'Filter')
  })

  it('have their result in sight when they are run from above by the shortcut', async () => {
    const own = await visited.open('#/tool/order')
    await own.getByLabel('city').fill('Oslo')
    await own.getByLabel('street').fill('Storgata 1')
    await own.getByRole('combobox', { name: 'size' }).focus()
    await own.keyboard.press('Control+Enter')
    const heading = result(own).getByText('Structured content')
    await heading.waitFor()
    const bottom = await heading.evaluate((element) => element.getBoundingClientRect().bottom)
    expect(bottom).toBeLessThan(800)
  })

  it('show errors as the model reads them', async () => {
    await show(page, 'tool/fail', 'Fail')
    await press(page, 'Run')
    await sees(result(page), 'The oven is cold. Try again after 18:00')
    await sees(result(page), /reported an error/)
  })

  it('show images of their results', async () => {
    await show(page, 'tool/draw', 'Draw')
    await press(page, 'Run')
    const image = result(page).getByRole('img')
    const width = await image.evaluate(async (each: HTMLImageElement) => {
      await each.decode()
      return each.naturalWidth
    })
    expect(width).toBe(640)
  })
})
