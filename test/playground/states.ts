// The main states of the page, each from the one before.
import type { Page } from 'playwright-core'
import {
  answers,
  endless,
  forgetful,
  invalidTool,
  otherResource,
  type startFaulty,
} from './faulty-servers.ts'
import { connectTo, dialog, isConnected, press, result, sees, show, showAddress } from './visit.ts'

/** Shows the timeline, which is a place of its own on a narrow screen. */
export async function showTimeline(page: Page): Promise<void> {
  const place = page.locator('#places').getByRole('button', { name: 'Timeline' })
  if (await place.isVisible()) await place.click()
  await page.locator('.entry').first().waitFor()
}

/** What the page shows, and how a person gets there. */
export const states: readonly [what: string, reach: (page: Page) => Promise<void>][] = [
  [
    'the server',
    async (page) => {
      await show(page, 'server', 'Edgewise demo')
      await page.getByText('Definition').click()
    },
  ],
  [
    'saved servers',
    async (page) => {
      await showAddress(page)
      await press(page, 'Saved servers')
      await press(page, 'Save this server')
    },
  ],
  [
    'the settings, of which one is invalid',
    async (page) => {
      await page.keyboard.press('Escape')
      await press(page, 'Settings')
      await dialog(page).getByLabel('Roots').fill('/home/ada')
      await press(page, 'Apply')
      await sees(dialog(page), /is not a file URI/)
    },
  ],
  [
    'a form of every kind of field',
    async (page) => {
      await page.keyboard.press('Escape')
      await show(page, 'tool/order', 'Order a pizza')
      await press(page, 'Add to notes')
    },
  ],
  ['its value as JSON', (page) => press(page, 'Edit as JSON')],
  [
    'progress',
    async (page) => {
      await show(page, 'tool/count', 'Count slowly')
      await page.getByLabel('pauseMs').fill('2000')
      await press(page, 'Run')
      await sees(result(page), /^Step \d of 8$/)
    },
  ],
  [
    'what was cancelled',
    async (page) => {
      await press(page, 'Cancel')
      await sees(result(page), 'Cancelled')
    },
  ],
  [
    'an error of a tool',
    async (page) => {
      await show(page, 'tool/fail', 'Fail')
      await press(page, 'Run')
      await sees(result(page), /reported an error/)
    },
  ],
  [
    'an expanded entry of the timeline',
    async (page) => {
      await showTimeline(page)
      const entry = page.locator('.entry[data-kind=request]').last()
      await entry.locator('summary').first().click()
      await entry.locator('.json').first().waitFor()
      await entry.getByText('POST').first().click()
    },
  ],
  [
    'the filters of the timeline',
    async (page) => {
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByRole('button', { name: 'Requests' }).click()
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
    },
  ],
  [
    'structured content',
    async (page) => {
      await show(page, 'tool/calculate', 'Calculate')
      await page.getByLabel('a', { exact: true }).fill('6')
      await page.getByLabel('b', { exact: true }).fill('7')
      await press(page, 'Run')
      await sees(result(page), '6 + 7 = 13')
    },
  ],
  [
    'a resource',
    async (page) => {
      await show(page, 'resource/demo%3A%2F%2Fcities', 'Cities')
      await sees(result(page), 'Japan')
    },
  ],
  ['a template', (page) => show(page, 'template/demo%3A%2F%2Fcities%2F%7Bcity%7D', 'City')],
  [
    'the messages of a prompt',
    async (page) => {
      await show(page, 'prompt/plan', 'Plan a trip')
      await page.getByLabel('city').fill('Quito')
      await press(page, 'Get messages')
      await sees(result(page), 'Plan three calm days in Quito.')
    },
  ],
  ['what is not there', (page) => show(page, 'tool/nope', 'No such tool')],
  ['a question with a form', asks('book', 'Book a trip', 'When do you arrive in Oslo')],
  ['the question, put aside', (page) => press(page, 'Answer later')],
  ['the question again', (page) => press(page, 'Answer')],
  ['a question for a page', asks('sign', 'Sign on a page', 'The contract waits')],
  [
    'a question for a model',
    async (page) => {
      await asks('postcard', 'Write a postcard', 'Who gets the postcard')(page)
      await page.getByLabel('Name', { exact: true }).fill('Ada')
      await press(page, 'Send')
      await sees(dialog(page), 'The server requests a model’s answer')
    },
  ],
]

