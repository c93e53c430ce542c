// Every main state of the page, in both themes, looked at by axe: https://github.com/dequelabs/axe-core
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { startFaulty, type FaultyServer } from './faulty-servers.ts'
import { failures, states } from './states.ts'
import { visit } from './visit.ts'

const visited = visit(server)
const faulty: FaultyServer[] = []
afterAll(() => faulty.forEach((each) => each.close()))

/** Starts a server, which is closed at the end. */
const start: typeof startFaulty = async (...options) => {
  const started = await startFaulty(...options)
  faulty.push(started)
  return started
}

describe.each(['light', 'dark'] as const)('The playground in %s', (scheme) => {
  let page: Page
  // Only the colors depend on the theme
  const colorRules =
    "{ runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } }"
  const options = scheme === 'light' ? '{}' : colorRules
  beforeAll(async () => {
    page = await visited.open('', { colorScheme: scheme })
    // Evaluated by the debugger, as the page's own policy allows no such script.
    await page.evaluate(axe.source)
  })

  async function checkPage(): Promise<void> {
    const violations = await page.evaluate(`axe.run(${options}).then(({ violations }) =>
      violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`)
    expect(violations).toEqual([])
    expect(await page.locator('.glyph:not(:has(path))').count()).toBe(0)
  }

  it.each(states)('shows no violations of axe in %s', async (_, reach) => {
    await reach(page)
    await checkPage()
  })

  it.each(failures)('shows no violations of axe in %s', async (_, reach) => {
    await reach(page, start)
    await checkPage()
    // The browser logs the requests that fail
    visited.complaints.splice(0)
  })
})
