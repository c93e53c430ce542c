// Tabs that take turns at listening, as a browser has six connections to a server over HTTP/1.1.
import { describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { isConnected, sees, visit } from './visit.ts'

const visited = visit(server)

describe('Playground: a tab that waits for its turn to listen', () => {
  it('says so in its log, and that it listens once another tab is closed [P028]', async () => {
    const first = await visited.open()
    const context = first.context()
    const tabs = [first]
    while (tabs.length < 5) {
      const tab = await context.newPage()
      await tab.goto(`${visited.url}/`)
      await isConnected(tab)
      tabs.push(tab)
    }
    const last = tabs.pop()!
    await sees(last.locator('.scroller'), 'Not listening: four other tabs do')
    for (const tab of tabs) expect(await tab.getByText('Not listening').count()).toBe(0)
    await first.close()
    await sees(last.locator('.scroller'), 'Listening again')
    await context.close()
  })
})
