// Sessions whose requests reach two processes in turn, as a portable suite.
import { createHandler, createServer, text, type Handler } from '../../../src/presets/server.ts'
import type { PostgresStorage } from '../../../src/postgres/index.ts'
import type { JsonObject } from '../../../src/index.ts'
import { equal, ok, type Suite } from '../harness.ts'

const URL_ = 'http://localhost/mcp'
const decoder = new TextDecoder()

interface Opened {
  readonly handle: Handler
  readonly headers: Record<string, string>
}

function post({ handle, headers }: Opened, message: JsonObject): Promise<Response> {
  const accept = 'application/json, text/event-stream'
  const all = { 'content-type': 'application/json', accept, ...headers }
  const body = JSON.stringify({ jsonrpc: '2.0', ...message })
  return handle(new Request(URL_, { method: 'POST', headers: all, body }))
}

/** Reads a stream until it has what is wanted, and leaves it; returns all of it. */
async function readUntil(response: Response, wanted: string): Promise<string> {
  let read = ''
  const reader = response.body?.getReader()
  while (reader && !read.includes(wanted)) {
    const { value, done } = await reader.read()
    if (done) break
    read += decoder.decode(value, { stream: true })
  }
  await reader?.cancel()
  ok(read.includes(wanted), `"${wanted}" is missing in "${read}"`)
  return read
}

/** A handler of a server with a tool that asks. */
function serve(storage: PostgresStorage): { handle: Handler } {
  const server = createServer({ name: 's', version: '1' })
  server.tool('ask', {}, async (_args, ctx) => {
    const properties = { name: { type: 'string' } } as const
    const schema = { type: 'object', properties } as const
    return text(JSON.stringify(await ctx.elicit({ message: 'Who?', schema })))
  })
  return { handle: createHandler(server, { sessions: storage.sessions() }) }
}

/** The suite for storages that share a schema. */
export function sessionSuite(openStorages: () => [PostgresStorage, PostgresStorage]): Suite {
  return {
    'A question of one process is answered through another, where its stream is resumed':
      async () => {
        const [one, two] = openStorages().map(serve)
        if (!one || !two) throw new Error('There are two storages')
        const opened = await post(
          { ...one, headers: {} },
          {
            id: 0,
            method: 'initialize',
            params: {
              protocolVersion: '2025-11-25',
              capabilities: { elicitation: {} },
              clientInfo: { name: 'c', version: '1' },
            },
          },
        )
        const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
        const [here, there] = [
          { ...one, headers },
          { ...two, headers },
        ]
        equal((await post(there, { method: 'notifications/initialized' })).status, 202)
        const params = { name: 'ask', arguments: {} }
        const calling = await post(here, { id: 1, method: 'tools/call', params })
        const asked = await readUntil(calling, 'elicitation/create')
        const [, question] = /"id":(\d+),"method":"elicitation/.exec(asked) ?? []
        const [lastId] = [...asked.matchAll(/^id: (.+)$/gm)].map(([, id]) => id ?? '').slice(-1)
        const resumed = await two.handle(
          new Request(URL_, {
            headers: { ...headers, accept: 'text/event-stream', 'last-event-id': lastId ?? '' },
          }),
        )
        const result = { action: 'accept', content: { name: 'Ada' } }
        equal((await post(there, { id: Number(question), result })).status, 202)
        await readUntil(resumed, 'Ada')
        await Promise.all([one.handle.close(), two.handle.close()])
      },
  }
}
