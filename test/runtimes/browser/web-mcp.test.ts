// The tools of a page for the browser's agent (WebMCP): in the browser's own model context, and in
// the polyfill, in both shapes of its listings.
import type { RegisteredTool } from '../../../runtimes/browser/web-mcp/model-context.ts'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PATIENCE } from '../../patience.ts'
import { openChromium, type SharedBrowser } from '../chromium.ts'
import type { Everything } from './scripts/everything.ts'
import { complaintsOf, page as pageOf, startSite, type Site } from './site.ts'

/** Inside pages only. */
declare const edgewise: Everything
declare const agent: Agent

/** An agent inside the page that uses the model context as it is, without our code. */
interface Agent {
  tools(fromOrigins?: readonly string[]): Promise<readonly RegisteredTool[]>
  call(name: string, input?: object, options?: { signal?: AbortSignal }): Promise<unknown>
  until(holds: () => boolean | Promise<boolean>): Promise<void>
}

const agentScript = `
  const context = () => document.modelContext
  globalThis.agent = {
    tools: (fromOrigins) => context().getTools(fromOrigins && { fromOrigins }),
    async call(name, input = {}, options) {
      const tool = (await context().getTools()).find((one) => one.name === name)
      const run = (argument) => context().executeTool(tool, argument, options)
      // Text up to Chromium 153
      const text = await run(input).catch((error) => {
        if (!/parse input/.test(error)) throw error
        return run(JSON.stringify(input))
      })
      return JSON.parse(text)
    },
    async until(holds) {
      const end = performance.now() + ${PATIENCE.timeout}
      while (!(await holds())) {
        if (performance.now() > end) throw new Error('Not within the time: ' + holds)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
  }
`

let site: Site
let browser: SharedBrowser
let context: BrowserContext
/** One for all tests of a context: a new one would start a process. */
let page: Page
let complaints: string[]

beforeAll(async () => {
  site = await startSite(['everything'])
})
afterAll(() => site.stop())

afterEach(() => expect(complaints.splice(0)).toEqual([]))

/** Removes the complaints that a test expects. */
function allow(expected: string): void {
  complaints.splice(0, Infinity, ...complaints.filter((text) => !text.includes(expected)))
}

/** Opens a document in the page of the context. */
async function open(path = '/everything.html', origin = site.origin): Promise<void> {
  if (page?.context() !== context) {
    page = await context.newPage()
    complaints = complaintsOf(page)
    await page.addInitScript(agentScript)
  }
  await page.goto(origin + path)
  await page.waitForFunction('typeof edgewise === "object"')
}

const contexts = [
  { name: "the browser's own model context", args: ['--enable-features=WebMCP'], shape: undefined },
  { name: 'the polyfill with dictionaries', args: [], shape: 'dictionary' },
  { name: 'the polyfill with interfaces', args: [], shape: 'interface' },
] as const

