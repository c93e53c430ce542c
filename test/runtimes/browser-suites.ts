// The portable suite in a browser: in a page, in a worker, and across an iframe. The pages run by
// themselves and post what came of it, so that a browser need only open them.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Plugin } from 'esbuild'
import { frameSuite } from './frame-suite.ts'
import { bundle, portableSuite, suiteElsewhere, type Start } from './runtime.ts'

/** Opens a page in a browser and collects the lines that the browser logs. */
export type OpenPage = (url: string, line: (text: string) => void) => Promise<OpenedPage>

/** A page that is open. */
export interface OpenedPage {
  close(): Promise<void>
}

/** Has what a script prints, and what it fails with, posted to the server. */
const prelude = `{
  let sent = Promise.resolve()
  const post = (path, body) => (sent = sent.then(() => fetch(path, { method: 'POST', body })))
  console.log = (text) => post('/line', String(text))
  globalThis.end = () => post('/end', '')
  addEventListener('error', ({ message }) => post('/line', String(message)))
  addEventListener('unhandledrejection', ({ reason }) => post('/line', String(reason)))
}
`

/** A page that runs a script, after what `body` has. */
const pageOf = (body: string): string =>
  `<!doctype html><title>Suite</title><link rel="icon" href="data:,"><body>${body}`
const scriptOf = (code: string): string => pageOf(`<script type="module">${code}</script>`)

/** Serves files until a page says that it is at its end. */
function run(open: OpenPage, files: () => Promise<Record<string, string>>): Start {
  return async (line) => {
    const served = await files()
    let end: (() => void) | undefined
    const ended = new Promise<void>((resolve) => (end = resolve))
    const http = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://any')
      const file = served[pathname]
      if (request.method !== 'POST') {
        const type = pathname.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8'
        return response
          .writeHead(file === undefined ? 404 : 200, { 'content-type': type })
          .end(file)
      }
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      return request.on('end', () => {
        if (pathname === '/line') line(Buffer.concat(chunks).toString())
        else end?.()
        response.writeHead(204).end()
      })
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as AddressInfo
    const page = await open(`http://localhost:${port}/`, line)
    try {
      await ended
    } finally {
      await page.close()
      http.close()
      http.closeAllConnections()
    }
  }
}

/** Lets the suite look into the server of the frame, in place of one of its own. */
const serverOfFrame: Plugin = {
  name: 'server-of-frame',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/server\.ts$/ }, ({ path }) => ({ path, namespace: 'frame' }))
    onLoad({ filter: /.*/, namespace: 'frame' }, () => ({
      contents: 'export const { server, changing, running, aborted } = frames[0].portable',
    }))
  },
}

/** Registers the suites of a browser as tests. */
export function browserSuites(name: string, open: OpenPage): void {
  const script = async (file: string, plugins?: Plugin[]): Promise<string> =>
    `${prelude}${await bundle(file, ['browser'], plugins)}\nawait end()`

  portableSuite(
    name,
    run(open, async () => ({
      '/': scriptOf(`import '/main.js'`),
      '/main.js': await script('main.ts'),
    })),
  )

  portableSuite(
    `a dedicated worker in ${name}`,
    run(open, async () => ({
      '/': scriptOf(`
        import '/prelude.js'
        new Worker('/main.js', { type: 'module' }).onerror = ({ message }) => {
          console.log(message)
          end()
        }`),
      '/prelude.js': prelude,
      '/main.js': await script('main.ts'),
    })),
  )

  suiteElsewhere(
    `Portable suite across an iframe in ${name}`,
    frameSuite,
    run(open, async () => ({
      // The script of a frame has run when the frame has loaded
      '/': pageOf(`<iframe src="/frame"></iframe>
        <script>onload = () => import('/main.js')</script>`),
      '/frame': scriptOf(`import '/frame-server.js'`),
      '/frame-server.js': await bundle('frame-server.ts', ['browser']),
      '/main.js': await script('frame-main.ts', [serverOfFrame]),
    })),
  )
}
