// Headers that a proxy joined, as they were sent twice.
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { connect } from '../../../src/presets/client.ts'
import type { JsonObject } from '../../../src/index.ts'
import {
  createHandler,
  createServer,
  statefulSessions,
  type Handler,
  type HandlerOptions,
} from '../../../src/presets/server.ts'
import { sessionsOf } from '../../handler.ts'
import {
  allMessages,
  lastMessage,
  modernHeaders,
  modernRequest,
  openSession,
  post,
} from './post.ts'

function serve(options: HandlerOptions = {}): Handler {
  const server = createServer({ name: 's', version: '1' })
  const input = z.object({ city: z.string().meta({ 'x-mcp-header': 'City' }) })
  server.tool('say', { input }, async ({ city }) => city)
  server.tool('wait', {}, async (_args, ctx) => {
    await ctx.progress(1)
    return 'waited'
  })
  return createHandler(server, { sessions: statefulSessions(), ...options })
}

const URL_ = 'https://api.example/mcp'
const ping: JsonObject = { jsonrpc: '2.0', id: 1, method: 'ping' }

describe('A header sent twice with one value', () => {
  it('has that value [P017]', async () => {
    const handle = serve()
    const { id } = await openSession(handle)
    const twice = {
      'mcp-session-id': `${id}, ${id}`,
      'mcp-protocol-version': '2025-11-25, 2025-11-25',
      'content-type': 'application/json, application/json',
    }
    expect((await post(handle, ping, twice)).status).toBe(200)
    const headers = { accept: 'text/event-stream', 'mcp-session-id': `${id}, ${id}` }
    expect((await handle(new Request(URL_, { headers }))).status).toBe(200)
  })

  it('resumes a stream [P017]', async () => {
    const handle = serve()
    const { id, send } = await openSession(handle)
    const params = { name: 'wait', _meta: { progressToken: 1 } }
    const response = await send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params })
    const [, event] = /^id: (.+)$/m.exec(await response.text()) ?? []
    const headers = {
      accept: 'text/event-stream',
      'mcp-session-id': id,
      'last-event-id': `${event}, ${event}`,
    }
    const resumed = await handle(new Request(URL_, { headers }))
    expect((await allMessages(resumed)).at(-1)).toHaveProperty('result')
  })

  it('reaches a session that is served elsewhere [P017]', async () => {
    const seen: string[] = []
    const front = serve({ sessions: sessionsOf(serve(), (sessionId) => void seen.push(sessionId)) })
    const { id } = await openSession(front)
    expect((await post(front, ping, { 'mcp-session-id': `${id}, ${id}` })).status).toBe(200)
    expect(seen.at(-1)).toBe(id)
  })

  it('repeats a value of the body [P017]', async () => {
    const handle = serve()
    const headers = { ...modernHeaders('tools/call', 'say'), 'mcp-param-city': 'Rome' }
    const twice = Object.entries(headers).map(([name, value]) => [name, `${value}, ${value}`])
    const body = modernRequest('tools/call', { name: 'say', arguments: { city: 'Rome' } })
    const { result } = await lastMessage(await post(handle, body, Object.fromEntries(twice)))
    expect(result).toHaveProperty('content.0.text', 'Rome')
  })

  it('names the one page that may read the answer [P017]', async () => {
    const handle = serve({ allowedOrigins: ['https://app.example'] })
    const headers = { origin: 'https://app.example, https://app.example' }
    const response = await handle(new Request(URL_, { method: 'OPTIONS', headers }))
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example')
  })

  it('names the session to a client [P017]', async () => {
    const handle = serve()
    const asked: (string | null)[] = []
    await using client = await connect(URL_, {
      revision: '2025-11-25',
      async fetch(url, init) {
        const request = new Request(url, init)
        asked.push(request.headers.get('mcp-session-id'))
        const response = await handle(request)
        const id = response.headers.get('mcp-session-id')
        if (id !== null) response.headers.append('mcp-session-id', id)
        return response
      },
    })
    await expect(client.listAllTools()).resolves.toHaveLength(2)
    expect(asked.at(-1)).not.toContain(',')
  })
})

it('a value with a comma in it is one value, where the body says the same', async () => {
  const handle = serve()
  const headers = { ...modernHeaders('tools/call', 'say'), 'mcp-param-city': 'Rome, Rome' }
  const body = modernRequest('tools/call', { name: 'say', arguments: { city: 'Rome, Rome' } })
  const { result } = await lastMessage(await post(handle, body, headers))
  expect(result).toHaveProperty('content.0.text', 'Rome, Rome')
})

describe('A header sent twice with different values', () => {
  it.each(['mcp-session-id', 'mcp-protocol-version', 'content-type'])(
    'is an error that says so: %s [P017]',
    async (name) => {
      const handle = serve()
      const { id } = await openSession(handle)
      const response = await post(handle, ping, { 'mcp-session-id': id, [name]: 'a, b' })
      expect(response.status).toBe(400)
      const message = `The header "${name}" has different values: "a, b"`
      expect(await response.json()).toHaveProperty('error.message', message)
    },
  )

  it('is an error that says so to a client [P017]', async () => {
    const handle = serve()
    const connecting = connect(URL_, {
      revision: '2025-11-25',
      async fetch(url, init) {
        const response = await handle(new Request(url, init))
        response.headers.append('mcp-session-id', 'other')
        return response
      },
    })
    await expect(connecting).rejects.toThrow('The header "mcp-session-id" has different values')
  })
})
