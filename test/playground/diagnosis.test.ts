// Why a server misbehaves, as a new user sees it: one server for each fault.
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { PATIENCE } from '../patience.ts'
import {
  answers,
  endless,
  forgetful,
  initialized,
  invalidTool,
  listPlain,
  otherResource,
  startFaulty,
  type Answer,
  type FaultyServer,
} from './faulty-servers.ts'
import { connectTo, dialog, isConnected, press, result, sees, show, visit } from './visit.ts'

const visited = visit(server)
let page: Page
const running: FaultyServer[] = []
beforeAll(() => void ({ page } = visited))
// The browser logs the requests that fail
afterEach(() => void visited.complaints.splice(0))
afterAll(() => running.forEach((each) => each.close()))

/** Connects the page to a server that answers so. */
async function connectToFaulty(
  answer: Answer,
  headers?: Readonly<Record<string, string>>,
): Promise<FaultyServer> {
  const started = await startFaulty(answer, headers)
  running.push(started)
  await connectTo(page, started.url)
  return started
}

const totalTool = {
  name: 'total',
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object', properties: { total: { type: 'number' } } },
}

describe('The playground explains', () => {
  it('a server whose CORS headers omit those of the protocol', async () => {
    await connectToFaulty(answers({}), { 'access-control-allow-headers': 'content-type' })
    await sees(page.locator('#status'), 'the browser blocks the response (CORS)')
    const main = page.getByRole('main')
    const missing =
      /allows pages of .* does not list MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID, Mcp-Method, Mcp-Name\./
    await sees(main, missing)
    await sees(main, /^Access-Control-Allow-Headers: /)
    await sees(page.locator('.entry'), 'answered, but not readable by the page')
    await sees(page.locator('.entry[data-kind=check]'), 'CORS test')
  })

  it('a server whose metadata is that of another resource', async () => {
    const { url } = await connectToFaulty(otherResource)
    const advice = `“resource” is https://other.example/mcp; set it to ${url}`
    await sees(page.locator('.steps [data-state=failed]'), advice)
  })

  it('a tool with an invalid schema, and a result that does not match its schema', async () => {
    await connectToFaulty(
      answers({
        'tools/list': () => ({ result: { tools: [invalidTool, totalTool] } }),
        'tools/call': () => ({ result: { content: [], structuredContent: { total: '120' } } }),
      }),
    )
    await isConnected(page, 'Connected to faulty')
    await page.locator('#catalog a', { hasText: 'create' }).locator('.flag').waitFor()
    await show(page, 'tool/create', 'create')
    await sees(page.getByRole('main'), '"#/properties/customer/type" of the input schema is "text"')
    await page.getByLabel('amount').waitFor()
    await show(page, 'tool/total', 'total')
    await press(page, 'Run')
    await sees(result(page), /does not match the output schema: total must be of type “number”/)
    await page.locator('.run[data-state=failed]').waitFor()
    const call = page.locator('.entry[data-level=warning]', { hasText: 'tools/call' })
    await sees(call, /does not match the output schema: total/)
    await show(page, 'history', 'History')
    await sees(
      page.locator('.calls [data-state=warned]'),
      /does not match the output schema: total/,
    )
  })

  it('a session that the server has lost, although the client recovers', async () => {
    await connectToFaulty(forgetful())
    await isConnected(page, 'Connected to faulty')
    await show(page, 'tool/plain', 'plain')
    await press(page, 'Run')
    await sees(result(page), 'The session was lost (404) and opened again')
    await sees(result(page), /several processes .* Or one process deletes it early/)
    await page.locator('.run[data-state=warned]').waitFor()
    await show(page, 'history', 'History')
    await sees(page.locator('.calls [data-state=warned]'), 'The session was lost (404)')
    await sees(page.locator('.entry[data-failed]'), 'error -32001 Session not found')
    const discovery = page.locator('.entry', { hasText: 'server/discover' }).last()
    await sees(discovery, 'not supported: error -32601')
    expect(await discovery.getAttribute('data-failed')).toBeNull()
    await show(page, 'tool/plain', 'plain')
    await press(page, 'Check this server')
    await page.getByRole('heading', { name: 'Check', level: 1 }).waitFor()
    await page.getByRole('region', { name: 'Findings' }).waitFor()
  })

  it('a server of a revision that no client has, and checks it', async () => {
    await connectToFaulty(answers({ initialize: () => initialized('2024-10-07') }))
    const main = page.getByRole('main')
    await sees(page.locator('#status'), 'answered “initialize” with the revision “2024-10-07”')
    await sees(main, 'The revision “2024-10-07” was never published.')
    await sees(page.locator('.entry[data-failed]'), 'initialize')
    await sees(page.locator('.mark[data-failed]'), 'revision “2024-10-07”')
    await press(page, 'Check this server')
    await main.getByText('version-negotiation').waitFor()
    await page.getByLabel('Protocol revision').selectOption('2025-06-18')
    await sees(main, 'The revision “2024-10-07” was never published.')
    await page.getByLabel('Protocol revision').selectOption('auto')
  })

  it('a session whose id the page cannot read, and the list that fails for that', async () => {
    const refuse: Answer = (_message, _request, response) => {
      response.statusCode = 400
      return { error: { code: -32_000, message: 'Bad Request: Mcp-Session-Id header is required' } }
    }
    const hidden = { 'access-control-expose-headers': 'www-authenticate' }
    const opening: Answer = (_message, _request, response) => {
      response.setHeader('mcp-session-id', 'session-1')
      return initialized()
    }
    const { url } = await connectToFaulty(
      answers({ initialize: opening, 'tools/list': refuse }),
      hidden,
    )
    await isConnected(page, 'Connected to faulty')
    await sees(page.locator('#status-step'), 'failed: tools/list')
    await page.getByRole('tab', { name: /a list failed/ }).waitFor()
    const failed = 'tools/list failed: Bad Request: Mcp-Session-Id header is required'
    await sees(page.locator('#catalog'), failed)
    expect(await page.getByText('The server lists nothing').count()).toBe(0)
    await show(page, 'tool/unlisted', 'No such tool')
    const main = page.getByRole('main')
    await sees(main, /The server may have it, but tools\/list failed/)
    await show(page, 'server', 'faulty')
    await sees(main, 'without a session id')
    await sees(main, /this page received no “Mcp-Session-Id”/)
    await sees(main, 'Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate')
    await sees(main, new RegExp(`^curl .*${url}`))
    await press(page, 'Check this server')
    await sees(main, /received no "Mcp-Session-Id".* The rest was not checked/)
    await sees(main, /^The CORS headers of the server keep Web pages from using it\.$/)
    // The lists need no session, but the calls do
    const ready = { initialize: opening, 'tools/list': listPlain, 'tools/call': refuse }
    await connectToFaulty(answers(ready), hidden)
    await page.locator('#catalog a', { hasText: 'plain' }).waitFor()
    await show(page, 'tool/plain', 'plain')
    await press(page, 'Run')
    await sees(result(page), /this page received no “Mcp-Session-Id”/)
  })

  it('a check that gets no response, and what it waits for', async () => {
    await connectToFaulty(answers({ 'tools/list': listPlain, 'tools/call': () => undefined }))
    await isConnected(page, 'Connected to faulty')
    await show(page, 'server', 'faulty')
    await page.clock.install()
    await press(page, 'Check this server')
    const findings = page.getByRole('region', { name: 'Findings' })
    await sees(findings, /^Waiting for the response to tools\/call “edgewise-unknown-tool” · \d+ s/)
    const check = page.locator('.entry[data-kind=check]').last()
    await check.and(page.locator('[data-running]')).waitFor()
    await page.clock.fastForward(31_000)
    await sees(findings, /^Stopped without a response: 1 error/)
    await sees(findings, /within 30000 ms\. The server may just be slow\. The rest was not checked/)
    await check.locator('summary').first().click()
    await sees(page.locator('.entry[data-member][data-failed]'), 'no response')
  })

  it('a tool that takes too long, although its stream is alive', async () => {
    await connectToFaulty(answers({ 'tools/list': listPlain, 'tools/call': endless }))
    await isConnected(page, 'Connected to faulty')
    await show(page, 'tool/plain', 'plain')
    await page.clock.install()
    await press(page, 'Run')
    await sees(page.locator('.elapsed'), /times out in \d+ s/)
    await page.locator('#catalog [href="#/tool/plain"] .busy').waitFor()
    await page.getByRole('tab', { name: /a call is running/ }).waitFor()
    await page.clock.fastForward(6_000)
    const explained = /keeps the stream alive .* no progress, so the call times out after 60 s/
    await sees(result(page), explained)
    const announced = page.locator('.hidden[role=status]')
    expect(await announced.innerText()).toMatch(explained)
    await show(page, 'history', 'History')
    expect(await announced.innerText()).toBe('')
    await show(page, 'tool/plain', 'plain')
    await page.clock.fastForward(55_000)
    await sees(result(page), /^The call timed out after 60 s/)
    await sees(result(page), /The connection is alive: the server sent 1 keep-alive comment/)
    await sees(page.locator('.entry[data-failed]'), 'timed out')
    await press(page, 'Run again with 5 minutes')
    await sees(page.locator('.elapsed'), /times out in (?:300|29\d) s/)
    // What a call waits for is not announced in another view
    await show(page, 'history', 'History')
    await page.clock.fastForward(6_000)
    expect(await announced.innerText()).toBe('')
    await show(page, 'tool/plain', 'plain')
    await sees(result(page), /has reported no progress/)
    await press(page, 'Cancel')
    await page.locator('.busy').waitFor({ state: 'detached' })
  })

  it('a prompt that takes too long, which then has the longer time', async () => {
    const serverInfo = { name: 'faulty', version: '1.0.0' }
    const capabilities = { prompts: {} }
    await connectToFaulty(
      answers({
        initialize: () => ({ result: { protocolVersion: '2025-11-25', capabilities, serverInfo } }),
        'prompts/list': () => ({ result: { prompts: [{ name: 'slow' }] } }),
        'prompts/get': endless,
      }),
    )
    await isConnected(page, 'Connected to faulty')
    await show(page, 'prompt/slow', 'slow')
    await page.clock.install()
    await press(page, 'Get messages')
    await sees(page.locator('.elapsed'), /times out in \d+ s/)
    await page.clock.fastForward(61_000)
    await sees(result(page), /^The call timed out after 60 s/)
    await press(page, 'Run again with 5 minutes')
    await sees(page.locator('.elapsed'), /times out in (?:300|29\d) s/)
    await page.clock.fastForward(290_000)
    await sees(page.locator('.elapsed'), /times out in \d s/)
    await press(page, 'Cancel')
    await page.locator('.busy').waitFor({ state: 'detached' })
  })

  it('a call that succeeds late, and without progress', async () => {
    const finishers: (() => void)[] = []
    const slow: Answer = ({ id }, _request, response) => {
      const done = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'Late' }] } }
      finishers.push(() => void response.end(JSON.stringify(done)))
      response.setHeader('content-type', 'application/json')
      return undefined
    }
    await connectToFaulty(answers({ 'tools/list': listPlain, 'tools/call': slow }))
    await isConnected(page, 'Connected to faulty')
    await show(page, 'tool/plain', 'plain')
    await page.clock.install()
    const runFor = async (ms: number, button = 'Run'): Promise<void> => {
      const before = finishers.length
      await press(page, button)
      await vi.waitUntil(() => finishers.length > before, PATIENCE)
      await page.clock.fastForward(ms)
      finishers.at(-1)?.()
    }
    await runFor(20_000)
    await page.locator('.run[data-state=done]').waitFor()
    await runFor(61_000)
    await sees(result(page), /^The call timed out after 60 s/)
    await runFor(100_000, 'Run again with 5 minutes')
    await page.locator('.run[data-state=warned]').waitFor()
    await sees(result(page), /^It took \d min \d+ s and reported no progress/)
    await sees(result(page), /give up after 60 s by default/)
    await show(page, 'history', 'History')
    await sees(page.locator('.calls [data-state=warned]'), 'reported no progress')
  })

  it('no slow call if the time was spent waiting for the answer of the user', async () => {
    let finish: (() => void) | undefined
    const ask: Answer = ({ id }, _request, response) => {
      const write = (message: object): boolean =>
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
      response.setHeader('content-type', 'text/event-stream')
      const params = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } }
      write({ id: 'question', method: 'elicitation/create', params })
      finish = () => {
        write({ id, result: { content: [{ type: 'text', text: 'Sure' }] } })
        response.end()
      }
      return undefined
    }
    const answered: Answer = () => {
      finish?.()
      return 202
    }
    await connectToFaulty(answers({ 'tools/list': listPlain, 'tools/call': ask, '': answered }))
    await isConnected(page, 'Connected to faulty')
    await show(page, 'tool/plain', 'plain')
    await page.clock.install()
    await press(page, 'Run')
    await sees(dialog(page), 'Sure?')
    await page.clock.fastForward(100_000)
    await dialog(page).getByRole('button', { name: 'Send' }).click()
    await sees(result(page), /^Done in .*, plus 1 min \d+ s waiting for answers/)
    await page.locator('.run[data-state=done]').waitFor()
  })
})

it('The playground tells servers with the same name apart by their ports', async () => {
  const portOf = ({ url }: FaultyServer): string => new URL(url).port
  const first = portOf(await connectToFaulty(answers({ 'tools/list': listPlain })))
  await isConnected(page, 'Connected to faulty')
  await page.getByRole('tab', { name: 'faulty', exact: true }).waitFor()
  await press(page, 'Open another server')
  const second = portOf(await connectToFaulty(answers({ 'tools/list': listPlain })))
  for (const port of [first, second])
    await page.getByRole('tab', { name: `faulty :${port}`, exact: true }).waitFor()
  await page.getByRole('tab', { selected: true }).press('Delete')
  await page.getByRole('tab', { name: 'faulty', exact: true }).waitFor()
})