describe.each(contexts)('With $name,', ({ args, shape }) => {
  beforeAll(async () => {
    browser = await openChromium(args)
    context = await browser.newContext()
  })
  afterAll(() => browser.close())
  beforeEach(async () => {
    await open()
    await install()
  })

  /** Installs the polyfill, where it is what is tested. */
  async function install(): Promise<void> {
    const found = await page.evaluate((shape) => {
      if (shape) edgewise.polyfillModelContext({ tools: shape })
      return [
        Boolean(edgewise.findModelContext()),
        Boolean(edgewise.findModelContext({ native: true })),
      ]
    }, shape)
    expect(found).toEqual([true, shape === undefined])
  }

  it('offered tools are listed with name, title, description and schema [E-WEBMCP-017] [E-WEBMCP-026]', async () => {
    const listed = await page.evaluate(async () => {
      const offered = await edgewise.offerTools(edgewise.portable)
      const tools = await agent.tools()
      const add = tools.find(({ name }) => name === 'add')!
      const { title, description, inputSchema } = add
      const schema = typeof inputSchema === 'string' ? JSON.parse(inputSchema) : inputSchema
      return {
        same:
          JSON.stringify(tools.map(({ name }) => name)) ===
          JSON.stringify([...offered!.names].sort()),
        add: { title, description, required: schema.required },
      }
    })
    expect(listed).toEqual({
      same: true,
      add: { title: 'Adder', description: 'Adds two numbers', required: ['a', 'b'] },
    })
  })

  it('hints left out default to destructive and open, as in MCP, and an option relaxes them [E-WEBMCP-018] [E-WEBMCP-001] [E-WEBMCP-002] [E-WEBMCP-026]', async () => {
    const hints = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'page', version: '1' })
      const values = [true, false, undefined]
      for (const readOnlyHint of values)
        for (const destructiveHint of values)
          for (const openWorldHint of values) {
            const annotations = { readOnlyHint, destructiveHint, openWorldHint }
            const name = Object.values(annotations).map(String).join('.')
            server.tool(name, { annotations: JSON.parse(JSON.stringify(annotations)) }, () => '')
          }
      server.tool('relaxed', {}, () => '')
      const registered: Record<string, unknown> = {}
      await edgewise.offerTools(server, {
        annotate: ({ name }) => (name === 'relaxed' ? { consequentialHint: false } : {}),
        modelContext: {
          registerTool: (tool) => {
            registered[tool.name] = tool.annotations
            return edgewise.findModelContext()!.registerTool(tool)
          },
        },
      })
      return registered
    })
    const values = ['true', 'false', 'undefined']
    for (const readOnly of values)
      for (const destructive of values)
        for (const openWorld of values) {
          expect(hints[`${readOnly}.${destructive}.${openWorld}`]).toEqual({
            readOnlyHint: readOnly === 'true',
            consequentialHint: destructive !== 'false' && readOnly !== 'true',
            untrustedContentHint: openWorld !== 'false',
          })
        }
    expect(hints.relaxed).toEqual({
      readOnlyHint: false,
      consequentialHint: false,
      untrustedContentHint: true,
    })
  })

  it('success, failure, wrong arguments, protocol errors and timeouts are all results [E-WEBMCP-019] [E-WEBMCP-011] [E-WEBMCP-014] [E-WEBMCP-026]', async () => {
    const results = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'page', version: '1' })
      const input = edgewise.jsonSchema<{ a: number }>({
        type: 'object',
        properties: { a: { type: 'number' } },
        required: ['a'],
      })
      server.tool('double', { input }, ({ a }) => String(2 * a))
      server.tool('fail', {}, () => {
        throw new edgewise.ToolError('No seats left')
      })
      server.tool('forbidden', {}, () => '')
      server.tool('slow', {}, () => new Promise<never>(() => {}))
      server.use('tools/call', (request, _ctx, next) => {
        if (request.params.name !== 'forbidden') return next()
        throw new edgewise.ProtocolError(-31_000, 'Not today')
      })
      await edgewise.offerTools(server, { connect: { timeoutMs: 1000 } })
      return Promise.all([
        agent.call('double', { a: 2 }),
        agent.call('fail'),
        agent.call('double', { a: 'two' }),
        agent.call('forbidden'),
        agent.call('slow'),
      ])
    })
    const texts = (results as { isError?: true; content: { text: string }[] }[]).map(
      ({ isError, content }) => [isError, content[0]!.text],
    )
    expect(texts).toEqual([
      [undefined, '4'],
      [true, 'No seats left'],
      [true, expect.stringContaining('a: ')],
      [true, 'Not today'],
      [true, expect.stringMatching(/^"tools\/call" .*time/)],
    ])
  })

  it('the option "structured" gives structuredContent alone, and failures whole [E-WEBMCP-003] [E-WEBMCP-004] [E-WEBMCP-026]', async () => {
    const [full, structured, failed] = await page.evaluate(async () => {
      const input = edgewise.jsonSchema<{ to: string }>({ type: 'object' })
      const output = edgewise.jsonSchema<{ seat: string }>({
        type: 'object',
        properties: { seat: { type: 'string' } },
        required: ['seat'],
      })
      const server = edgewise.createServer({ name: 'page', version: '1' })
      server.tool('book', { input, output }, ({ to }) => {
        if (to === 'Mars') throw new edgewise.ToolError('Too far')
        return { structuredContent: { seat: '4A' } }
      })
      const first = await edgewise.offerTools(server)
      const full = await agent.call('book', { to: 'Oslo' })
      await first?.close()
      await edgewise.offerTools(server, { results: 'structured' })
      return [
        full,
        await agent.call('book', { to: 'Oslo' }),
        await agent.call('book', { to: 'Mars' }),
      ]
    })
    expect(full).toMatchObject({ content: [{ type: 'text' }], structuredContent: { seat: '4A' } })
    expect(structured).toEqual({ seat: '4A' })
    expect(failed).toEqual({ content: [{ type: 'text', text: 'Too far' }], isError: true })
  })

  it("an agent's abort reaches ctx.signal of the handler [E-WEBMCP-020] [E-WEBMCP-026]", async () => {
    const outcome = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'page', version: '1' })
      const events: string[] = []
      server.tool('wait', {}, async (_args, ctx) => {
        events.push('begun')
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        events.push('aborted')
        return 'late'
      })
      await edgewise.offerTools(server)
      const controller = new AbortController()
      const call = agent.call('wait', {}, { signal: controller.signal }).catch(({ name }) => name)
      await agent.until(() => events.includes('begun'))
      controller.abort()
      const outcome = await call
      await agent.until(() => events.includes('aborted'))
      return outcome
    })
    expect(outcome).toBe('AbortError')
    // Browsers write why a tool failed to the console
    allow('The request was aborted')
  })

  it('an abort after the result cancels nothing [E-WEBMCP-020] [E-WEBMCP-026]', async () => {
    const outcome = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'page', version: '1' })
      let cancelled = 0
      const context = edgewise.findModelContext()!
      context.addEventListener!('toolcancel', () => cancelled++)
      server.tool('quick', {}, (_args, { signal }) => {
        signal.addEventListener('abort', () => cancelled++)
        return ''
      })
      await edgewise.offerTools(server)
      const controller = new AbortController()
      await agent.call('quick', {}, { signal: controller.signal })
      controller.abort()
      await agent.call('quick')
      return cancelled
    })
    expect(outcome).toBe(0)
  })

  it('tools that are added, removed and changed are followed, each with a toolchange event [E-WEBMCP-021] [E-WEBMCP-009] [E-WEBMCP-026]', async () => {
    const steps = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'page', version: '1' })
      const first = server.tool('first', { description: 'One' }, () => 'one')
      let changes = 0
      edgewise.findModelContext()!.addEventListener!('toolchange', () => changes++)
      const listed = async (): Promise<string[]> =>
        (await agent.tools()).map(({ name, description }) => `${name}: ${description}`)
      await edgewise.offerTools(server)
      const steps = [await listed()]
      const step = async (change: () => void, expected: string): Promise<void> => {
        const before = changes
        change()
        await agent.until(async () => (await listed()).join().includes(expected))
        await agent.until(() => changes > before)
        steps.push(await listed())
      }
      await step(() => server.tool('second', { description: 'Two' }, () => 'two'), 'second')
      await step(() => {
        first.remove()
        server.tool('first', { description: 'Changed' }, () => 'three')
      }, 'Changed')
      await step(() => server.tool('third', { description: 'Three' }, () => ''), 'third')
      steps.push([JSON.stringify(await agent.call('first'))])
      return steps
    })
    expect(steps).toEqual([
      ['first: One'],
      ['first: One', 'second: Two'],
      ['first: Changed', 'second: Two'],
      ['first: Changed', 'second: Two', 'third: Three'],
      ['{"content":[{"type":"text","text":"three"}]}'],
    ])
  })

  it('a call that runs while its tool changes ends with the result of the old one [E-WEBMCP-009] [E-WEBMCP-026]', async () => {
    const outcome = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'page', version: '1' })
      let finish: ((text: string) => void) | undefined
      const wait = (): Promise<string> => new Promise((resolve) => (finish = resolve))
      const old = server.tool('wait', { description: 'Old' }, wait)
      await edgewise.offerTools(server)
      const call = agent.call('wait')
      await agent.until(() => finish !== undefined)
      old.update({ description: 'New' }, () => 'new')
      await agent.until(async () => (await agent.tools())[0]?.description === 'New')
      const next = await agent.call('wait')
      finish?.('old')
      return [await call, next]
    })
    const result = (text: string): object => ({ content: [{ type: 'text', text }] })
    expect(outcome).toEqual([result('old'), result('new')])
  })

  it('a tool without a description is described by its title, or else by its name [E-WEBMCP-013] [E-WEBMCP-026]', async () => {
    const descriptions = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'page', version: '1' })
      server.tool('named', {}, () => '')
      server.tool('titled', { title: 'Title', description: '' }, () => '')
      await edgewise.offerTools(server)
      return (await agent.tools()).map(({ description }) => description)
    })
    expect(descriptions).toEqual(['named', 'Title'])
  })

  it("content comes with its annotations and _meta, for the page's origin as principal [E-WEBMCP-015] [E-WEBMCP-016] [E-WEBMCP-026]", async () => {
    const content = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'page', version: '1' })
      server.tool('whoami', {}, (_args, { principal }) => ({
        content: [
          {
            ...{ type: 'text', text: String(principal) },
            ...{ annotations: { audience: ['user'] }, _meta: { a: 1 } },
          },
        ],
      }))
      await edgewise.offerTools(server)
      return agent.call('whoami')
    })
    const kept = { annotations: { audience: ['user'] }, _meta: { a: 1 } }
    expect(content).toEqual({ content: [{ type: 'text', text: site.origin, ...kept }] })
  })

  it('a signal that is aborted before or during the first offer leaves no tool, and no error [E-WEBMCP-026]', async () => {
    const outcome = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'page', version: '1' })
      for (const name of ['a', 'b', 'c']) server.tool(name, {}, () => '')
      const registered: string[] = []
      const errors: unknown[] = []
      const onError = (error: unknown): number => errors.push(String(error))
      const during = new AbortController()
      const modelContext = {
        registerTool: async ({ name }: { name: string }) => {
          registered.push(name)
          during.abort()
        },
      }
      await edgewise.offerTools(server, { signal: AbortSignal.abort(), onError, modelContext })
      const before = registered.length
      const { signal } = during
      const offered = await edgewise.offerTools(server, { signal, onError, modelContext })
      return [before, registered, offered?.names, errors]
    })
    expect(outcome).toEqual([0, ['a'], [], []])
  })

  it.each(['close', 'signal'])(
    '%s withdraws all tools, and a running call ends normally [E-WEBMCP-022] [E-WEBMCP-010] [E-WEBMCP-026]',
    async (way) => {
      const outcome = await page.evaluate(async (way) => {
        const server = edgewise.createServer({ name: 'page', version: '1' })
        let finish: ((text: string) => void) | undefined
        server.tool('wait', {}, () => new Promise<string>((resolve) => (finish = resolve)))
        server.tool('other', {}, () => '')
        const controller = new AbortController()
        const offered = await edgewise.offerTools(server, { signal: controller.signal })
        const call = agent.call('wait')
        await agent.until(() => finish !== undefined)
        if (way === 'close') await offered!.close()
        else controller.abort()
        const left = (await agent.tools()).length
        finish?.('after all')
        return [left, await call]
      }, way)
      expect(outcome).toEqual([0, { content: [{ type: 'text', text: 'after all' }] }])
    },
  )

  it('a name that browsers do not accept is reported once, even if other tools change [E-WEBMCP-012] [E-WEBMCP-026]', async () => {
    const outcome = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'page', version: '1' })
      server.tool('a/b', {}, () => '')
      const errors: string[] = []
      const offered = await edgewise.offerTools(server, {
        onError: (error) => errors.push((error as Error).message),
      })
      server.tool('fine', {}, () => '')
      await agent.until(() => offered!.names.includes('fine'))
      return errors
    })
    expect(outcome).toEqual([
      'Browsers accept no tool named "a/b": use 1 to 128 of A-Z a-z 0-9 _ - .',
    ])
  })

  it('a name that is taken is reported with the name [P033] [E-WEBMCP-026]', async () => {
    const outcome = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'page', version: '1' })
      server.tool('mine', {}, () => '')
      const errors: string[] = []
      await edgewise.offerTools(server)
      await edgewise.offerTools(server, {
        onError: (error) => errors.push((error as Error).message),
      })
      return errors
    })
    expect(outcome).toEqual([
      expect.stringMatching(/^Cannot offer the tool "mine": InvalidStateError: /),
    ])
  })

  it('a misspelt filter is refused, so that no tool is offered by mistake [P033] [E-WEBMCP-026]', async () => {
    const outcome = await page.evaluate(async () => {
      const misspelt = { filters: () => false } as object
      const offering = edgewise.offerTools(edgewise.portable, misspelt)
      const serving = edgewise.pageTools(misspelt)
      return [
        await offering.catch(({ message }) => message),
        await serving.catch(({ message }) => message),
        (await agent.tools()).length,
      ]
    })
    expect(outcome).toEqual([
      expect.stringContaining('offerTools has no option "filters"; it has signal, filter'),
      expect.stringContaining('pageTools has no option "filters"; it has fromOrigins, filter'),
      0,
    ])
  })

  it.each(['*', 'example.com', 'http://example.com', 'https://example.com/path'])(
    'exposing tools to "%s" is refused by one error before any tool is registered [E-WEBMCP-008] [E-WEBMCP-026]',
    async (origin) => {
      const outcome = await page.evaluate(async (origin) => {
        const offering = edgewise.offerTools(edgewise.portable, { exposedTo: [origin] })
        return [await offering.catch(({ message }) => message), (await agent.tools()).length]
      }, origin)
      expect(outcome).toEqual([
        `Cannot expose tools to "${origin}": use an origin such as "https://example.com"`,
        0,
      ])
    },
  )

  it("the tools of a client's server are offered, and the client stays open [E-WEBMCP-026]", async () => {
    const outcome = await page.evaluate(async () => {
      const server = edgewise.createServer({ name: 'far', version: '1' })
      server.tool('first', {}, () => 'one')
      const client = await edgewise.connectInMemory(server)
      const offered = await edgewise.offerTools(client)
      server.tool('second', {}, () => 'two')
      await agent.until(() => offered!.names.length === 2)
      const result = await agent.call('second')
      await offered!.close()
      return [result, (await client.listAllTools()).length, (await agent.tools()).length]
    })
    expect(outcome).toEqual([{ content: [{ type: 'text', text: 'two' }] }, 2, 0])
  })

  it("pageTools serves the page's tools to any client, and follows them [E-WEBMCP-025] [E-WEBMCP-026]", async () => {
    const outcome = await page.evaluate(async () => {
      const register = async (
        name: string,
        execute: (input: object, options?: { signal?: AbortSignal }) => unknown,
        options: object = {},
      ): Promise<AbortController> => {
        const controller = new AbortController()
        const { signal } = controller
        const tool = {
          name,
          description: `The tool ${name}`,
          inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
          execute: async (input: object, more?: object) => execute(input, more),
          ...options,
        }
        await edgewise.findModelContext()!.registerTool(tool, { signal })
        return controller
      }
      await register('mcp', () => ({ content: [{ type: 'text', text: 'whole' }], isError: true }))
      await register('plain', (input) => ({ got: input }))
      await register('text', () => 'words')
      await register('nothing', () => null)
      await register(
        'bare',
        () => {
          throw new Error('secret reason')
        },
        { inputSchema: undefined, annotations: { readOnlyHint: true }, title: 'Bare' },
      )
      const server = (await edgewise.pageTools({ filter: ({ name }) => name !== 'hidden' }))!
      const client = await edgewise.connectInMemory(server)
      const tools = await client.listAllTools()
      const call = async (name: string, args = {}): Promise<unknown> => {
        const { content, structuredContent, isError } = await client.callTool(name, args)
        return [(content[0] as { text?: string })?.text, structuredContent, isError]
      }
      const calls = [
        await call('mcp'),
        await call('plain', { a: 1 }),
        await call('text'),
        await call('nothing'),
        await call('bare'),
      ]
      const names = async (): Promise<string> =>
        (await client.listAllTools({ cache: 'reload' })).map(({ name }) => name).join()
      const later = await register('later', () => 'old')
      await register('hidden', () => '')
      await agent.until(async () => (await names()).includes('later'))
      const old = await call('later')
      // Under its name again, described in the same words: only the new object can be executed
      later.abort()
      await register('later', () => 'new')
      let renewed: unknown
      await agent.until(async () => {
        renewed = await call('later').catch(() => undefined)
        return JSON.stringify(renewed)?.includes('new') ?? false
      })
      return { tools, calls, old, renewed, names: await names() }
    })
    // The reason is for the console of the page only
    allow('secret reason')
    const { tools, calls, old, renewed, names } = outcome
    expect(tools.find(({ name }) => name === 'plain')).toEqual({
      name: 'plain',
      description: 'The tool plain',
      inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
    })
    expect(tools.find(({ name }) => name === 'bare')).toEqual({
      name: 'bare',
      title: 'Bare',
      description: 'The tool bare',
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    })
    expect(calls).toEqual([
      ['whole', undefined, true],
      ['{"got":{"a":1}}', { got: { a: 1 } }, undefined],
      ['words', undefined, undefined],
      [expect.anything(), undefined, undefined],
      [expect.stringMatching(/^The page's tool "bare" failed/), undefined, true],
    ])
    expect([old, renewed]).toEqual([
      ['old', undefined, undefined],
      ['new', undefined, undefined],
    ])
    expect(names).not.toContain('hidden')
  })

  it("an abort by a client of pageTools reaches the page's tool [E-WEBMCP-026]", async () => {
    const outcome = await page.evaluate(async () => {
      const events: string[] = []
      await edgewise.findModelContext()!.registerTool({
        name: 'wait',
        description: 'Waits',
        inputSchema: { type: 'object' },
        execute: (_input, options) =>
          new Promise((resolve) => {
            events.push('begun')
            options?.signal?.addEventListener('abort', () => {
              events.push('aborted')
              resolve({ content: [] })
            })
          }),
      })
      const client = await edgewise.connectInMemory((await edgewise.pageTools())!)
      const controller = new AbortController()
      const { signal } = controller
      const call = client.callTool('wait', {}, { signal }).catch(({ code }) => code)
      await agent.until(() => events.includes('begun'))
      controller.abort()
      const code = await call
      await agent.until(() => events.includes('aborted'))
      return code
    })
    expect(outcome).toBe('ABORTED')
  })

  it('tools of a frame of the same origin are listed and called [E-WEBMCP-023] [E-WEBMCP-026]', async () => {
    const outcome = await page.evaluate(async (shape) => {
      const frame = document.body.appendChild(document.createElement('iframe'))
      frame.src = '/everything.html'
      const inside = (): typeof globalThis & { edgewise?: Everything } =>
        frame.contentWindow as unknown as typeof globalThis
      await agent.until(() => inside().edgewise !== undefined)
      const there = inside().edgewise!
      if (shape) there.polyfillModelContext({ tools: shape })
      const server = there.createServer({ name: 'frame', version: '1' })
      server.tool('framed', {}, () => 'from the frame')
      await there.offerTools(server)
      return [(await agent.tools()).map(({ name }) => name), await agent.call('framed')]
    }, shape)
    expect(outcome).toEqual([['framed'], { content: [{ type: 'text', text: 'from the frame' }] }])
  })
})

