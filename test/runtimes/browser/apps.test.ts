// The transport under MCP Apps, between our side and the official SDK's:
// https://github.com/modelcontextprotocol/ext-apps
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openChromium, type SharedBrowser } from '../chromium.ts'
import type { Everything } from './scripts/everything.ts'
import { startSite, type Site } from './site.ts'

/** Inside pages only. */
declare const edgewise: Everything
declare const host: (view: Window) => Promise<unknown>

let site: Site
let browser: SharedBrowser
let page: Page

beforeAll(async () => {
  ;[site, browser] = await Promise.all([
    startSite(['everything', 'official-view', 'official-host']),
    openChromium(),
  ])
  // The view has an opaque origin
  const view = site.assets.get('/official-view.js')!
  const headers = { 'access-control-allow-origin': '*' }
  site.assets.set('/official-view.js', { ...view, headers })
  page = await browser.newPage()
  await page.goto(`${site.origin}/everything.html`)
  await page.waitForFunction('typeof edgewise === "object"')
})
afterAll(async () => {
  await browser.close()
  await site.stop()
})

describe('A host of MCP Apps over the transport', () => {
  it('serves an official view in a sandboxed frame: greeting, input, tools, logs', async () => {
    const result = await page.evaluate(async (script) => {
      const { port1, port2 } = new MessageChannel()
      void edgewise.serveTransport(edgewise.portable, edgewise.messagePortTransport(port2))
      const client = await edgewise.connect(edgewise.messagePortTransport(port1))

      // No pause from here on: the view sends the first message, which must be received.
      const frame = document.createElement('iframe')
      frame.setAttribute('sandbox', 'allow-scripts')
      frame.srcdoc = `<script type="module" src="${script}"></script>`
      document.body.append(frame)
      const view = edgewise.windowTransport(frame.contentWindow!, {
        origin: 'null',
        handshake: false,
      })
      return await new Promise((resolve) => {
        const methods: string[] = []
        void view.start({
          async message(frame) {
            const { id, method, params } = frame as {
              id: number
              method: string
              params: { name: string; arguments: Record<string, unknown>; data: unknown }
            }
            methods.push(method)
            const answer = (result: object): Promise<void> =>
              view.send({ jsonrpc: '2.0', id, result: { ...result } })
            if (method === 'ui/initialize') {
              await answer({
                protocolVersion: '2026-01-26',
                hostInfo: { name: 'edgewise', version: '1' },
                hostCapabilities: { serverTools: {}, logging: {} },
                hostContext: {},
              })
            } else if (method === 'ui/notifications/initialized') {
              const input = { arguments: { city: 'Oslo' } }
              await view.send({
                jsonrpc: '2.0',
                method: 'ui/notifications/tool-input',
                params: input,
              })
            } else if (method === 'tools/call') {
              await answer(await client.callTool(params.name, params.arguments))
            } else if (method === 'notifications/message') resolve([methods, params.data])
          },
          malformed: ({ message }) => resolve(message),
          closed: () => resolve('closed'),
        })
      })
    }, `${site.origin}/official-view.js`)
    const [methods, data] = result as [string[], unknown]
    expect(data).toEqual({ structuredContent: { sum: 3 }, input: { city: 'Oslo' } })
    expect(methods.slice(0, 2)).toEqual(['ui/initialize', 'ui/notifications/initialized'])
    expect(methods).toContain('tools/call')
  })
})

describe('A view of MCP Apps over the transport', () => {
  it('is served by an official host, whose origin it learns from the first message', async () => {
    const outer = await browser.newPage()
    await outer.goto(`${site.origin}/official-host.html`)
    await outer.waitForFunction('typeof host === "function"')
    const seen = await outer.evaluate(async (src) => {
      const frame = document.createElement('iframe')
      const loaded = new Promise((resolve) => frame.addEventListener('load', resolve))
      frame.src = src
      document.body.append(frame)
      await loaded
      return 'loaded'
    }, `${site.other}/everything.html`)
    expect(seen).toBe('loaded')
    const inner = outer.frames()[1]!
    await inner.waitForFunction('typeof edgewise === "object"')
    const hosted = outer.evaluate(() => host(frames[0]!))
    await outer.waitForFunction('globalThis.hosts')
    const taken = await inner.evaluate(async () => {
      const transport = edgewise.windowTransport(parent, { origin: '*', handshake: false })
      const answers: unknown[] = []
      return await new Promise((resolve) => {
        const done = (): void => {
          if (answers.length === 3) resolve(answers)
        }
        void transport.start({
          message(frame) {
            const { id, method, params, result } = frame as {
              id?: number
              method?: string
              params?: { arguments: unknown }
              result?: { hostInfo?: { name: string }; content?: unknown }
            }
            if (id === 1) {
              answers.push(result?.hostInfo?.name)
              void transport.send({ jsonrpc: '2.0', method: 'ui/notifications/initialized' })
              const call = { name: 'book', arguments: {} }
              void transport.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: call })
            } else if (id === 2) answers.push(result?.content)
            else if (method === 'ui/notifications/tool-input') answers.push(params?.arguments)
            done()
          },
          malformed: ({ message }) => resolve(message),
          closed: () => resolve('closed'),
        })
        const params = {
          protocolVersion: '2026-01-26',
          appInfo: { name: 'edgewise-view', version: '1' },
          appCapabilities: {},
        }
        void transport.send({ jsonrpc: '2.0', id: 1, method: 'ui/initialize', params })
      })
    })
    expect(await hosted).toMatchObject({ name: 'edgewise-view' })
    expect(taken).toHaveLength(3)
    expect(taken).toEqual(
      expect.arrayContaining([
        'official-host',
        [{ type: 'text', text: 'ran book' }],
        { city: 'Oslo' },
      ]),
    )
  })
})
