// A small site for tests in Chromium: pages, bundled scripts and headers, on two origins.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { memoize } from '../../memoize.ts'
import { root } from '../../root.ts'

/** What is served at a path. */
export interface Asset {
  body: string
  type: string
  headers?: Record<string, string>
}

/** A site that runs. */
export interface Site {
  /** Where it is: `http://localhost:…`. */
  origin: string
  /** The same site on another origin. */
  other: string
  /** What is at each path; may be changed at any time. */
  assets: Map<string, Asset>
  stop(): Promise<void>
}

const scripts = `${root}test/runtimes/browser/scripts/`

/** Bundles a script of this folder, as an application would. Several test files may need the same one. */
export const script: (name: string) => Promise<string> = memoize(bundle)

async function bundle(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`${scripts}${name}.ts`],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    conditions: ['browser'],
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  return outputFiles[0]!.text
}

/** A page that runs a script of this folder. */
export function page(name: string, headers?: Record<string, string>): Asset {
  const body = `<!doctype html><title>${name}</title><link rel="icon" href="data:,"><script type="module" src="/${name}.js"></script>`
  return { body, type: 'text/html; charset=utf-8', ...(headers && { headers }) }
}

/**
 * Serves scripts of this folder under `/<name>.js`, each with a page `/<name>.html` that runs it.
 *
 * @param handle Answers what is no asset.
 */
export async function startSite(
  names: readonly string[],
  handle?: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Site> {
  const assets = new Map<string, Asset>([
    [
      '/empty.html',
      {
        body: '<!doctype html><title>Empty</title><link rel="icon" href="data:,">',
        type: 'text/html',
      },
    ],
  ])
  for (const name of names) {
    assets.set(`/${name}.js`, { body: await script(name), type: 'text/javascript' })
    assets.set(`/${name}.html`, page(name))
  }
  const server = createServer((request, response) => {
    const asset = assets.get(new URL(request.url ?? '/', 'http://any').pathname)
    if (asset) {
      response.writeHead(200, { 'content-type': asset.type, ...asset.headers }).end(asset.body)
    } else if (handle) handle(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://localhost:${port}`,
    other: `http://127.0.0.1:${port}`,
    assets,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Uncaught errors of a page. */
export function complaintsOf(opened: Page): string[] {
  const complaints: string[] = []
  opened.on('pageerror', (error) => complaints.push(String(error)))
  opened.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  return complaints
}
