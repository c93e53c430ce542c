/** The Worker of the Durable Object benchmark: the floors, and an echo tool served by createWorker. */
import { DurableObject } from 'cloudflare:workers'
import * as z from 'zod'
import { countRows } from './count-rows.ts'
import { modernMembers } from './floor-answer.ts'
import { createWorker } from '../runtimes/cloudflare/index.ts'
import { createServer } from '../src/presets/server.ts'

interface Call {
  id: number
  params: { arguments: { text: string } }
}

const server = createServer({ name: 'bench', version: '1.0.0' })
server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
const worker = createWorker(server)

function answer({ id, params }: Call, members: object = {}): Response {
  const result = { content: [{ type: 'text', text: params.arguments.text }], ...members }
  return Response.json({ jsonrpc: '2.0', id, result })
}

/** Parses, reads a row, and answers. */
export class Bare extends DurableObject {
  async fetch(request: Request): Promise<Response> {
    const { sql } = this.ctx.storage
    const call = (await request.json()) as Call
    if (call.params.arguments === undefined) {
      sql.exec('CREATE TABLE record (id TEXT PRIMARY KEY, value TEXT)')
      sql.exec("INSERT INTO record VALUES ('one', '{}')")
      return Response.json({ jsonrpc: '2.0', id: call.id, result: {} })
    }
    JSON.parse(String(sql.exec("SELECT value FROM record WHERE id = 'one'").one().value))
    return answer(call)
  }
}

/** Sends a text to every socket; the sockets stay open while it is evicted from memory. */
export class BareHub extends DurableObject {
  fetch(request: Request): Response {
    if (request.headers.get('upgrade') === null) {
      for (const socket of this.ctx.getWebSockets()) socket.send('{}')
      return new Response('sent')
    }
    const { 0: client, 1: socket } = new WebSocketPair()
    this.ctx.acceptWebSocket(socket)
    return new Response(null, { status: 101, webSocket: client } as ResponseInit)
  }
}

/** Converts a socket of the bare hub to an event stream. */
async function listenBare(hub: Stub): Promise<Response> {
  const response = await hub.fetch(
    new Request('https://hub/', { headers: { upgrade: 'websocket' } }),
  )
  const { webSocket } = response as Response & { webSocket: Socket }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const encoder = new TextEncoder()
  void writer.write(encoder.encode(':\n\n'))
  webSocket.addEventListener('message', ({ data }) => {
    void writer.write(encoder.encode(`data: ${data}\n\n`))
  })
  webSocket.accept()
  return new Response(readable, { headers: { 'content-type': 'text/event-stream' } })
}

interface Socket {
  accept(): void
  addEventListener(type: 'message', listener: (event: { data: string }) => void): void
}
declare const WebSocketPair: new () => { 0: object; 1: object }

interface Stub {
  fetch(request: Request): Promise<Response>
}
interface Namespace {
  newUniqueId(): object
  idFromName(name: string): object
  idFromString(id: string): object
  get(id: object): Stub
}
interface Env {
  BARE: Namespace
  BARE_HUB: Namespace
}

const hub = ({ BARE_HUB }: Env): Stub => BARE_HUB.get(BARE_HUB.idFromName('hub'))

export default {
  async fetch(request: Request, env: Env, ctx: never): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/mcp') return worker.fetch(request, env, ctx)
    if (pathname === '/floor') return answer((await request.json()) as Call, modernMembers)
    if (pathname === '/bare-listen') return listenBare(hub(env))
    if (pathname === '/bare-notify') return hub(env).fetch(new Request('https://hub/'))
    if (pathname === '/lives') return Response.json(lives)
    if (pathname === '/rows') return Response.json(rows)
    if (pathname === '/notify') {
      await worker.notify.toolsListChanged()
      return new Response('sent')
    }
    const sessionId = request.headers.get('mcp-session-id')
    const id = sessionId === null ? env.BARE.newUniqueId() : env.BARE.idFromString(sessionId)
    const response = await env.BARE.get(id).fetch(request)
    if (sessionId !== null) return response
    return new Response(response.body, { headers: { 'mcp-session-id': String(id) } })
  },
}
/** How often a session object was created in memory, and the rows that all of them wrote. */
let lives = 0
let rows = 0

export class McpSession extends worker.durableObjects.McpSession {
  constructor(...args: ConstructorParameters<typeof worker.durableObjects.McpSession>) {
    countRows(args[0], (written) => (rows += written))
    super(...args)
    lives++
  }
}
export const { McpHub } = worker.durableObjects
