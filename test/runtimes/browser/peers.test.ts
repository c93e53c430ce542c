// Edgewise and the official v2 client in Chromium, with the same servers over HTTP.
import { request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import { serve } from 'edgewise/node'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { newest, type Era, type PeerClient } from '../../peers/contract.ts'
import { exchange } from '../../peers/exchange.ts'
import { createPeerServer } from '../../peers/servers/edgewise.ts'
import { listenV1, listenV2 } from '../../peers/servers/http.ts'
import { openChromium, type SharedBrowser } from '../chromium.ts'
import type { Peers } from './scripts/peers.ts'
import { startSite, type Site } from './site.ts'

/** Inside pages only. */
declare const peers: Peers

const urls: Record<string, string> = {}
const stops: (() => PromiseLike<void>)[] = []
let site: Site
let browser: SharedBrowser
let page: Page

beforeAll(async () => {
  const [v1, v2, own] = await Promise.all([
    listenV1(),
    listenV2(),
    serve(createPeerServer(), { port: 0 }),
  ])
  Object.assign(urls, { '/v1': v1.url, '/v2': v2.url, '/edgewise': own.url })
  stops.push(
    () => v1[Symbol.asyncDispose](),
    () => v2[Symbol.asyncDispose](),
    () => own.close(),
  )
  ;[site, browser] = await Promise.all([startSite(['peers'], pass), openChromium()])
  page = await browser.newPage()
  await page.goto(`${site.origin}/peers.html`)
  await page.waitForFunction('typeof peers === "object"')
})
afterAll(async () => {
  await browser.close()
  await Promise.all([site.stop(), ...stops.map((stop) => stop())])
})

/** Passes a request on, as the servers of others send no CORS headers. */
function pass(request: IncomingMessage, response: ServerResponse): void {
  const { host: _, origin: __, ...headers } = request.headers
  const url = urls[request.url ?? '']
  if (url === undefined) return void response.writeHead(404).end()
  const passed = forward(url, { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    response.flushHeaders()
    answer.pipe(response)
  })
  passed.on('error', () => response.destroy())
  response.on('close', () => passed.destroy())
  request.pipe(passed)
}

/** A client in the page, called from here. */
async function connect(
  kind: 'edgewise' | 'v2',
  path: string,
  era: Era | undefined,
): Promise<PeerClient> {
  const number = await page.evaluate(([kind, path, era]) => peers.connect(kind, path, era), [
    kind,
    path,
    era,
  ] as const)
  const facts = await page.evaluate((number) => {
    const { revision, serverName, dropsLateProgress } = peers.client(number)
    return { revision, serverName, dropsLateProgress }
  }, number)
  const asked: string[] = []
  const call = async <T>(name: string, ...args: unknown[]): Promise<T> => {
    const [result, messages] = await page.evaluate(
      async ({ number, name, args }) => {
        const client = peers.client(number)
        const method = client[name as 'listTools'] as (...args: unknown[]) => Promise<unknown>
        return [await method.apply(client, args), client.asked] as const
      },
      { number, name, args },
    )
    asked.splice(0, asked.length, ...messages)
    return result as T
  }
  return {
    ...facts,
    asked,
    listTools: () => call('listTools'),
    listResources: () => call('listResources'),
    listPrompts: () => call('listPrompts'),
    callTool: (...args) => call('callTool', ...args),
    readResource: (uri) => call('readResource', uri),
    getPrompt: (...args) => call('getPrompt', ...args),
    [Symbol.asyncDispose]: () =>
      page.evaluate(async (number) => {
        await peers.client(number)[Symbol.asyncDispose]()
      }, number),
  }
}

const servers = [
  ['/v1', 'official-v1', ['legacy']],
  ['/v2', 'official-v2', ['modern', 'legacy']],
  ['/edgewise', 'edgewise', ['modern', 'legacy']],
] as const

for (const [kind, client] of [
  ['edgewise', 'The Edgewise client'],
  ['v2', 'The official v2 client'],
] as const) {
  for (const [path, server, eras] of servers) {
    const finds = eras[0]
    for (const [era, found] of [
      [undefined, finds] as const,
      ...eras.map((one) => [one, one] as const),
    ]) {
      describe(`${client} in Chromium (${era ?? 'era not given'}) with the server ${server}`, () => {
        exchange({
          revision: newest[found],
          server,
          connect: () => connect(kind, path, era),
        })
      })
    }
  }
}
