import type { Revision } from 'edgewise'
import type { Page } from 'playwright-core'
import type { Everything } from './scripts/everything.ts'

/** Inside pages only. */
declare const edgewise: Everything

/**
 * Connects a client in a page, as its global `client`, that listens to the list of tools; the global
 * `state` has the number of changes it received, and its errors.
 */
export async function listenIn(page: Page, url: string, revision: Revision): Promise<void> {
  await page.evaluate(
    async ({ url, revision }) => {
      const state = { changes: 0, problems: [] as string[] }
      const client = await edgewise.connect(url, {
        revision,
        onToolsChanged: () => state.changes++,
        onError: (error) => state.problems.push(error.message),
      })
      Object.assign(globalThis, { state, client })
    },
    { url, revision },
  )
}
