// Objects of this version behind a Worker that asks them as that of commit 57fd68c did: every request
// is forwarded to an object as it is, and the object's socket messages are returned as JSON.
import { createWorker } from '../../../runtimes/cloudflare/index.ts'
import { createServer } from '../../../src/presets/server.ts'

const server = createServer({ name: 'new', version: '1' })
server.tool('who', {}, (_args, ctx) => JSON.stringify([ctx.principal, ctx.auth]))
server.tool('count', {}, async (_args, ctx) => {
  await ctx.progress(1)
  return 'counted'
})
const { durableObjects } = createWorker(server)
export const { McpSession, McpHub } = durableObjects

/** The little that is needed of Workers' types. */
interface Namespace {
  newUniqueId(): object
  idFromString(text: string): object
  idFromName(name: string): object
  get(id: object): { fetch(request: Request): Promise<Response & { webSocket: Socket | null }> }
}
type Socket = WebSocket & { accept(): void }
interface Env {
  readonly MCP_SESSION: Namespace
  readonly MCP_HUB: Namespace
}

/** What an object answered with a socket sends on it, until as many messages came. */
async function messagesOf(socket: Socket, count: number): Promise<string[]> {
  const messages: string[] = []
  const enough = new Promise<void>((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      if (messages.push(String(data)) === count) resolve()
    })
  })
  socket.accept()
  socket.send('')
  await enough
  socket.close(1000, 'No reader')
  return messages
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const { MCP_SESSION: sessions, MCP_HUB: hubs } = env
    const sessionId = request.headers.get('mcp-session-id')
    const id = sessionId === null ? sessions.newUniqueId() : sessions.idFromString(sessionId)
    const object = pathname === '/hub' ? hubs.get(hubs.idFromName('hub 0')) : sessions.get(id)
    const forwarded = new Request(request)
    if (request.method === 'GET') forwarded.headers.set('upgrade', 'websocket')
    const response = await object.fetch(forwarded)
    const { webSocket, status, headers } = response
    if (!webSocket) return response
    const messages = await messagesOf(webSocket, Number(searchParams.get('messages')))
    return Response.json({ status, headers: Object.fromEntries(headers), messages })
  },
}
