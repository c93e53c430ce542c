// The page in a Firefox, which a page of the same origin opens and uses.
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createServer } from 'edgewise/server'
import { firefoxPath, openFirefox } from '../runtimes/firefox.ts'
import { host } from './host.ts'

const server = createServer({ name: 'firefox', version: '1.0.0' })
server.tool('log', {}, async (_, ctx) => {
  for (let line = 0; line < 40; line++) await ctx.log('info', `Line ${line}`)
  return 'Logged'
})
server.tool('wait', { input: z.object({ at: z.iso.datetime() }) }, (_, ctx) => {
  return new Promise((resolve) => {
    ctx.signal.addEventListener('abort', () => resolve('Stopped'))
  })
})

/** What is seen of the page. */
interface Seen {
  /** The text of a result. */
  readonly result: string
  /** Whether the bars of the timeline end where their scale ends. */
  readonly hasAlignedScale: boolean
  /** Whether a field for a date and a time is as wide as what it shows. */
  readonly hasRoomForDate: boolean
  /** The color of the bar of a call without progress. */
  readonly progressColor: string
}

/** Uses the page. This function runs in Firefox. */
async function use(): Promise<Seen> {
  const page = open('/')!

  async function until<T>(find: () => T | null | undefined | false): Promise<T> {
    for (;;) {
      const found = find()
      if (found) return found
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const find = <T extends HTMLElement>(selector: string): Promise<T> =>
    until(() => page.document?.querySelector<T>(selector))
  async function show(tool: string): Promise<void> {
    page.location.hash = `#/tool/${tool}`
    await until(() => page.document.querySelector('#detail h1')?.textContent === tool)
  }
  async function press(name: string): Promise<void> {
    const buttons = (): HTMLElement[] => [...page.document.querySelectorAll('button')]
    const button = await until(() => buttons().find(({ textContent }) => textContent === name))
    button.click()
  }
  const endOf = async (selector: string): Promise<number> =>
    (await find(selector)).getBoundingClientRect().right

  await until(() => page.document?.querySelector('#status')?.textContent.startsWith('Connected to'))
  await show('log')
  await press('Run')
  const result = await until(() => page.document.querySelector('.run .text')?.textContent)
  const hasAlignedScale = (await endOf('.ticks')) === (await endOf('.entry .track'))

  await show('wait')
  const field = await find<HTMLInputElement>('#detail input[type=datetime-local]')
  field.value = '2026-12-31T22:30'
  const { width } = field.getBoundingClientRect()
  field.style.cssText = 'max-width: none; width: max-content'
  const hasRoomForDate = width >= field.getBoundingClientRect().width
  await press('Run')
  const progress = await find('progress')
  const progressColor = page.getComputedStyle(progress, '::-moz-progress-bar').backgroundColor
  return { result, hasAlignedScale, hasRoomForDate, progressColor }
}

if (!firefoxPath)
  it.skip('The playground in Firefox (skipped: install firefox-esr, or name a Firefox in FIREFOX_PATH, the only way in CI)', () => {})
else
  describe('The playground in Firefox', () => {
    it('connects, runs tools and shows results as elsewhere', async () => {
      const violations: string[] = []
      let see: (seen: string) => void
      const seen = new Promise<string>((resolve) => (see = resolve))
      const script = `(${String(use)})().catch(String).then((seen) =>
        fetch('/seen', { method: 'POST', body: JSON.stringify(seen) }))`
      const html = { 'content-type': 'text/html; charset=utf-8' }
      const served = await host(server, {
        '/use': () =>
          new Response(`<!doctype html><title>Test</title><script>${script}</script>`, {
            headers: html,
          }),
        async '/seen'(request) {
          see(await request.text())
          return new Response()
        },
        async '/violations'(request) {
          violations.push(await request.text())
          return new Response()
        },
      })
      const firefox = await openFirefox(`${served.url}/use`)
      try {
        expect({ ...(JSON.parse(await seen) as Seen), violations }).toEqual({
          result: 'Logged',
          hasAlignedScale: true,
          hasRoomForDate: true,
          progressColor: 'rgba(0, 0, 0, 0)',
          violations: [],
        })
      } finally {
        await firefox.close()
        served.close()
      }
    })
  })