describe("With the browser's own model context and other origins,", () => {
  beforeAll(async () => {
    browser = await openChromium(['--enable-features=WebMCP'])
  })
  afterAll(() => browser.close())
  beforeEach(async () => {
    context = await browser.newContext()
  })

  it('tools are seen by Playwright, which calls them too [E-WEBMCP-017] [E-WEBMCP-019]', async () => {
    await open()
    await page.evaluate(() => edgewise.offerTools(edgewise.portable))
    const tools = await page.webmcp.tools()
    expect(tools.find(({ name }) => name === 'add')).toMatchObject({
      description: 'Adds two numbers',
      inputSchema: { type: 'object', required: ['a', 'b'] },
    })
    expect(await page.webmcp.callTool('add', { a: 1, b: 2 })).toEqual({
      content: [{ type: 'text', text: '{"sum":3}' }],
      structuredContent: { sum: 3 },
    })
    expect(await page.webmcp.callTool('add', { a: 'one' })).toMatchObject({ isError: true })
  })

  it.each([
    ['a policy, exposedTo and fromOrigins', 'tools', true, true, ['framed']],
    ['no policy', '', true, true, []],
    ['no exposedTo', 'tools', false, true, []],
    ['no fromOrigins', 'tools', true, false, []],
  ])(
    'a frame of another origin with %s shows what it may [E-WEBMCP-023]',
    async (_case, allow, exposes, asks, expected) => {
      await open()
      const names = await page.evaluate(
        async ({ allow, exposes, asks, other, origin }) => {
          const frame = document.createElement('iframe')
          frame.allow = allow
          frame.src = `${other}/framed.html#${exposes ? origin : ''}`
          const offered = new Promise((resolve) => addEventListener('message', resolve))
          document.body.append(frame)
          await offered
          return (await agent.tools(asks ? [other] : undefined)).map(({ name }) => name)
        },
        { allow, exposes, asks, other: site.other, origin: site.origin },
      )
      expect(names).toEqual(expected)
    },
  )
  beforeAll(() => {
    const { body } = pageOf('everything')
    const offer = `<script type="module">
      const server = edgewise.createServer({ name: 'frame', version: '1' })
      server.tool('framed', {}, () => '')
      const exposedTo = location.hash ? [location.hash.slice(1)] : undefined
      await edgewise.offerTools(server, { exposedTo, onError: () => {} })
      parent.postMessage('offered', '*')
    </script>`
    site.assets.set('/framed.html', { body: body + offer, type: 'text/html' })
    site.assets.set('/forbidden.html', pageOf('everything', { 'permissions-policy': 'tools=()' }))
  })

  it('a policy that forbids tools is reported once, and nothing throws [E-WEBMCP-024]', async () => {
    await open('/forbidden.html')
    const outcome = await page.evaluate(async () => {
      const errors: string[] = []
      const onError = (error: unknown): number => errors.push((error as Error).name)
      const offered = await edgewise.offerTools(edgewise.portable, { onError })
      const server = await edgewise.pageTools({ onError })
      return [errors, offered?.names, server !== undefined]
    })
    expect(outcome).toEqual([['NotAllowedError', 'NotAllowedError'], [], true])
  })
})

