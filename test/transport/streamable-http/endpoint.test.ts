// A handler at its path, as Node, Deno and Bun serve it.
import { describe, expect, it } from 'vitest'
import { createServer } from '../../../src/presets/server.ts'
import { createEndpoint } from '../../../src/transport/streamable-http/endpoint.ts'
import { modernHeaders, modernRequest } from './post.ts'

describe.each(['/mcp', '/v1.0/mcp/', '/a+b', '/tools(all)', '/'])('The path %s', (path) => {
  const { fetch } = createEndpoint(createServer({ name: 's', version: '1' }), { path })
  const post = (to: string): Promise<Response> =>
    fetch(
      new Request(`http://127.0.0.1${to}`, {
        method: 'POST',
        headers: {
          ...modernHeaders('server/discover'),
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        },
        body: JSON.stringify(modernRequest('server/discover')),
      }),
    )

  it('reaches the server, with a slash at its end or a query too', async () => {
    for (const to of [path, `${path}/`, `${path}?a=1`]) expect((await post(to)).status).toBe(200)
  })

  it('is the only one that does', async () => {
    for (const to of ['/other', '/aab', '/v1x0/mcp', '/toolsall', `${path}/more`]) {
      expect((await post(to)).status, to).toBe(404)
    }
  })
})
