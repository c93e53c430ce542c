// What a page does under a policy that forbids everything but its own scripts and one server:
// connects in every revision, with either client, and is a server itself.
import { connect, createReconnectingClient, revisions } from 'edgewise/browser'
import { connect as connectTiny } from 'edgewise/browser/tiny'
import { jsonSchema } from 'edgewise/json-schema'
import { createServer, serveTransport } from 'edgewise/server'
import { inMemoryTransports } from 'edgewise/transport'

const url = new URLSearchParams(location.search).get('server') ?? ''

async function calls(): Promise<unknown[]> {
  const results: unknown[] = []
  for (const { version } of revisions) {
    const client = await connect(url, {
      revision: version,
      onElicit: () => ({ action: 'accept', content: { city: 'Oslo' } }),
      onToolsChanged: () => {},
    })
    const tiny = await connectTiny(url, { revision: version })
    for (const each of [client, tiny]) {
      const { content } = await each.callTool('greet', { name: version })
      results.push(content[0])
      await each.close()
    }
  }
  return results
}

async function serves(): Promise<unknown> {
  const input = jsonSchema<{ a: number }>({
    type: 'object',
    properties: { a: { type: 'number', minimum: 1 } },
    required: ['a'],
  })
  const server = createServer({ name: 'page', version: '1.0.0' })
  server.tool('double', { input }, ({ a }) => String(a * 2))
  const [near, far] = inMemoryTransports()
  void serveTransport(server, far)
  const client = await connect(near)
  const right = await client.callTool('double', { a: 2 })
  const wrong = await client.callTool('double', { a: 0 })
  await client.close()
  return [right.content[0], wrong.isError]
}

async function stays(): Promise<string> {
  // Taken from its object, as browsers refuse one that is called as a method of another
  const connection = createReconnectingClient(url, { fetch: globalThis.fetch })
  const client = await connection.ready()
  await connection.close()
  return client.revision
}

const outcome = Promise.all([calls(), serves(), stays()])
Object.assign(globalThis, { outcome: outcome.catch((error: unknown) => String(error)) })