describe('Without a model context,', () => {
  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(() => browser.close())
  beforeEach(async () => {
    context = await browser.newContext()
    await open()
  })

  it('offerTools and pageTools give undefined, and connect to nothing [E-WEBMCP-027]', async () => {
    const outcome = await page.evaluate(async () => {
      let listed = 0
      const server = edgewise.createServer({ name: 'page', version: '1' })
      server.use((_request, _ctx, next) => {
        listed++
        return next()
      })
      const found = [
        edgewise.findModelContext(),
        await edgewise.offerTools(server),
        await edgewise.pageTools(),
      ]
      return [found, listed]
    })
    expect(outcome).toEqual([[undefined, undefined, undefined], 0])
  })

  it('tools are offered through navigator.modelContext of older drafts [E-WEBMCP-007]', async () => {
    const outcome = await page.evaluate(async () => {
      const tools = new Map<string, { execute(input: object): Promise<unknown> }>()
      const value = {
        // Synchronous, without a signal
        registerTool(tool: { name: string; execute(input: object): Promise<unknown> }) {
          if (tools.has(tool.name)) throw new DOMException('Taken', 'InvalidStateError')
          tools.set(tool.name, tool)
        },
        unregisterTool: (name: string) => void tools.delete(name),
      }
      Object.defineProperty(navigator, 'modelContext', { value })
      const offered = await edgewise.offerTools(edgewise.portable, {
        filter: ({ name }) => name === 'add' || name === 'ask',
        connect: { onElicit: () => ({ action: 'accept', content: { city: 'Oslo' } }) },
      })
      const names = [...tools.keys()]
      const results = [
        await tools.get('add')!.execute({ a: 1, b: 2 }),
        await tools.get('ask')!.execute({}),
      ]
      await offered!.close()
      return [names, results, tools.size]
    })
    expect(outcome).toEqual([
      ['add', 'ask'],
      [
        { content: [{ type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 } },
        { content: [{ type: 'text', text: 'You said Oslo' }] },
      ],
      0,
    ])
  })

  it('the polyfill refuses what browsers refuse, and leaves a model context that is there', async () => {
    const outcome = await page.evaluate(async () => {
      const installed = [edgewise.polyfillModelContext(), edgewise.polyfillModelContext()]
      const context = edgewise.findModelContext()!
      const tool = { name: 'a', description: 'A', inputSchema: {}, execute: async () => ({}) }
      const aborted = AbortSignal.abort(new Error('given up'))
      const circular: Record<string, unknown> = {}
      circular.self = circular
      await context.registerTool(tool)
      const attempts: [object, object?][] = [
        [tool],
        [{ ...tool, name: '' }],
        [{ ...tool, name: 'a/b' }],
        [{ ...tool, name: 'x'.repeat(129) }],
        [{ ...tool, name: 'b', description: '' }],
        [{ ...tool, name: 'b', description: undefined }],
        [{ ...tool, name: 'b', inputSchema: circular }],
        [{ ...tool, name: 'b', inputSchema: { toJSON: () => undefined } }],
        [{ ...tool, name: 'b' }, { exposedTo: ['*'] }],
        [{ ...tool, name: 'b' }, { signal: aborted }],
      ]
      const errors: string[] = []
      for (const [tool, options] of attempts) {
        const registration = context.registerTool(tool as never, options) as Promise<void>
        errors.push(await registration.then(String, (error: Error) => error.name))
      }
      return { installed, errors }
    })
    expect(outcome).toEqual({
      installed: [true, false],
      errors: [
        'InvalidStateError',
        'InvalidStateError',
        'InvalidStateError',
        'InvalidStateError',
        'InvalidStateError',
        'TypeError',
        'TypeError',
        'TypeError',
        'SecurityError',
        'Error',
      ],
    })
  })

  it.each([
    ['a dictionary', { window: 'self' }],
    ['an interface', { source: 'self' }],
  ])(
    'pageTools reads %s with text, null and missing members [E-WEBMCP-025] [E-WEBMCP-005] [E-WEBMCP-006]',
    async (_shape, owner) => {
      const outcome = await page.evaluate(async (owner) => {
        const listed = [
          { name: 'text', inputSchema: '{"type":"object","required":["a"]}', annotations: null },
          { name: 'null', title: '', inputSchema: null, outputSchema: null },
          { name: 'missing' },
          { name: 'missing' },
          { name: 'nonsense', inputSchema: { type: 'nonsense' } },
        ].map((tool) => ({ description: 'D', origin: 'null', ...owner, ...tool }))
        const executed: unknown[] = []
        const errors: string[] = []
        let change = (_event: Event): void => {}
        let lists = 0
        const server = await edgewise.pageTools({
          onError: (error) => errors.push((error as Error).message),
          modelContext: {
            registerTool: () => {},
            addEventListener: (_type, listener) => void (change = listener),
            getTools: async () => {
              lists++
              return listed as never
            },
            executeTool: async (tool) => {
              executed.push(listed.indexOf(tool as never))
              return null
            },
          },
        })
        // What lasts is reported once, however often the list changes
        for (let i = 0; i < 3; i++) change(new Event('toolchange'))
        await agent.until(() => lists === 4)
        const client = await edgewise.connectInMemory(server!)
        const { content } = await client.callTool('missing')
        return { tools: await client.listAllTools(), executed, errors, content }
      }, owner)
      expect(outcome).toEqual({
        tools: [
          { name: 'text', description: 'D', inputSchema: { type: 'object', required: ['a'] } },
          { name: 'null', description: 'D', inputSchema: { type: 'object' } },
          { name: 'missing', description: 'D', inputSchema: { type: 'object' } },
        ],
        executed: [2],
        errors: [expect.stringContaining('use "rename"'), expect.any(String)],
        content: [],
      })
    },
  )
})
