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

/** Connects to a server with its own answers. Each has a name of its own, which tells it from the one before. */
async function connectToServer(
  own: Parameters<typeof answers>[0],
  info: object = {},
): Promise<void> {
  const name = `faulty-${servers.length}`
  const initialized = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name, version: '1.0.0' },
    ...info,
  }
  const initialize = (): object => ({ result: initialized })
  const server = await startFaulty(answers({ initialize, ...own }))
  servers.push(server)
  await connectTo(page, server.url)
  await isConnected(page, `Connected to ${name} over`)
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

const listing = (...tools: readonly object[]): { 'tools/list'(): object } => ({
  'tools/list': () => ({ result: { tools } }),
})

/** Calls a tool that returns a result. */
async function call(called: object): Promise<void> {
  await connectToServer({ ...listing(plain), 'tools/call': () => ({ result: called }) })
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
  it('does not keep the page from showing what is wrong with an entry', async () => {
    await connectToServer(listing({ ...plain, annotations: null, title: {}, description: 5 }))
    await page.evaluate(() => (location.hash = '#/tool/plain'))
    await sees(page.getByRole('main'), /^TypeError: /)
  })

  it('that cannot be read is named above the lists', async () => {
    const error = { code: -32603, message: 'The database is gone' }
    await connectToServer({ 'tools/list': () => ({ error }) })
    await sees(page.locator('#pages'), 'tools/list failed: The database is gone')
  })
})

describe('Playground: a server that says too much or too little', () => {
  it('may have no extensions', async () => {
    await connectToServer({}, { capabilities: { tools: {}, extensions: null } })
    await sees(page.locator('.facts'), 'tools')
  })

  it('may have instructions and descriptions of any length, whose beginning is shown', async () => {
    const long = 'long text '.repeat(1_000_000)
    await connectToServer(listing({ ...plain, description: long }), { instructions: long })
    await page.getByRole('button', { name: 'Show all 10,000,000 characters' }).waitFor()
    await show(page, 'tool/plain', 'plain')
    expect((await page.locator('.description').innerText()).length).toBeLessThan(6_000)
  })

  it('may announce many changes, for which its lists are loaded only a few times', async () => {
    let count = 0
    const change = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    await connectToServer({
      'tools/list': () => ({ result: { tools: [{ ...plain, title: `Loaded ${++count}` }] } }),
      'tools/call'({ id }, _request, response) {
        response.setHeader('content-type', 'text/event-stream')
        response.write(`data: ${JSON.stringify(change)}\n\n`.repeat(300))
        const answer = { jsonrpc: '2.0', id, result: content('Done') }
        response.end(`data: ${JSON.stringify(answer)}\n\n`)
        return undefined
      },
    })
    await show(page, 'tool/plain', 'Loaded')
    await press(page, 'Run')
    await expect.poll(() => count).toBeGreaterThan(2)
    expect(count).toBeLessThan(100)
  })
})

describe('Playground: the focus stays near a button that disappears', () => {
  const focused = (): Promise<string | undefined> =>
    page.evaluate(() => document.activeElement?.ariaLabel ?? document.activeElement?.textContent)

  it('because all rows of a table are shown, or the history is empty', async () => {
    const rows = Array.from({ length: 60 }, (_, id) => ({ id, name: 'Ada' }))
    await call({ content: [], structuredContent: { rows } })
    await page.getByRole('button', { name: 'Show 10 more of 10' }).press('Enter')
    expect(await focused()).toBe('rows, 60 rows')
    await show(page, 'history', 'History')
    await page.getByRole('button', { name: 'Clear history' }).press('Enter')
    expect(await focused()).toBe('History')
  })

  it('because it has connected to a server', async () => {
    await press(page, 'Disconnect')
    await page.getByRole('button', { name: /^Server of this page/ }).press('Enter')
    await isConnected(page, 'Connected to own')
    await expect.poll(focused).toBe('own')
  })
})

it.each(['?tab=-1', '?tab=7', '?timeoutMs=-5'])(
  'Playground: a link with %s opens the server of the page',
  async (query) => {
    const own = await visited.open(query)
    await show(own, 'server', 'own')
    expect(new URL(own.url()).searchParams.get('tab')).toBeNull()
  },
)
