// A browser that stores nothing for the page.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createServer, text } from 'edgewise/server'
import { dialog, isConnected, press, result, sees, show, visit } from './visit.ts'

const server = createServer({ name: 'plain', title: 'Plain', version: '1.0.0' })
server.tool('greet', { input: z.object({ name: z.string() }) }, ({ name }) =>
  text(`# Hello\n\n**${name}**`),
)
const visited = visit(server)

/** Storage that is disabled: every access fails. */
function disable(): void {
  for (const area of ['localStorage', 'sessionStorage']) {
    Object.defineProperty(globalThis, area, {
      get() {
        throw new DOMException('Access is denied', 'SecurityError')
      },
    })
  }
}

/** Storage without room. */
function fill(): void {
  Storage.prototype.setItem = () => {
    throw new DOMException('The quota has been exceeded', 'QuotaExceededError')
  }
}

async function openWith(script: () => void): Promise<Page> {
  const page = await visited.open()
  await page.addInitScript(script)
  await page.reload()
  await isConnected(page)
  return page
}

describe.each([
  ['disabled storage', disable],
  ['full storage', fill],
])('Playground: with %s, the page', (_, script) => {
  it('connects, calls a tool, and keeps an example until the page is closed', async () => {
    const page = await openWith(script)
    await show(page, 'tool/greet', 'greet')
    await page.getByLabel('name', { exact: true }).fill('Ada')
    await press(page, 'Run')
    await sees(result(page), /^Done in/)
    await press(page, 'Keep as example')
    await page.getByRole('button', { name: 'Keep', exact: true }).click()
    await sees(page.getByRole('main'), /the example lasts until the page is closed/)
    await page.getByLabel('name', { exact: true }).fill('')
    await page.getByRole('button', { name: 'name: "Ada"', exact: true }).click()
    expect(await page.getByLabel('name', { exact: true }).inputValue()).toBe('Ada')
  })

  it('switches the theme, saves a server, and applies settings', async () => {
    const page = await openWith(script)
    await press(page, 'Switch to the dark theme')
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await press(page, 'Saved servers')
    await press(page, 'Save this server')
    const saved = page.getByRole('region', { name: 'Saved servers' })
    await sees(saved, /they last until the page is closed/)
    expect(await saved.locator('.title').innerText()).toBe('Plain')
    await page.keyboard.press('Escape')
    await press(page, 'Settings')
    await dialog(page).getByLabel('Timeout in milliseconds').fill('5000')
    await press(page, 'Apply')
    await isConnected(page)
    await press(page, 'Settings')
    expect(await dialog(page).getByLabel('Timeout in milliseconds').inputValue()).toBe('5000')
  })
})
