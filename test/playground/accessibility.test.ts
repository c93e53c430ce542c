// Every main state of the page, in both themes, looked at by axe: https://github.com/dequelabs/axe-core
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { states } from './states.ts'
import { visit } from './visit.ts'

const visited = visit(server)

describe.each(['light', 'dark'] as const)('The playground in %s', (scheme) => {
  let page: Page
  beforeAll(async () => {
    page = await visited.open('', { colorScheme: scheme })
    // Evaluated by the debugger, as the page's own policy allows no such script.
    await page.evaluate(axe.source)
  })

  it.each(states)('shows no violations of axe in %s', async (_, reach) => {
    await reach(page)
    const violations = await page.evaluate(`axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`)
    expect(violations).toEqual([])
    const icons = await page
      .locator('use')
      .evaluateAll((all) => all.map((each) => each.getAttribute('href') ?? 'no icon'))
    for (const each of new Set(icons)) expect(await page.locator(`symbol${each}`).count()).toBe(1)
  })
})
