// Servers that a person keeps in the browser.
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { server } from './crowd.ts'
import { isConnected, press, sees, visit } from './visit.ts'

const visited = visit(server, '#/tool/flood')
let page: Page
beforeAll(() => void ({ page } = visited))

const saved = (): Locator => page.getByRole('region', { name: 'Saved servers' })
const names = (): Promise<string[]> => saved().locator('li .title').allInnerTexts()
const stored = (): Promise<string | null> => page.evaluate(() => localStorage.getItem('servers'))

describe('Playground: saved servers', () => {
  it('are empty in a new browser', async () => {
    await press(page, 'Saved servers')
    await sees(saved(), 'There are no saved servers.')
  })

  it('are saved by the name that the server gives itself, once each', async () => {
    await press(page, 'Save this server')
    expect(await names()).toEqual(['Crowd'])
    const again = saved().getByRole('button', { name: 'Saved', exact: true })
    expect(await again.getAttribute('aria-disabled')).toBe('true')
  })

  it('are kept without user, password and query', async () => {
    await page.keyboard.press('Escape')
    const { host: there } = new URL(visited.url)
    await page.getByLabel('Endpoint').fill(`http://ada:hunter2@${there}/other?key=topsecret#token`)
    await press(page, 'Saved servers')
    await press(page, 'Save this server')
    expect(await names()).toEqual(['Crowd', there])
    expect(await stored()).toBe(
      JSON.stringify([
        { name: 'Crowd', url: `${visited.url}/mcp`, revision: 'auto' },
        { name: there, url: `${visited.url}/other`, revision: 'auto' },
      ]),
    )
  })

  it('are listed at once in a new tab that is already open', async () => {
    const own = await visited.open('')
    await press(own, 'Open another server')
    const card = own.getByRole('main').locator('.servers')
    await sees(card, 'Server of this page')
    await own.getByLabel('Endpoint').fill('https://other.example/mcp')
    await press(own, 'Saved servers')
    await press(own, 'Save this server')
    await sees(card, 'https://other.example/mcp')
  })

  it('are renamed and removed by keyboard, and the focus stays near', async () => {
    await page.getByRole('button', { name: 'Rename Crowd' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type('Home')
    await page.keyboard.press('Enter')
    await expect.poll(names).toEqual(['Home', new URL(visited.url).host])
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Rename Home')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await expect.poll(names).toEqual(['Home', new URL(visited.url).host])
    await page.getByRole('button', { name: /^Remove 127/ }).focus()
    await page.keyboard.press('Enter')
    expect(await names()).toEqual(['Home'])
    expect(await page.locator(':focus').innerText()).toBe('Save this server')
  })

  it('are opened with the revision that they were saved with, after a reload too', async () => {
    await page.keyboard.press('Escape')
    await page.getByLabel('Endpoint').fill(`${visited.url}/mcp`)
    await page.getByLabel('Protocol revision').selectOption('2025-06-18')
    await press(page, 'Saved servers')
    await press(page, 'Update the revision')
    await page.goto(`${visited.url}/`)
    await isConnected(page, 'over MCP 2026-07-28')
    await press(page, 'Saved servers')
    await saved().getByRole('button', { name: /^Home/ }).click()
    await isConnected(page, 'over MCP 2025-06-18')
    expect(await saved().isVisible()).toBe(false)
    expect(await page.getByLabel('Protocol revision').inputValue()).toBe('2025-06-18')
  })

  it('with an invalid format are ignored', async () => {
    await page.evaluate(() => localStorage.setItem('servers', '[1,{"name":"x"},null]'))
    await press(page, 'Saved servers')
    await sees(saved(), 'There are no saved servers.')
  })
})
