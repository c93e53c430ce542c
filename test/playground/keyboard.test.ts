// The page by keyboard alone: connecting, finding a tool, calling it, answering what it asks.
import { describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { dialog, isConnected, result, sees, visit } from './visit.ts'

const visited = visit(server)

describe('Playground by keyboard alone', () => {
  it('connects, finds a tool, calls it and answers its questions', async () => {
    const { page } = visited
    const focused = page.locator(':focus')
    const tabTo = async (name: string): Promise<void> => {
      for (let stops = 0; stops < 20; stops++) {
        await page.keyboard.press('Tab')
        const names = await page.evaluate(() => {
          const { activeElement: at } = document
          const label =
            at instanceof HTMLInputElement || at instanceof HTMLSelectElement ? at.labels?.[0] : at
          return [at?.getAttribute('aria-label'), label?.textContent.trim()]
        })
        if (names.includes(name)) return
      }
      throw new Error(`Cannot reach "${name}" with the Tab key`)
    }
    await tabTo('Skip to the content')
    await tabTo('Edgewise playground, server overview')
    await tabTo('Endpoint')
    await page.keyboard.type(`${visited.url}/mcp`)
    await page.keyboard.press('Enter')
    await isConnected(page)
    await tabTo('Search tools, resources and prompts')
    await page.keyboard.type('zzz')
    await sees(page.getByRole('navigation'), 'Nothing matches')
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('book')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Book a trip', level: 1 }).waitFor()
    expect(await focused.innerText()).toBe('Book a trip')

    await tabTo('city')
    await page.keyboard.type('Oslo')
    await page.keyboard.press('Control+Enter')
    await sees(dialog(page), 'When do you arrive in Oslo')
    await page.keyboard.type('05172030')
    await tabTo('Room')
    await page.keyboard.type('Suite')
    await tabTo('Send')
    await page.keyboard.press('Enter')
    await sees(dialog(page), '2 nights in Oslo from 2030-05-17, suite room: 520 €.')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await sees(result(page), /^Booked 2 nights in Oslo/)
    // Back where the call began
    expect(await focused.evaluate((element) => element.tagName)).toBe('SELECT')
  })

  it('returns to the previous view', async () => {
    const { page } = visited
    await page.goBack()
    await page.getByRole('heading', { name: 'Edgewise demo', level: 1 }).waitFor()
  })

  it('answers a sampling request for a model', async () => {
    const page = await visited.open('#/tool/postcard')
    await page.getByLabel('city').focus()
    await page.keyboard.type('Oslo')
    await page.keyboard.press('Control+Enter')
    await sees(dialog(page), 'Who gets the postcard')
    await page.keyboard.type('Grace')
    await page.keyboard.press('Enter')
    await sees(dialog(page), 'The server requests a model’s answer')
    await page.keyboard.type('Snow.')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').innerText()).toBe('Send answer')
    await page.keyboard.press('Enter')
    await sees(dialog(page), '“Snow.”')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await sees(result(page), /^Sent to Grace with stamp .{4}: Snow\.$/)
  })
})
