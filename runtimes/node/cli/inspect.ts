/**
 * `edgewise inspect`: opens the playground for a server. The page connects to this process, which forwards all messages
 * to the server. The server therefore need not allow the origin of the page.
 */
import { readFile } from 'node:fs/promises'
import { createGateway, createHandler, statefulSessions } from '../../../src/presets/server.ts'
import { loopbackHost } from '../loopback.ts'
import type { Invocation } from './arguments.ts'
import { lifetime } from './interrupted.ts'
import { serveLocally } from './local-site.ts'
import { messagesOf, open, signInWithBrowser } from './open.ts'
import { print, problemPrinter, printNotice } from './print.ts'
import { createProxy } from './proxy.ts'
import { requireNoArguments } from './usage.ts'

/** Answers a request of the page to the server. */
type Answer = (request: Request) => Promise<Response>

const contentTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}
const pageFolder = new URL('../../../playground/', import.meta.url)

/**
 * Serves the playground until the process is interrupted.
 *
 * @throws {SdkError} `CLOSED` if the inspected program has exited; `INVALID_USE` if the port is
 *   taken.
 * @throws {ConnectError} If the user cannot be signed in.
 */
export async function inspect(invocation: Invocation): Promise<number> {
  const { options, commandArguments } = invocation
  requireNoArguments(commandArguments)
  const { end, untilEnd } = lifetime()
  const { answer, close } = await openTarget(invocation, end)
  const hostedHeaders = await readHostedHeaders()
  const serverUrl = 'url' in invocation.target ? invocation.target.url : undefined
  const site = await serveLocally(options.port ?? 0, async (request, path) => {
    const response = await (path === '/mcp' ? answer(request) : readPageFile(path, serverUrl))
    // The headers are also set on responses of the inspected server, because these responses could be pages
    for (const [name, value] of hostedHeaders) response.headers.set(name, value)
    return response
  }).catch(async (error: unknown) => {
    await close()
    throw error
  })
  try {
    const url = addressOf(site.url, options)
    print(url)
    if (process.stdout.isTTY) void openPage(url)
    await untilEnd()
  } finally {
    site.close()
    await close()
  }
  return 0
}

/** Creates the handler for the page's requests: a proxy to a URL, or a gateway to a program. */
async function openTarget(
  invocation: Invocation,
  end: (reason: Error) => void,
): Promise<{ answer: Answer; close: () => Promise<void> }> {
  const { target, options } = invocation
  const onError = problemPrinter(options.verbose)
  if ('url' in target) {
    const auth = options.signIn ? await signInWithBrowser() : undefined
    // The user signs in before the page is served, because requests of the page would time out during the sign-in
    if (auth) await (await open(invocation, { auth })).close()
    const answer = createProxy(target.url, { headers: options.headers, auth }, onError)
    return { answer, close: async () => {} }
  }
  const connectClient: Parameters<typeof createGateway>[0] = (clientOptions) =>
    open(invocation, clientOptions, end)
  const gateway = await createGateway(connectClient, { onError })
  const answer = createHandler(gateway.server, { sessions: statefulSessions() })
  return { answer, close: () => gateway.close() }
}

/** Opens the page in a browser, or prints why that failed. */
async function openPage(url: string): Promise<void> {
  // Loaded on demand, so that other commands do not load it
  const { openBrowser } = await import('#internal/authorization')
  await openBrowser(loopbackHost, url).catch((error: unknown) => {
    printNotice(`Cannot open a browser: ${messagesOf(error)}; open this address yourself`)
  })
}

/** The address of the page, with the connection options. */
function addressOf(base: string, { revision, timeoutMs }: Invocation['options']): string {
  const url = new URL(base)
  if (revision) url.searchParams.set('revision', revision)
  if (timeoutMs !== undefined) url.searchParams.set('timeoutMs', String(timeoutMs))
  return url.href
}

/**
 * Reads a file of the playground.
 *
 * @param serverUrl The URL of the server, which the page shows in place of the proxy's URL.
 */
async function readPageFile(path: string, serverUrl: string | undefined): Promise<Response> {
  const name = path === '/' ? 'index.html' : path.slice(1)
  const type = contentTypes[name.split('.').at(-1) ?? '']
  if (type === undefined || !/^[\w-]+\.\w+$/.test(name)) return new Response(null, { status: 404 })
  const file = await readFile(new URL(name, pageFolder)).catch(() => undefined)
  if (!file) return new Response('The playground is not part of this build', { status: 404 })
  const isPage = name === 'index.html' && serverUrl !== undefined
  const body = isPage ? withServerUrl(file.toString(), serverUrl) : file
  return new Response(body, { headers: { 'content-type': type, 'cache-control': 'no-store' } })
}

/** Adds the URL of the server to the page. */
function withServerUrl(html: string, serverUrl: string): string {
  const content = serverUrl.replace(/[&"<]/g, (character) => `&#${character.charCodeAt(0)};`)
  return html.replace('<head>', () => `<head><meta name="relayed-server" content="${content}">`)
}

/** Reads the headers of the hosted playground. They contain its content security policy, which also forbids framing. */
async function readHostedHeaders(): Promise<[name: string, value: string][]> {
  const text = await readFile(new URL('_headers', pageFolder), 'utf8').catch(() => '')
  return [...text.matchAll(/^ +([\w-]+): (.+)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ])
}
