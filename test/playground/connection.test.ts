// Connecting, and losing the connection.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { connectOver, isConnected, press, result, sees, show, visit } from './visit.ts'

const visited = visit(server)
let page: Page
beforeAll(() => void ({ page } = visited))

describe('Playground: connection', () => {
  it.each(['2025-03-26', '2024-11-05'])('speaks the revision %s', async (revision) => {
    await connectOver(page, revision)
    // These revisions have no titles: things are shown by their names.
    await show(page, '', 'edgewise-demo')
    await sees(page.getByRole('main'), `${revision}, with a session`)
    await show(page, 'tool/greet', 'greet')
    await page.getByLabel('name').fill('Ada')
    await press(page, 'Run')
    await sees(result(page), 'Hello, Ada.')
  })

  it('is kept over a reload', async () => {
    await page.reload()
    await isConnected(page, 'over 2024-11-05')
    await page.getByRole('heading', { name: 'greet', level: 1 }).waitFor()
  })

  it('says who the server is, and which session it gave', async () => {
    await connectOver(page, '2025-11-25')
    await show(page, '', 'Edgewise demo')
    const facts = page.getByRole('main').locator('dl')
    await sees(facts, '2025-11-25, with a session')
    const session = facts.locator('div', { hasText: 'Session' }).locator('code').last()
    expect(await session.innerText()).toMatch(/^[\x21-\x7e]{16,}$/)
    await sees(facts, `${visited.url}/mcp`)
    expect(await facts.locator('.chip').allInnerTexts()).toContain('completions')
  })

  it('says what may be wrong with an endpoint that cannot be reached', async () => {
    await page.getByLabel('Endpoint').fill('http://127.0.0.1:1/mcp')
    await page.keyboard.press('Enter')
    await sees(page.getByRole('main'), 'Nobody answers at "http://127.0.0.1:1"')
    const status = page.locator('#status')
    expect(await status.innerText()).toBe('Cannot reach "http://127.0.0.1:1/mcp"')
    expect(visited.complaints.splice(0)).not.toEqual([])
    await page.getByLabel('Endpoint').fill('http://127.0.0.1:2/mcp')
    expect(await status.innerText()).toBe('')
    expect(await page.getByText('Nobody answers at "http://127.0.0.1:1"').count()).toBe(0)
  })

  it('says when the server is lost, and connects again', async () => {
    const own = await visited.open('#/tool/fail')
    const status = own.locator('#status')
    await own.route('**/mcp', (route) => route.abort())
    await press(own, 'Run')
    await sees(status, 'Lost the connection to Edgewise demo')
    await sees(result(own), /^Cannot reach "[^"]+"$/)
    await own.getByRole('tab', { name: 'Wire' }).click()
    await sees(own.locator('#wire li[data-failed]'), 'no answer')
    await own.unroute('**/mcp')
    await press(own, 'Reconnect')
    await sees(status, /^Connected to Edgewise demo/)
    expect(visited.complaints.splice(0)).not.toEqual([])
  })
})
