// Serves the built page, under its own policy, together with a server of this process.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createHandler, createSseHandler, statefulSessions, type Server } from 'edgewise/server'
import { toNodeListener } from 'edgewise/node'
import { root } from '../root.ts'

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** A page that is served. */
export interface Host {
  url: string
  close(): void
}

/** Answers the requests of a path. */
export type Route = (request: Request) => Response | Promise<Response>

/**
 * Serves the page at `/` and the server at `/mcp`, over HTTP+SSE at `/sse`.
 *
 * @param routes Other paths. What violates the policy of the page is reported to `/violations`, if it is one.
 */
export async function host(
  server: Server,
  routes: Readonly<Record<string, Route>> = {},
): Promise<Host> {
  const folder = join(root, 'dist/playground')
  const handle = createHandler(server, { sessions: statefulSessions() })
  const handleSse = createSseHandler(server)
  const policy = (await readFile(join(folder, '_headers'), 'utf8')).match(/^ +\S+: .*$/gm) ?? []
  const headers = policy.map((line): [string, string] => {
    const [name = '', ...value] = line.trim().split(': ')
    const report = routes['/violations'] && /policy$/i.test(name) ? '; report-uri /violations' : ''
    return [name, value.join(': ') + report]
  })
  const http = createServer(
    toNodeListener(async (request) => {
      const { pathname } = new URL(request.url)
      const route = routes[pathname]
      if (route) return route(request)
      if (pathname === '/mcp') return handle(request)
      if (pathname === '/sse') return handleSse(request)
      const name = pathname === '/' ? 'index.html' : pathname.slice(1)
      const file = await readFile(join(folder, name)).catch(() => undefined)
      if (!file) return new Response(null, { status: 404 })
      const type = types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
      return new Response(file, { headers: [...headers, ['content-type', type]] })
    }),
  )
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close() {
      http.closeAllConnections()
      http.close()
    },
  }
}
