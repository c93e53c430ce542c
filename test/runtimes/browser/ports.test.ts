// MCP wherever a page can talk, in a real Chromium: workers, frames, windows, channels.
import type { Client } from 'edgewise/client'
import { toNodeListener } from 'edgewise/node'
import { createHandler, createServer } from 'edgewise/server'
import type { BrowserContext, Page } from 'playwright-core'

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openChromium, type SharedBrowser } from '../chromium.ts'
import type { Everything } from './scripts/everything.ts'
import { complaintsOf, startSite, type Site } from './site.ts'

/** Inside pages only. */
declare const edgewise: Everything
declare const client: Client
declare const connecting: Promise<Client>

const far = createServer({ name: 'far', version: '1.0.0' })
far.tool('greet', {}, () => 'Hello from afar')

let site: Site
let browser: SharedBrowser
let context: BrowserContext
let page: Page
let complaints: string[]
/** What Chromium says of frames that show another page as yet, and of scripts that are not there. */
const EXPECTED = /does not match the recipient window's origin|\b404\b/

beforeAll(async () => {
  ;[site, browser] = await Promise.all([
    startSite(['everything', 'worker', 'frame'], toNodeListener(createHandler(far))),
    openChromium(),
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
  await page.goto(`${site.origin}/everything.html`)
  await ready(page)
})
afterEach(async () => {
  await context.close()
  expect(complaints.filter((text) => !EXPECTED.test(text))).toEqual([])
})

async function ready(opened: Page): Promise<void> {
  await opened.waitForFunction('typeof edgewise === "object"')
}

describe('A server in a dedicated worker', () => {
  it('answers the page, and asks it', async () => {
    const result = await page.evaluate(async () => {
      const worker = new Worker('/worker.js', { type: 'module' })
      const client = await edgewise.connect(edgewise.openPort(worker), {
        onElicit: () => ({ action: 'accept', content: { city: 'Oslo' } }),
      })
      const texts = []
      for (const call of [
        client.callTool('add', { a: 2, b: 3 }),
        client.callTool('scope'),
        client.callTool('ask'),
      ]) {
        const [block] = (await call).content
        texts.push(block?.type === 'text' && block.text)
      }
      return [client.revision, client.serverInfo?.name, ...texts]
    })
    expect(result).toEqual(['2026-07-28', 'worker', '5', 'DedicatedWorkerGlobalScope', 'Oslo'])
  })

  it('is noticed to be gone when it is terminated, by calls too', async () => {
    const result = await page.evaluate(async () => {
      const worker = new Worker('/worker.js', { type: 'module' })
      const client = await edgewise.connect(edgewise.openPort(worker))
      const call = client.callTool('hang').catch((error) => error.code)
      await client.callTool('add', { a: 1, b: 1 })
      worker.terminate()
      return [await call, await client.callTool('scope').catch((error) => error.message)]
    })
    expect(result).toEqual(['CLOSED', 'The connection is closed: The other end is gone'])
  })

  it('leaves no call waiting when its port is closed, where ports have no close event [P026]', async () => {
    const result = await page.evaluate(async () => {
      const { port1, port2 } = new MessageChannel()
      for (const port of [port1, port2]) {
        const listen = port.addEventListener.bind(port)
        port.addEventListener = (type: string, ...rest: [EventListenerOrEventListenerObject]) => {
          if (type !== 'close') listen(type, ...rest)
        }
      }
      void edgewise.serveTransport(edgewise.portable, edgewise.messagePortTransport(port2))
      const client = await edgewise.connect(edgewise.messagePortTransport(port1))
      const [held = []] = [(await navigator.locks.query()).held]
      // Never answered, because the other side no longer reads
      const call = client.ping().then(() => client.ping())
      port2.close()
      return [
        held.some(({ name }) => name?.startsWith('edgewise-port-')),
        await call.catch((error) => error.code),
      ]
    })
    expect(result).toEqual([true, 'CLOSED'])
  })

  it('that cannot be loaded is an error at once', async () => {
    const result = await page.evaluate(() =>
      edgewise
        .connect(edgewise.openPort(new Worker('/none.js', { type: 'module' })))
        .catch((error) => [error.code, error.message]),
    )
    expect(result).toEqual(['CLOSED', 'The worker failed: its script cannot be loaded'])
  })
})

describe('A page that is no secure context, without locks and random UUIDs,', () => {
  it('reaches its worker, and notices when that is gone', async () => {
    await page.goto(`${site.origin.replace('localhost', 'plain.test')}/everything.html`)
    await ready(page)
    const result = await page.evaluate(async () => {
      const worker = new Worker('/worker.js', { type: 'module' })
      const port = edgewise.openPort(worker, { silenceMs: 3000 })
      const client = await edgewise.connect(port)
      const call = client.callTool('hang').catch((error) => error.code)
      const { content } = await client.callTool('scope')
      worker.terminate()
      return [isSecureContext, 'locks' in navigator, content, await call]
    })
    const text = 'DedicatedWorkerGlobalScope'
    expect(result).toEqual([false, false, [{ type: 'text', text }], 'CLOSED'])
  })
})

describe('A server in a shared worker', () => {
  it('serves all pages, and notices when one is gone', async () => {
    const call = (name: string): Promise<unknown> =>
      page.evaluate(async (tool) => {
        const worker = new SharedWorker('/worker.js', { type: 'module', name: 'mcp' })
        const client = await edgewise.connect(edgewise.openPort(worker))
        return (await client.callTool(tool)).content
      }, name)
    expect(await call('scope')).toEqual([{ type: 'text', text: 'SharedWorkerGlobalScope' }])

    const second = await context.newPage()
    await second.goto(`${site.origin}/everything.html`)
    await ready(second)
    await second.evaluate(async () => {
      const worker = new SharedWorker('/worker.js', { type: 'module', name: 'mcp' })
      const client = await edgewise.connect(edgewise.openPort(worker))
      void client.callTool('hang').catch(() => {})
      await client.ping()
    })
    expect(await call('running')).toEqual([{ type: 'text', text: '1' }])
    await second.close()
    await expect.poll(() => call('running')).toEqual([{ type: 'text', text: '0' }])
  })
})

describe('A server in a service worker', () => {
  it('answers through the container, whichever worker is active', async () => {
    const result = await page.evaluate(async () => {
      await navigator.serviceWorker.register('/worker.js', { type: 'module' })
      const client = await edgewise.connect(edgewise.openPort(navigator.serviceWorker))
      const { content } = await client.callTool('scope')
      return content
    })
    expect(result).toEqual([{ type: 'text', text: 'ServiceWorkerGlobalScope' }])
  })
})

describe('A service worker that is not there', () => {
  it('is waited for no longer than was said', async () => {
    const result = await page.evaluate(() =>
      edgewise
        .connect(edgewise.openPort(navigator.serviceWorker, { openTimeoutMs: 100 }))
        .catch((error) => [error.code, error.message]),
    )
    expect(result).toEqual(['TIMEOUT', 'The port was not accepted within 100 ms'])
  })
})

describe('A page that is prerendered', () => {
  it('waits for its worker from when it is shown', async () => {
    const result = await page.evaluate(async () => {
      let prerendering = true
      Object.defineProperty(document, 'prerendering', { get: () => prerendering })
      const worker = new Worker(URL.createObjectURL(new Blob(['// Takes no ports'])))
      let code: unknown
      const failed = edgewise
        .connect(edgewise.openPort(worker, { openTimeoutMs: 50 }))
        .catch((error) => (code = error.code))
      await new Promise((resolve) => setTimeout(resolve, 500))
      const before = code
      prerendering = false
      document.dispatchEvent(new Event('prerenderingchange'))
      await failed
      return [before, code]
    })
    expect(result).toEqual([undefined, 'TIMEOUT'])
  })
})

describe('A connection that is closed while it is opened', () => {
  it('rejects at once, and no longer offers a port', async () => {
    const result = await page.evaluate(async () => {
      let offers = 0
      const target = window
      const port = edgewise.openPort(target, { origin: location.origin })
      let received: ((data: unknown) => void) | undefined
      const next = (): Promise<unknown> => new Promise((resolve) => (received = resolve))
      addEventListener('message', ({ data }) => {
        if (data.edgewise === 'connect') offers++
        received?.(data)
      })
      const started = Promise.resolve(
        port.start({ message() {}, malformed() {}, closed() {} }),
      ).catch((error) => error.code)
      await next()
      await port.close()
      const code = await started
      // An earlier offer is received before this message
      postMessage('closed')
      while ((await next()) !== 'closed');
      const before = offers
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      return [code, before > 0, offers - before]
    })
    expect(result).toEqual(['CLOSED', true, 0])
  })
})

describe('A worker', () => {
  it.each(['dedicated', 'shared', 'service'] as const)(
    'that is %s is a client over HTTP as well as a server on its ports',
    async (kind) => {
      const content = await page.evaluate(async (kind) => {
        const options = { type: 'module' } as const
        if (kind === 'service') await navigator.serviceWorker.register('/worker.js', options)
        const target = {
          dedicated: () => new Worker('/worker.js', options),
          shared: () => new SharedWorker('/worker.js', options),
          service: () => navigator.serviceWorker,
        }[kind]()
        const client = await edgewise.connect(edgewise.openPort(target))
        const result = await client.callTool('far')
        await client.close()
        return result.content
      }, kind)
      expect(content).toEqual([{ type: 'text', text: 'Hello from afar' }])
    },
  )
})

describe('A port that is offered repeatedly', () => {
  it('holds on to few ports at a time, and is taken in the end', async () => {
    await page.clock.install()
    await page.evaluate(() => {
      const counts = { offered: 0, held: 0 }
      const { close } = MessagePort.prototype
      MessagePort.prototype.close = function () {
        counts.held--
        close.call(this)
      }
      addEventListener('message', ({ data }) => {
        if (data.edgewise !== 'connect') return
        counts.offered++
        counts.held++
      })
      const port = edgewise.openPort(window, { origin: location.origin, openTimeoutMs: Infinity })
      const connecting = edgewise.connect(port, { timeoutMs: 3_600_000 })
      Object.assign(globalThis, { counts, connecting })
    })
    await page.clock.runFor('10:00')
    const { offered, held } = await page.evaluate<Record<string, number>>('counts')
    expect(offered).toBeGreaterThan(500)
    expect(held).toBeLessThan(100)
    await page.evaluate(() => {
      edgewise.servePorts(edgewise.portable, { origins: [location.origin] })
    })
    await page.clock.resume()
    const sum = await page.evaluate(async () => {
      return (await (await connecting).callTool('add', { a: 1, b: 1 })).structuredContent
    })
    expect(sum).toEqual({ sum: 2 })
  })
})

describe('A server in a frame', () => {
  /** Puts a frame into the page and calls its server, of which `origin` is expected. */
  const callFrame = (src: string, origin: string, openTimeoutMs = 60_000): Promise<unknown> =>
    page.evaluate(
      async ({ src, origin, openTimeoutMs }) => {
        const frame = document.createElement('iframe')
        frame.src = src
        document.body.append(frame)
        const options = { origin, openTimeoutMs }
        try {
          const port = edgewise.openPort(frame.contentWindow!, options)
          const client = await edgewise.connect(port)
          return (await client.callTool('who')).content
        } catch (error) {
          return (error as { code: string }).code
        }
      },
      { src, origin, openTimeoutMs },
    )

  it('answers its host, even before it has loaded, and knows the origin of the host', async () => {
    const { origin, other } = site
    const text = `${origin} calls ${other}`
    expect(await callFrame(`${other}/frame.html?host=${origin}`, other)).toEqual([
      { type: 'text', text },
    ])
  })

  it('is not given the port when it has another origin than expected', async () => {
    const { origin, other } = site
    expect(await callFrame(`${other}/frame.html?host=${origin}`, origin, 1500)).toBe('TIMEOUT')
  })

  it('takes no port from another origin than its host should have', async () => {
    const { origin, other } = site
    const strange = `${other}/frame.html?host=https://else.example`
    expect(await callFrame(strange, other, 1500)).toBe('TIMEOUT')
    expect(await callFrame(`${origin}/frame.html?host=${other}`, origin, 1500)).toBe('TIMEOUT')
  })

  it('takes no port from another window of the right origin', async () => {
    const result = await page.evaluate(async () => {
      const frames = [1, 2].map(() => {
        const frame = document.createElement('iframe')
        document.body.append(frame)
        return frame
      })
      const loaded = new Promise((resolve) => {
        frames[0]!.onload = resolve
      })
      frames[0]!.src = `/frame.html?host=${location.origin}`
      await loaded
      // The second frame is of this origin, but is not the parent
      const sibling = frames[1]!.contentWindow as Window & { eval(code: string): unknown }
      const { port1, port2 } = new MessageChannel()
      const received: unknown[] = []
      port1.addEventListener('message', ({ data }) => received.push(data))
      port1.start()
      const offer = sibling.eval(
        `(target, port) => target.postMessage({ edgewise: 'connect', id: 'x' }, '*', [port])`,
      ) as (target: Window, port: MessagePort) => void
      offer(frames[0]!.contentWindow!, port2)
      const port = edgewise.openPort(frames[0]!.contentWindow!, { origin: location.origin })
      const client = await edgewise.connect(port)
      await client.ping()
      return received
    })
    expect(result).toEqual([])
  })

  it.each(['navigated away', 'reloaded', 'removed'])(
    'is noticed to be gone when it is %s',
    async (how) => {
      const result = await page.evaluate(async (how) => {
        const frame = document.createElement('iframe')
        frame.src = `/frame.html?host=${location.origin}`
        document.body.append(frame)
        const port = edgewise.openPort(frame.contentWindow!, { origin: location.origin })
        const client = await edgewise.connect(port)
        const call = client.callTool('hang').catch((error) => error.code)
        await client.ping()
        if (how === 'removed') frame.remove()
        else if (how === 'reloaded') frame.contentWindow!.location.reload()
        else frame.src = '/empty.html'
        return await call
      }, how)
      expect(result).toBe('CLOSED')
    },
  )
})

describe('A page that serves its frames', () => {
  /** Serves frames of an origin, and has a frame connect; gives what the frame found. */
  const serve = (origins: string[], src: string | undefined): Promise<unknown> =>
    page.evaluate(
      async ({ origins, src, script }) => {
        const frame = document.createElement('iframe')
        if (src === undefined) {
          frame.setAttribute('sandbox', 'allow-scripts')
          frame.srcdoc = `<script type="module" src="${script}"></script>`
        } else frame.src = src
        document.body.append(frame)
        const source = frame.contentWindow!
        const stop = edgewise.servePorts(edgewise.portable, { origins, source })
        const answer = new Promise((resolve) => {
          addEventListener('message', ({ data }) => {
            if (data.answer) resolve(data.answer)
          })
        })
        const result = await answer
        stop()
        return result
      },
      { origins, src, script: `${site.origin}/visitor.js` },
    )

  /** Serves a page that connects to its embedder, and posts the outcome to the parent window. */
  function visitorWaits(openTimeoutMs: number): void {
    const body = `import '${site.origin}/everything.js'
      const port = edgewise.openPort(parent, { origin: '${site.origin}', openTimeoutMs: ${openTimeoutMs} })
      const answer = await edgewise.connect(port).then(
        async (client) => [origin, (await client.callTool('add', { a: 1, b: 2 })).structuredContent],
        (error) => error.code,
      )
      parent.postMessage({ answer }, '*')`
    const headers = { 'access-control-allow-origin': '*' }
    const everything = site.assets.get('/everything.js')!
    site.assets.set('/everything.js', { ...everything, headers })
    site.assets.set('/visitor.js', { body, type: 'text/javascript', headers })
    site.assets.set('/visitor.html', {
      body: `<!doctype html><script type="module" src="/visitor.js"></script>`,
      type: 'text/html',
    })
  }
  beforeEach(() => visitorWaits(60_000))

  it('answers those of the origins that it names', async () => {
    const { other } = site
    expect(await serve([other], `${other}/visitor.html`)).toEqual([other, { sum: 3 }])
  })

  it('answers a sandboxed one whose origin is opaque', async () => {
    expect(await serve(['null'], undefined)).toEqual(['null', { sum: 3 }])
  })

  it('does not answer those of other origins', async () => {
    visitorWaits(1500)
    expect(await serve(['https://else.example'], `${site.other}/visitor.html`)).toBe('TIMEOUT')
    expect(await serve([site.origin], undefined)).toBe('TIMEOUT')
  })
})

describe('Messages between windows themselves', () => {
  it('are accepted from the pinned window and origin only [M-APPS-052]', async () => {
    const result = await page.evaluate(async () => {
      const frames = [1, 2].map(() => document.createElement('iframe'))
      for (const frame of frames) {
        frame.src = '/everything.html'
        document.body.append(frame)
        await new Promise((resolve) => frame.addEventListener('load', resolve))
      }
      const [first, second] = frames.map((frame) => frame.contentWindow!) as [Window, Window]
      const inside = (first as Window & { edgewise: typeof edgewise }).edgewise
      const { origin } = location
      const near = edgewise.windowTransport(first, { origin })
      const far = inside.windowTransport(window, { origin })
      void inside.serveTransport(inside.portable, far)
      const client = await edgewise.connect(near)

      // Another script answers before the server does, from another window and from this one
      const forged = { jsonrpc: '2.0', id: 2, result: { content: [], structuredContent: 'forged' } }
      const post = (second as Window & { eval(code: string): unknown }).eval(
        '(target, data) => target.postMessage(data, "*")',
      ) as (target: Window, data: unknown) => void
      const call = client.callTool('add', { a: 1, b: 2 })
      for (const id of [1, 2, 3, 4]) {
        post(window, { ...forged, id })
        window.postMessage({ ...forged, id }, '*')
      }
      const { structuredContent } = await call
      await client.close()
      return structuredContent
    })
    expect(result).toEqual({ sum: 3 })
  })

  it('carry bare JSON-RPC for views that are not Edgewise', async () => {
    const result = await page.evaluate(async () => {
      const frame = document.createElement('iframe')
      frame.setAttribute('sandbox', 'allow-scripts')
      // As a view of MCP Apps: it speaks first, to a host whose origin it cannot know
      frame.srcdoc = `<script>
        const seen = []
        addEventListener('message', ({ data }) => {
          seen.push(data)
          if (data.id === 1) parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/initialized' }, '*')
          if (data.method === 'seen') parent.postMessage({ jsonrpc: '2.0', id: data.id, result: { seen } }, '*')
        })
        parent.postMessage({ jsonrpc: '2.0', id: 1, method: 'ui/initialize', params: {}, extra: undefined }, '*')
      </script>`
      document.body.append(frame)
      const host = edgewise.windowTransport(frame.contentWindow!, {
        origin: 'null',
        handshake: false,
      })
      const taken: unknown[] = []
      const done = new Promise((resolve) => {
        void host.start({
          message(frame) {
            const { id, method } = frame as { id?: number; method?: string }
            taken.push(method ?? id)
            if (id === 1) void host.send({ jsonrpc: '2.0', id: 1, result: { ok: true } })
            if (method === 'ui/notifications/initialized') {
              void host.send({ jsonrpc: '2.0', id: 7, method: 'seen' })
            }
            if (id === 7) resolve(frame)
          },
          malformed: () => taken.push('malformed'),
          closed: () => taken.push('closed'),
        })
      })
      // Others in the page post as well
      window.postMessage({ jsonrpc: '2.0', id: 9, method: 'forged' }, '*')
      frame.contentWindow!.postMessage('not for the view', '*')
      return [await done, taken]
    })
    const seen = [
      'not for the view',
      { jsonrpc: '2.0', id: 1, result: { ok: true } },
      { jsonrpc: '2.0', id: 7, method: 'seen' },
    ]
    const [{ result: connected }, taken] = result as [{ result: { seen: unknown[] } }, unknown[]]
    expect(connected.seen.filter((data) => data !== seen[0])).toEqual(seen.slice(1))
    expect(taken).toEqual(['ui/initialize', 'ui/notifications/initialized', 7])
  })

  it('end when the other window is closed or removed', async () => {
    const result = await page.evaluate(async () => {
      const frame = document.createElement('iframe')
      frame.src = '/everything.html'
      document.body.append(frame)
      await new Promise((resolve) => frame.addEventListener('load', resolve))
      const inside = (frame.contentWindow as Window & { edgewise: typeof edgewise }).edgewise
      const { origin } = location
      void inside.serveTransport(inside.portable, inside.windowTransport(window, { origin }))
      const client = await edgewise.connect(
        edgewise.windowTransport(frame.contentWindow!, { origin }),
      )
      const call = client.callTool('wait', { name: 'x' }).catch((error) => error.code)
      frame.remove()
      return await call
    })
    expect(result).toBe('CLOSED')
  })
})

describe('A broadcast channel', () => {
  it('connects pages of one origin in any order, and reports that the server is gone', async () => {
    const [second, third] = [await context.newPage(), await context.newPage()]
    for (const opened of [second, third]) {
      await opened.goto(`${site.origin}/everything.html`)
      await ready(opened)
    }
    const call = (opened: Page, b: number): Promise<unknown> =>
      opened.evaluate(async (b) => {
        const client = await edgewise.connect(edgewise.broadcastTransport('mcp'))
        Object.assign(globalThis, { client })
        return (await client.callTool('add', { a: 1, b })).structuredContent
      }, b)
    const early = call(page, 1)
    await third.evaluate(() => {
      edgewise.acceptBroadcasts('mcp', (transport) =>
        edgewise.serveTransport(edgewise.portable, transport),
      )
    })
    expect([await early, await call(second, 2)]).toEqual([{ sum: 2 }, { sum: 3 }])
    const ends = [page, second].map((opened) =>
      opened.evaluate(() => client.callTool('wait', { name: 'x' }).catch((error) => error.code)),
    )
    await third.close()
    expect(await Promise.all(ends)).toEqual(['CLOSED', 'CLOSED'])
  })
})

describe('An isolated world, as content scripts of extensions have,', () => {
  it('connects to a server in its page over a port of its own', async () => {
    await page.evaluate(() => {
      edgewise.servePorts(edgewise.portable, { origins: [location.origin], source: window })
    })
    const session = await context.newCDPSession(page)
    const { frameTree } = await session.send('Page.getFrameTree')
    const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
      worldName: 'extension',
    })
    const expression = `(async () => {
      const isolated = typeof edgewise === 'undefined'
      ${site.assets.get('/everything.js')!.body}
      const all = globalThis.edgewise
      const client = await all.connect(all.openPort(window, { origin: location.origin }))
      return [isolated, (await client.callTool('add', { a: 2, b: 2 })).structuredContent]
    })()`
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      contextId,
      awaitPromise: true,
      returnByValue: true,
    })
    expect(exceptionDetails).toBeUndefined()
    expect(result.value).toEqual([true, { sum: 4 }])
  })
})
