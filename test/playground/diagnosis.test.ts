// Why a server misbehaves, as a new user sees it: one server for each fault.
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest'
import { server } from '../../examples/playground/server.ts'
import { answers, startFaulty, type Answer, type FaultyServer } from './faulty-servers.ts'
import { connectTo, sees, visit } from './visit.ts'

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

describe('The playground explains', () => {
  it('a server whose CORS headers omit those of the protocol', async () => {
    await connectToFaulty(answers({}), { 'access-control-allow-headers': 'content-type' })
    await sees(page.locator('#status'), 'the browser blocks the response (CORS)')
    const main = page.getByRole('main')
    await sees(main, `Access-Control-Allow-Origin: ${visited.url}`)
    await sees(page.locator('.entry'), 'answered, but not readable by the page')
    await page.getByLabel('Protocol revision').selectOption('2025-11-25')
    await sees(main, 'also has the header Mcp-Protocol-Version, which')
  })

  it('a server whose metadata is that of another resource', async () => {
    const { url } = await connectToFaulty((_, request) => {
      if (request.url !== '/.well-known/oauth-protected-resource/mcp') return 401
      const resource = 'https://other.example/mcp'
      return { resource, authorization_servers: ['https://other.example'] }
    })
    const advice = `“resource” is https://other.example/mcp; set it to ${url}`
    await sees(page.locator('.steps [data-state=failed]'), advice)
  })
})
