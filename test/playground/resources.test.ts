// Resources, templates and prompts, with the server's suggestions.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { press, result, sees, show, visit } from './visit.ts'

const visited = visit(server)
let page: Page
beforeAll(() => void ({ page } = visited))

describe('Playground: resources and prompts', () => {
  it('reads a resource when it is opened', async () => {
    await page.getByRole('link', { name: 'About this server' }).click()
    await result(page).getByRole('heading', { name: 'Edgewise demo', level: 2 }).waitFor()
    await result(page).getByRole('button', { name: 'Raw' }).click()
    await sees(result(page), '# Edgewise demo')
  })

  it('suggests values for a template, reads what they name, and says what it does not', async () => {
    await show(page, 'template/demo%3A%2F%2Fcities%2F%7Bcity%7D', 'City')
    await page.getByLabel('city').fill('K')
    await page.locator('datalist option[value=Kyoto]').waitFor({ state: 'attached' })
    await page.getByLabel('city').fill('Kyoto')
    await press(page, 'Read')
    await sees(result(page), '"Japan"')
    await page.getByLabel('city').fill('Atlantis')
    await press(page, 'Read')
    await sees(result(page), /Unknown city: "Atlantis"/)
    // The browser itself reports an answer with a status of 400 and above.
    const others = visited.complaints
      .splice(0)
      .filter((text) => !text.startsWith('Failed to load resource'))
    expect(others).toEqual([])
  })

  it('gets the messages of a prompt', async () => {
    await show(page, 'prompt/plan', 'Plan a trip')
    await page.getByLabel('city').fill('Quito')
    await page.getByLabel('mood').fill('h')
    await page.locator('datalist option[value=hungry]').waitFor({ state: 'attached' })
    await page.getByLabel('mood').fill('hungry')
    await press(page, 'Get messages')
    await sees(result(page), 'Plan three hungry days in Quito.')
    await press(page, 'Whole result')
    await sees(result(page), /"role": "user"/)
  })
})
