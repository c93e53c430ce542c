/**
 * `edgewise inspect`: opens the playground on a server. The page talks to this program, which passes
 * everything on, so that servers need not allow pages of other origins.
 */
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createGateway, createHandler, keptSessions } from '../../../src/server/index.ts'
import { listen } from '../listen.ts'
import { toNodeListener } from '../listener.ts'
import type { Invocation } from './arguments.ts'
import { lifetime } from './interrupted.ts'
import { open } from './open.ts'
import { print, tell } from './print.ts'
import { takesNothing } from './usage.ts'

type Answer = (request: Request) => Promise<Response>

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}
const page = new URL('../../../playground/', import.meta.url)
/** What a proxy keeps to itself: it is about one connection, or about the body's encoding on it. */
const hopHeaders = [
  'host',
  'connection',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'origin',
  'referer',
]

/**
 * Serves the page until interrupted.
 *
 * @throws {McpError} `CLOSED` when the program that it shows has ended; `INVALID_USE` when the port
 *   is taken.
 */
export async function inspect(invocation: Invocation): Promise<number> {
  const { target, options, rest } = invocation
  takesNothing(rest)
  const { end, over } = lifetime()
  let close = async (): Promise<void> => {}
  let serve: Answer
  if ('url' in target) {
    serve = (request) => passOn(request, target.url, options.headers)
  } else {
    const gateway = await createGateway((passed) => open(invocation, passed, end), {
      onError: () => {},
    })
    serve = createHandler(gateway.server, { sessions: keptSessions() })
    close = () => gateway.close()
  }
  const { createServer } = await import('node:http')
  const http = createServer(toNodeListener((request) => route(request, serve)))
  try {
    const url = `http://127.0.0.1:${await listen(http, options.port ?? 0, '127.0.0.1')}/`
    print(url)
    openBrowser(url)
    await over()
  } finally {
    http.closeAllConnections()
    http.close()
    await close()
  }
  return 0
}

async function route(request: Request, serve: Answer): Promise<Response> {
  const { pathname, host } = new URL(request.url)
  // Names that lead here by DNS are not this machine's.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) return new Response(null, { status: 403 })
  if (pathname === '/mcp') return serve(request)
  const name = pathname === '/' ? 'index.html' : pathname.slice(1)
  const type = types[name.split('.').at(-1) ?? '']
  if (type === undefined || !/^[\w-]+\.\w+$/.test(name)) return new Response(null, { status: 404 })
  const file = await readFile(new URL(name, page)).catch(() => undefined)
  if (!file) return new Response('The playground is not part of this build', { status: 404 })
  return new Response(file, { headers: { 'content-type': type, 'cache-control': 'no-store' } })
}

/** Sends a request of the page to the server, and the answer back as it streams. */
async function passOn(request: Request, url: string, more: Headers): Promise<Response> {
  const headers = new Headers(request.headers)
  for (const name of hopHeaders) headers.delete(name)
  for (const [name, value] of more) headers.set(name, value)
  const body = request.method === 'POST' ? await request.arrayBuffer() : undefined
  try {
    const response = await fetch(url, {
      method: request.method,
      headers,
      signal: request.signal,
      redirect: 'manual',
      ...(body && { body }),
    })
    const known = new Headers(response.headers)
    for (const name of hopHeaders) known.delete(name)
    return new Response(response.body, { status: response.status, headers: known })
  } catch (error) {
    const why = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
    return new Response(`Cannot reach ${url}: ${why}`, { status: 502 })
  }
}

function openBrowser(url: string): void {
  if (!process.stdout.isTTY) return
  const [program, ...args] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['explorer', url]
        : ['xdg-open', url]
  spawn(program, args, { stdio: 'ignore', detached: true })
    .on('error', () => tell('Open this address in a browser'))
    .unref()
}
