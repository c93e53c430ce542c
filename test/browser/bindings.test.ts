// What binds the client to a page's surroundings: React, and the model context of the browser.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchChromium } from '../runtimes/chromium.ts'
import type { Everything } from './scripts/everything.ts'
import type { App } from './scripts/hook.ts'
import { complaintsOf, startSite, type Site } from './site.ts'

/** Inside pages only. */
declare const edgewise: Everything
declare const app: App
declare const fake: FakeModelContext

let site: Site
let browser: Browser
let context: BrowserContext
let page: Page
let complaints: string[]

beforeAll(async () => {
  ;[site, browser] = await Promise.all([
    startSite(['everything', 'hook', 'worker']),
    launchChromium(),
  ])
})
afterAll(async () => {
  await browser.close()
  await site.stop()
})
beforeEach(async () => {
  context = await browser.newContext()
  page = await context.newPage()
  complaints = complaintsOf(page)
})
afterEach(async () => {
  await context.close()
  expect(complaints).toEqual([])
})

describe('The hook for React, in strict mode,', () => {
  beforeEach(async () => {
    await page.goto(`${site.origin}/hook.html`)
    await page.waitForFunction('typeof app === "object"')
  })
  const shows = (text: string): Promise<void> =>
    page.locator('#status').getByText(text, { exact: true }).waitFor()

  it('connects while its component is there, and calls tools', async () => {
    await page.evaluate(() => app.show(false))
    await shows('ready')
    await page.getByRole('button', { name: 'Call' }).click()
    await page.locator('#answer').getByText('"42"').waitFor()
    expect(await page.evaluate(() => new Set(app.renders).has('connecting'))).toBe(true)
    await page.evaluate(() => app.unmount())
    await page.locator('#status').waitFor({ state: 'detached' })
  })

  it('shows that the server is gone and back, by itself', async () => {
    await page.evaluate(() => app.show(false))
    await shows('ready')
    const before = await page.evaluate(() => app.renders.length)
    await page.evaluate(() => app.replace())
    await page.waitForFunction((from) => app.renders.slice(from).includes('reconnecting'), before)
    await shows('ready')
    await page.getByRole('button', { name: 'Call' }).click()
    await page.locator('#answer').getByText('"42"').waitFor()
  })

  it('leaves a connection open that others share', async () => {
    await page.evaluate(() => app.show(true))
    await shows('ready')
    await page.evaluate(() => app.unmount())
    await page.locator('#status').waitFor({ state: 'detached' })
    expect(await page.evaluate(() => app.shared.getSnapshot().status)).toBe('ready')
    await page.evaluate(() => app.show(true))
    await shows('ready')
    await page.evaluate(() => app.shared.close())
    await shows('idle')
  })
})

/** A tool, as the page's script registered it. */
interface FakeTool {
  name: string
  title?: string
  description: string
  inputSchema: { type: string }
  annotations: Record<string, boolean>
  execute(input: object, options?: { signal?: AbortSignal }): Promise<unknown>
}

/** Stands for the browser's own, which this Chromium has not. */
interface FakeModelContext {
  tools: Map<string, FakeTool>
  registerTool(tool: FakeTool, options?: { signal?: AbortSignal }): Promise<void>
}

/** Puts a model context into a page that follows the draft: names, duplicates, the signal. */
const install = `
  const tools = new Map()
  const registerTool = async (tool, { signal } = {}) => {
    const { name, description } = tool
    if (tools.has(name) || !/^[A-Za-z0-9_.-]{1,128}$/.test(name) || !description) {
      throw new DOMException('Not registered: ' + name, 'InvalidStateError')
    }
    JSON.stringify(tool.inputSchema)
    signal?.throwIfAborted()
    tools.set(name, tool)
    signal?.addEventListener('abort', () => tools.delete(name))
  }
  globalThis.fake = { tools, registerTool }
  if (where === 'document') Object.defineProperty(document, 'modelContext', { value: fake })
  else {
    // The older draft: on the navigator, synchronous, without the signal
    fake.registerTool = (tool) => {
      if (tools.has(tool.name)) throw new DOMException('Taken', 'InvalidStateError')
      tools.set(tool.name, tool)
    }
    fake.unregisterTool = (name) => void tools.delete(name)
    Object.defineProperty(navigator, 'modelContext', { value: fake })
  }
`

