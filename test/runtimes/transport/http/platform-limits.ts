// A client on a platform whose own time limits were lowered: a silent server is waited for all the
// same, where `fetch` alone gives up. Node and Bun run it.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from '../../../../src/presets/client.ts'

/** Where undici keeps what sends the requests of `fetch`; newer versions of Node have both. */
const FIRST = Symbol.for('undici.globalDispatcher.1')
const SECOND = Symbol.for('undici.globalDispatcher.2')

type Dispatcher = { constructor: new (options: unknown) => Dispatcher }

/** Has Node's `fetch` give up after a moment. Bun reads its limit from the environment. */
function lowerLimits(): void {
  const all = globalThis as { [key: symbol]: Dispatcher | undefined }
  const { [FIRST]: first, [SECOND]: second } = all
  if (!first) return
  const { constructor: Agent } = second ?? first
  const low = new Agent({ headersTimeout: 100, bodyTimeout: 100 })
  // Before the second there is one for older handlers
  all[FIRST] = first.constructor === Agent ? low : new first.constructor(low)
  if (second) all[SECOND] = low
}

const events = { 'content-type': 'text/event-stream' }
const json = { 'content-type': 'application/json', 'mcp-session-id': 's' }
const silent: { id?: unknown; name: string | undefined; response: ServerResponse }[] = []
let gets = 0

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/silent') return
  if (request.method === 'GET') gets++
  if (request.method === 'GET' || request.url === '/silent-body') {
    response.writeHead(200, events).write(': here\n\n')
    return
  }
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const { id, method, params } = JSON.parse(body || '{}') as {
    id?: unknown
    method?: string
    params?: { name?: string }
  }
  if (method === 'initialize') {
    const serverInfo = { name: 's', version: '1' }
    const capabilities = { tools: { listChanged: true } }
    const result = { protocolVersion: '2025-11-25', capabilities, serverInfo }
    response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  } else if (method === 'tools/call') {
    silent.push({ id, name: params?.name, response })
    if (params?.name === 'sse') response.writeHead(200, events).write(': here\n\n')
  } else response.writeHead(202).end()
}

const server = createServer((request, response) => void answer(request, response))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const client = await connect(`${url}/mcp`, { revision: '2025-11-25', onToolsChanged() {} })
lowerLimits()
const listening = await connect(`${url}/mcp`, { revision: '2025-11-25', onToolsChanged() {} })
const calls = ['json', 'sse'].map((name) => client.callTool(name))
while (silent.length < 2 || gets < 2) await new Promise((resolve) => setTimeout(resolve, 10))

// By the time at which these have ended, so would have the calls before them
await Promise.all([
  assert.rejects(fetch(`${url}/silent`, { method: 'POST' })),
  assert.rejects(async () => (await fetch(`${url}/silent-body`, { method: 'POST' })).text()),
])

for (const { id, name, response } of silent) {
  const result = { content: [{ type: 'text', text: name }] }
  const message = JSON.stringify({ jsonrpc: '2.0', id, result })
  if (name === 'sse') response.end(`data: ${message}\n\n`)
  else response.writeHead(200, json).end(message)
}
const texts = (await Promise.all(calls)).map(({ content: [first] }) => first)
assert.deepEqual(texts, [
  { type: 'text', text: 'json' },
  { type: 'text', text: 'sse' },
])
// The listening streams were not reopened
assert.equal(gets, 2)
await Promise.all([client.close(), listening.close()])
server.closeAllConnections()
server.close()