/** What the page shows about failures, which the browser logs as errors, after {@link states}. */
export const failures: readonly [
  what: string,
  reach: (page: Page, start: typeof startFaulty) => Promise<void>,
][] = [
  [
    'a response that CORS blocks',
    async (page, start) => {
      await press(page, 'Decline')
      const allowed = { 'access-control-allow-headers': 'content-type' }
      await connectTo(page, (await start(answers({}), allowed)).url)
      await sees(page.getByRole('main'), /^Access-Control-Allow-Headers: /)
    },
  ],
  [
    'metadata of another resource, among the steps of a sign-in',
    async (page, start) => {
      await connectTo(page, (await start(otherResource)).url)
      await sees(page.locator('.steps [data-state=failed]'), /; set it to/)
      await page.getByText('Details').click()
    },
  ],
  [
    'a tool with an invalid schema, whose call takes long',
    async (page, start) => {
      const tools = { 'tools/list': () => ({ result: { tools: [invalidTool] } }) }
      await connectTo(page, (await start(answers({ ...tools, 'tools/call': endless }))).url)
      await isConnected(page, 'Connected to faulty')
      await show(page, 'tool/create', 'create')
      await page.locator('#catalog .flag').waitFor()
      await sees(page.getByRole('main'), /of the input schema is "text"/)
      await page.getByLabel('amount').fill('1')
      await press(page, 'Run')
      await sees(page.locator('.elapsed'), /times out in/)
    },
  ],
  [
    'a session that was lost, and questions that ended in each way',
    async (page, start) => {
      await connectTo(page, (await start(forgetful())).url)
      await isConnected(page, 'Connected to faulty')
      await show(page, 'tool/plain', 'plain')
      await press(page, 'Run')
      await sees(result(page), 'The session was lost (404) and opened again')
      const buffer = Buffer.from(JSON.stringify(questionsSession))
      await page
        .locator('.timeline input[type=file]')
        .setInputFiles({ name: 'questions.json', mimeType: 'application/json', buffer })
      // An earlier state shows requests only
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByRole('button', { name: 'Requests' }).click()
      for (const ending of endings) await sees(page.locator('.entry'), ending)
    },
  ],
]

/** How questions end. The first ones end by a response, the others by the code of an error. */
const endings = ['answered', 'declined', 'cancelled', 'connection lost', 'timed out']
const actions = ['accept', 'decline', 'cancel']
const codes = ['NETWORK', 'TIMEOUT']

/** A session with a question of each ending, as a file of the timeline has it. */
const questionsSession = {
  format: 'edgewise-session',
  version: 1,
  startedAt: '2026-07-28T12:00:00.000Z',
  settings: { url: 'https://example.com/mcp' },
  records: endings.flatMap((_, index) => {
    const http = { http: 2 * index, client: 1, method: 'POST', url: 'https://example.com/mcp' }
    const method = 'elicitation/create'
    const params = { message: `Question ${index}`, requestedSchema: { type: 'object' } }
    const rpc = { jsonrpc: '2.0', id: index }
    const call = { ...rpc, method: 'tools/call', params: { name: `ask-${index}` } }
    const at = 100 * index
    const action = actions[index]
    const answer = {
      ...http,
      http: 2 * index + 1,
      headers: {},
      json: { ...rpc, result: { action } },
    }
    const code = codes[index - actions.length]
    return [
      { type: 'request', at, ...http, headers: {}, json: call },
      { type: 'message', at: at + 10, http: http.http, json: { ...rpc, method, params } },
      action === undefined
        ? { type: 'unanswered', at: at + 50, method, params, code }
        : { type: 'request', at: at + 50, ...answer },
    ]
  }),
}

/** Gets from one question to that of another tool. */
function asks(tool: string, title: string, question: string): (page: Page) => Promise<void> {
  return async (page) => {
    if (await dialog(page).isVisible()) {
      await press(page, 'Decline')
      await sees(result(page), /^Done in/)
    }
    await show(page, `tool/${tool}`, title)
    const city = page.getByLabel('city')
    if (await city.isVisible()) await city.selectOption('Oslo')
    await press(page, 'Run')
    await sees(dialog(page), question)
  }
}
