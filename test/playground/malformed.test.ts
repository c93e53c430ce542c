// Servers whose lists and results are malformed, or made to block the page.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { createServer } from 'edgewise/server'
import { withLimits } from '../../examples/playground/page/form/limits.ts'
import { answers, startFaulty, type FaultyServer } from './faulty-servers.ts'
import { connectTo, isConnected, press, result, sees, show, visit } from './visit.ts'

const visited = visit(createServer({ name: 'own', version: '1.0.0' }))
const servers: FaultyServer[] = []
afterAll(() => servers.forEach((each) => each.close()))
// The browser logs the responses with an error
afterEach(() => {
  const { complaints } = visited
  complaints.push(...complaints.splice(0).filter((each) => !each.startsWith('Failed to load')))
})
let page: Page
beforeAll(() => void ({ page } = visited))

const plain = { name: 'plain', inputSchema: { type: 'object' } }

/** Connects to a server with these lists, whose tools return a result. */
async function connectToServer(tools: readonly unknown[], called: object = {}): Promise<void> {
  const server = await startFaulty(
    answers({
      'tools/list': () => ({ result: { tools } }),
      'tools/call': () => ({ result: called }),
    }),
  )
  servers.push(server)
  await connectTo(page, server.url)
  await isConnected(page, 'Connected to faulty')
}

/** Calls a tool that returns a result. */
async function call(called: object): Promise<void> {
  await connectToServer([plain], called)
  await show(page, 'tool/plain', 'plain')
  await press(page, 'Run')
  await sees(result(page), /^Done in/)
}

const content = (text: string): object => ({ content: [{ type: 'text', text }] })

describe('Playground: a text does not block the page, because searching it takes linear time,', () => {
  it.each([
    ['of line breaks', `x${'\n'.repeat(99_000)}x`],
    ['of pipes', `|${'|'.repeat(50_000)}x`],
    ['of unfinished emphasis', `# Title\n${'*a_'.repeat(33_000)}`],
  ])('if it consists %s', async (_, text) => {
    await call(content(text))
    await result(page).locator('.text, .markdown').first().waitFor()
  })

  it('if it is the description of a field with a limit', () => {
    const dots = '.'.repeat(300_000)
    expect(withLimits({ maxLength: 5 }, dots)).toBe(`${dots} At most 5 characters.`)
  })

  it('if it is the page of an error', async () => {
    const server = await startFaulty((_message, _request, response) => {
      response.setHeader('content-type', 'text/html')
      response.writeHead(502).end('<'.repeat(2_000_000))
      return undefined
    })
    servers.push(server)
    await connectTo(page, server.url)
    await sees(page.getByRole('main'), /The server answered HTTP 502/)
  })
})

describe('Playground: malformed content', () => {
  it('is shown as JSON, beside the content that is valid', async () => {
    await call({
      content: [
        { type: 'text' },
        null,
        { type: 'image', data: 5 },
        { type: 'resource', resource: { uri: 'a:b' } },
        { type: 'text', text: 'Valid' },
      ],
    })
    await sees(result(page).locator('p'), 'Valid')
    expect(await result(page).locator('.output .json').count()).toBe(4)
  })

  it('in a table has no members that rows inherit', async () => {
    const rows: object[] = [{ id: 1, constructor: 'Ada' }, { id: 2 }, { id: 3, constructor: 'Bob' }]
    await call({ content: [], structuredContent: { rows } })
    expect(await result(page).getByRole('cell').allInnerTexts()).toEqual([
      ...['1', 'Ada', '2', '', '3', 'Bob'],
    ])
  })
})

describe('Playground: a malformed list', () => {
  it('does not keep the page from connecting, and its entries say what is wrong', async () => {
    await show(page, 'server', 'faulty')
    const tools = [{ ...plain, annotations: null, title: {}, description: 5 }]
    await connectToServer(tools)
    await page.evaluate(() => (location.hash = '#/tool/plain'))
    await sees(page.getByRole('main'), /^TypeError: /)
    await show(page, 'server', 'faulty')
  })

  it('that cannot be read is named above the lists', async () => {
    const error = { code: -32603, message: 'The database is gone' }
    const server = await startFaulty(answers({ 'tools/list': () => ({ error }) }))
    servers.push(server)
    await connectTo(page, server.url)
    await isConnected(page, 'Connected to faulty')
    await sees(page.locator('#pages'), 'tools/list failed: The database is gone')
  })
})
