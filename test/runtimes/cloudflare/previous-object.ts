// A Worker of this version whose session objects are those of commit 57fd68c, as far as the Worker can
// report: they answer in its formats, and return the request that they got.
import { DurableObject } from 'cloudflare:workers'
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { authenticate, createServer } from '../../../src/presets/server.ts'

const worker = createWorker(createServer({ name: 'new', version: '1' }), {
  sessionKey: (request) => request.headers.get('x-key') ?? undefined,
  auth: authenticate((request) => {
    const principal = request.headers.get('x-user') ?? undefined
    return principal === undefined ? {} : { principal, auth: { subject: principal } }
  }),
})

export class McpSession extends DurableObject {
  async fetch(request: Request): Promise<Response> {
    const id = this.ctx.id.toString()
    const { method, headers } = request
    const asked = Object.fromEntries(headers)
    if (method === 'POST') {
      const { id: requestId } = (await request.json()) as { id: number }
      const result = { id, asked }
      const named = { 'mcp-session-id': id }
      return Response.json({ jsonrpc: '2.0', id: requestId, result }, { headers: named })
    }
    if (headers.get('last-event-id') !== 'c037c180_3') {
      const session = encodeURIComponent(JSON.stringify({ session: id, primed: true }))
      return new Response(null, { headers: { 'edgewise-session': session } })
    }
    const { 0: client, 1: own } = new WebSocketPair()
    const socket = own as WebSocket
    this.ctx.acceptWebSocket(socket)
    socket.send('+{"id":"c037c180_4","da')
    socket.send('.ta":"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":3,\\"result\\":{}}"}')
    socket.close(1000, 'The stream ended')
    const init = { status: 101, webSocket: client }
    return new Response(null, init)
  }

  keeps(): boolean {
    return true
  }
}

export default worker
export const { McpHub } = worker.durableObjects