describe('A server offered to the agent of the browser', () => {
  it('is not where the browser has no model context, as this one', async () => {
    await page.goto(`${site.origin}/everything.html`)
    await page.waitForFunction('typeof edgewise === "object"')
    const found = await page.evaluate(async () => [
      edgewise.findModelContext(),
      await edgewise.offerTools(edgewise.portable),
    ])
    expect(found).toEqual([undefined, undefined])
  })

  describe.each(['document', 'navigator'])('through the %s', (where) => {
    beforeEach(async () => {
      await page.addInitScript(`const where = '${where}'; ${install}`)
      await page.goto(`${site.origin}/everything.html`)
      await page.waitForFunction('typeof edgewise === "object"')
    })

    it('has its tools described, called, checked, and asking the user in the page', async () => {
      const result = await page.evaluate(async () => {
        const offered = await edgewise.offerTools(edgewise.portable, {
          filter: ({ name }) => name !== 'wait',
          connect: { onElicit: () => ({ action: 'accept', content: { city: 'Oslo' } }) },
        })
        const call = (name: string, input = {}): Promise<unknown> =>
          fake.tools.get(name)!.execute(input)
        const { title, description, inputSchema, annotations } = fake.tools.get('add')!
        return {
          names: offered?.names,
          add: { title, description, type: inputSchema.type, annotations },
          // Without a description of its own
          ask: fake.tools.get('ask')?.description,
          results: [
            await call('add', { a: 1, b: 2 }),
            await call('add', { a: 'one' }),
            await call('ask'),
          ],
        }
      })
      expect(result.names).toEqual([
        'add',
        'show',
        'count',
        'refuse',
        'crash',
        'ask',
        'sample',
        'roots',
      ])
      expect(result.add).toEqual({
        title: 'Adder',
        description: 'Adds two numbers',
        type: 'object',
        annotations: { readOnlyHint: true, consequentialHint: false, untrustedContentHint: false },
      })
      expect(result.ask).toBe('Asks the user')
      const [right, wrong, asked] = result.results as { isError?: boolean; content: unknown }[]
      expect(right).toEqual({
        content: [{ type: 'text', text: '{"sum":3}' }],
        structuredContent: { sum: 3 },
      })
      expect(wrong?.isError).toBe(true)
      expect(asked?.content).toEqual([{ type: 'text', text: 'You said Oslo' }])
    })

    it('follows its list, refuses names that browsers do not take, and can be withdrawn', async () => {
      const result = await page.evaluate(async () => {
        const server = edgewise.createServer({ name: 'page', version: '1' })
        const first = server.tool('first', {}, () => '1')
        server.tool('not for browsers', {}, () => '2')
        const errors: string[] = []
        const until = async (holds: () => boolean): Promise<void> => {
          while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
        }
        const offered = await edgewise.offerTools(server, {
          onError: (error) => errors.push((error as Error).message),
        })
        const names: string[][] = [[...fake.tools.keys()]]
        server.tool('second', { description: 'Later' }, () => '2')
        await until(() => fake.tools.has('second'))
        first.remove()
        await until(() => !fake.tools.has('first'))
        names.push([...fake.tools.keys()])
        await offered?.close()
        names.push([...fake.tools.keys()])
        return [names, new Set(errors).size, errors[0]]
      })
      expect(result).toEqual([
        [['first'], ['second'], []],
        1,
        'Browsers take no tool that is called "not for browsers"',
      ])
    })
  })

  it('ends what an agent gives up, and is withdrawn by a signal', async () => {
    await page.addInitScript(`const where = 'document'; ${install}`)
    await page.goto(`${site.origin}/everything.html`)
    await page.waitForFunction('typeof edgewise === "object"')
    const result = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'page', version: '1' })
      let ended: ((value: string) => void) | undefined
      const end = new Promise<string>((resolve) => (ended = resolve))
      let begin: (() => void) | undefined
      const begun = new Promise<void>((resolve) => (begin = resolve))
      server.tool('wait', {}, async (_args, ctx) => {
        begin?.()
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        ended?.('aborted')
        return 'late'
      })
      const offer = new AbortController()
      await edgewise.offerTools(server, { signal: offer.signal })
      const agent = new AbortController()
      const call = fake.tools.get('wait')!.execute({}, { signal: agent.signal })
      void begun.then(() => agent.abort())
      const outcome = await call.catch((error) => error.code)
      const seen = [outcome, await end]
      offer.abort()
      return [...seen, fake.tools.size]
    })
    expect(result).toEqual(['ABORTED', 'aborted', 0])
  })
})
