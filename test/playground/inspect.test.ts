// The playground as `edgewise inspect` serves it: in a real Chromium, and next to a page that must not
// reach it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { serve } from '../../runtimes/node/index.ts'
import type { HttpServer } from '../../src/transport/index.ts'
import { start, type Running } from '../runtimes/node/cli/run.ts'
import { makeServer } from '../runtimes/node/cli/server.ts'
import { PATIENCE } from '../patience.ts'
import { openChromium, type SharedBrowser } from '../runtimes/chromium.ts'
import { dialog, isConnected, press, sees, show } from './visit.ts'

let http: HttpServer
let browser: SharedBrowser
let inspect: Running
let address: string

beforeAll(async () => {
  ;[http, browser] = await Promise.all([serve(makeServer()), openChromium()])
  inspect = start('inspect', http.url, '--revision', '2025-06-18')
  await vi.waitFor(() => expect(inspect.outcome.out).toMatch(/^http:.*\n/), PATIENCE)
  address = inspect.outcome.out.trim()
})
afterAll(async () => {
  await browser.close()
  inspect.child.kill('SIGTERM')
  await inspect.ended
  await http.close()
})

describe('Playground: as edgewise inspect serves it', () => {
  it('connects to the server below its secret path, under its policy [P001] [S015]', async () => {
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    await page.goto(address)
    await isConnected(page, 'Connected to shop over MCP 2025-06-18')
    await page.reload()
    await isConnected(page, 'Connected to shop over MCP 2025-06-18')
    expect(complaints).toEqual([])
  })

  it('names the server that asks a question, not the address that forwards it', async () => {
    const page = await browser.newPage()
    await page.goto(address)
    await isConnected(page)
    await show(page, 'tool/ask', 'ask')
    await press(page, 'Run')
    await sees(dialog(page), `From ${new URL(http.url).host} (“shop”)`)
  })

  it('cannot be read, called or framed by another page, even one that knows its address [S003] [S015]', async () => {
    const other = createServer((_, response) => {
      response.setHeader('content-type', 'text/html').end(`<iframe src="${address}"></iframe>`)
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
    const outcomes = await page.evaluate(
      async (url) => {
        const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
        const attempt = (init: RequestInit): Promise<string> =>
          fetch(url, init).then(
            (response) => `${response.type} ${response.status}`,
            () => 'refused',
          )
        const json = { 'content-type': 'application/json' }
        return Promise.all([
          attempt({}),
          attempt({ method: 'POST', body }),
          attempt({ method: 'POST', body, headers: json }),
        ])
      },
      `${new URL('mcp', address)}`,
    )
    expect(outcomes).toEqual(['refused', 'refused', 'refused'])
    const framed = page.frames()[1]
    expect(await framed?.title()).not.toContain('Edgewise')
    other.close()
  })
})
