// Where things are on the page, in the Chromium of all tests and in a current one.
import { describe, expect, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { installedChromium, fullChromium } from '../runtimes/chromium.ts'
import { states } from './states.ts'
import { press, showAddress, visit } from './visit.ts'

const browsers = [
  ['the Chromium of all tests', fullChromium, true],
  [
    'a current Chromium (where CHROMIUM_PATH names one, or the system has one)',
    installedChromium,
    installedChromium !== undefined && installedChromium !== fullChromium,
  ],
] as const

for (const [name, executable, there] of browsers) {
  describe.runIf(there)(`Playground in ${name}`, () => {
    const visited = visit(server, '', executable)

    it('moves nothing while it starts and connects', async () => {
      const shifts = await visited.page.evaluate(() => {
        const observer = new PerformanceObserver(() => {})
        observer.observe({ type: 'layout-shift', buffered: true })
        return observer.takeRecords().map((shift) => ('value' in shift ? Number(shift.value) : 1))
      })
      // Names that replace others in the tab and the timeline are less than this
      expect(shifts.reduce((sum, shift) => sum + shift, 0)).toBeLessThan(0.03)
    })

    it.each([
      [1280, 800],
      [1000, 700],
      [800, 600],
      [360, 640],
    ])('opens saved servers right below their button at %i by %i [P003]', async (width, height) => {
      const page = await visited.open('', { viewport: { width, height } })
      await showAddress(page)
      await press(page, 'Saved servers')
      const popover = (await page.locator('#saved').boundingBox())!
      const button = (await page.locator('#saved-open').boundingBox())!
      const below = popover.y - (button.y + button.height)
      expect(below).toBeGreaterThanOrEqual(0)
      expect(below).toBeLessThan(60)
      expect(popover.x).toBeGreaterThanOrEqual(0)
      expect(popover.x).toBeLessThanOrEqual(button.x + button.width)
      expect(popover.x + popover.width).toBeLessThanOrEqual(width)
      expect(popover.y + popover.height).toBeLessThanOrEqual(height)
      await page.context().close()
    })

    it('leaves room for a usual address at 720 pixels', async () => {
      const page = await visited.open('', { viewport: { width: 720, height: 800 } })
      const { width } = (await page.locator('#endpoint').boundingBox())!
      expect(width).toBeGreaterThan(200)
      await page.context().close()
    })

    it('never scrolls sideways at 360 pixels, with any content [P003]', async () => {
      const page = await visited.open('', { viewport: { width: 360, height: 640 } })
      for (const [what, reach] of states) {
        await reach(page)
        const width = await page.evaluate(() => document.documentElement.scrollWidth)
        expect([what, width]).toEqual([what, 360])
      }
      await page.context().close()
    })
  })
}
