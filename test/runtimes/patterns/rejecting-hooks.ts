// A program whose hooks all return promises that reject, on both sides of a connection: it prints
// how many of them were called, and ends with code 0 unless one of them ends it.
import { createReconnectingClient, type ConnectOptions } from '../../../src/presets/client.ts'
import {
  createHandler,
  createServer,
  statefulSessions,
  serverObserver,
} from '../../../src/presets/server.ts'
import type { Observer } from '../../../src/protocol/observation.ts'
import { callTask, taskPolling, tasks } from '../../../src/tasks/index.ts'
import { connectInMemory, inMemoryTransports } from '../../../src/testing/index.ts'
import { serveTransport } from '../../../src/presets/server.ts'

const called = new Set<string>()
const rejects = (name: string) => (): unknown => {
  called.add(name)
  return Promise.reject(new Error(`${name} rejects`))
}

const server = createServer(
  { name: 'hooks', version: '1' },
  { onError: rejects('onError'), observe: serverObserver(rejects('observe') as Observer) },
)
server.extend(tasks({ onCreate: rejects('onCreate'), pollIntervalMs: 1 }))
server.resource('test://a', { name: 'a' }, () => 'a')
server.prompt('say', {}, () => 'hello')
server.tool('fail', {}, () => {
  throw new Error('fails')
})
server.tool('report', { task: 'optional' }, async (_args, ctx) => {
  await ctx.log('error', 'reported')
  await ctx.progress(1)
  return 'done'
})
server.notify.subscribe(rejects('notify.subscribe'))

// What a stranger can send: a handshake that is too deep to be read
const handle = createHandler(server, { sessions: statefulSessions() })
const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
const body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"a","version":"1"},"capabilities":{"experimental":${deep}}}}`
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}
await handle(new Request('http://localhost/mcp', { method: 'POST', headers, body }))
await handle(new Request('http://localhost/mcp', { method: 'POST', headers, body: 'x' }))

for (const revision of ['2025-11-25', '2026-07-28'] as const) {
  const hooks: ConnectOptions = {
    onError: rejects('client.onError'),
    onNotification: rejects('onNotification'),
    onLog: rejects('onLog'),
    onToolsChanged: rejects('onToolsChanged'),
    onPromptsChanged: rejects('onPromptsChanged'),
    onResourcesChanged: rejects('onResourcesChanged'),
    onResourceUpdated: rejects('onResourceUpdated'),
  }
  const client = await connectInMemory(server, { ...hooks, revision })
  await client.subscribe('test://a')
  await client.ping()
  await client.callTool('fail').catch(() => {})
  const onProgress = rejects('onProgress')
  await client.callTool('report', {}, { onProgress, logLevel: 'debug' })
  server.notify.toolsListChanged()
  server.notify.promptsListChanged()
  server.notify.resourcesListChanged()
  server.notify.resourceUpdated('test://a')
  await client.ping()
  await client.close()
  const follower = await connectInMemory(server, { revision, extensions: [taskPolling()] })
  await callTask(follower, 'report', {}, { onTask: rejects('onTask'), onProgress })
  await follower.close()
}

const live = createReconnectingClient(() => {
  const [near, far] = inMemoryTransports()
  void serveTransport(server, far)
  return near
})
live.subscribe(rejects('connection.subscribe'))
await live.ready()
await live.close()

await new Promise((resolve) => setTimeout(resolve, 50))
console.log([...called].toSorted().join(' '))
