/** What a client tries in turn when it connects, and what it says when nothing works. */
import { describe, expect, test } from 'vitest'
import { connect } from '../../src/presets/client.ts'
import {
  connectTo,
  duplexPeer,
  error,
  eventStream,
  httpPeer,
  initialized,
  json,
  refuse,
  reply,
  result,
  type HttpPeer,
  type ScriptedRequest,
} from './peers.ts'

const proposed = ({ message }: ScriptedRequest): unknown =>
  (message.params as { protocolVersion?: unknown } | undefined)?.protocolVersion

/** A server that has one old revision, and refuses any other in its own way. */
function oldServer(version: string, refusal: (request: ScriptedRequest) => Response): HttpPeer {
  return httpPeer((request) => {
    const { method } = request.message
    if (request.method !== 'POST') return new Response(null, { status: 405 })
    if (method === 'notifications/initialized') return new Response(null, { status: 202 })
    if (method === 'initialize' && proposed(request) === version) {
      return result(request, initialized(version))
    }
    return refusal(request)
  })
}

const plain = (): Response => new Response('Unsupported protocol version', { status: 400 })

describe('a server that refuses a newer revision', () => {
  test.each<[string, (request: ScriptedRequest) => Response]>([
    ['HTTP 400 and plain text', plain],
    ['HTTP 400 and a JSON-RPC error', (request) => error(request, -32000, 400)],
    ['HTTP 200 and a JSON-RPC error', (request) => error(request, -32602)],
  ])('by %s is asked for the older ones in turn [C003]', async (_, refusal) => {
    const peer = oldServer('2025-03-26', refusal)
    await using client = await connectTo(peer)
    expect(client.revision).toBe('2025-03-26')
    expect(peer.received('initialize').map(proposed)).toEqual([
      '2025-11-25',
      '2025-06-18',
      '2025-03-26',
    ])
  })

  test('over a transport is asked for the older ones in turn [C003]', async () => {
    const peer = duplexPeer((message) => {
      if (message.id === undefined) return undefined
      const { protocolVersion } = message.params as { protocolVersion?: string }
      return protocolVersion === '2024-11-05'
        ? reply(message, initialized('2024-11-05'))
        : refuse(message, -32603)
    })
    await using client = await connectTo(peer)
    expect(client.revision).toBe('2024-11-05')
  })

  test('is asked only for revisions that the application allows [C003]', async () => {
    const peer = oldServer('2025-03-26', plain)
    await expect(connectTo(peer, { revision: ['2025-11-25', '2025-06-18'] })).rejects.toThrow()
    expect(peer.received('initialize').map(proposed)).toEqual(['2025-11-25', '2025-06-18'])
  })

  test('by HTTP 404 is not tried again, because no endpoint exists [C003]', async () => {
    const peer = oldServer('2025-03-26', () => new Response(null, { status: 404 }))
    await expect(connectTo(peer)).rejects.toThrow()
    expect(peer.received('initialize')).toHaveLength(1)
  })
})

describe('a failure to connect', () => {
  test('reports the outcome of each attempt [C003] [C023]', async () => {
    const peer = httpPeer((request) =>
      request.method === 'GET'
        ? new Response('Nothing streams here', { status: 405 })
        : new Response(`No ${String(proposed(request))}`, { status: 400 }),
    )
    const refused = (method: string, version: string, said = version): string =>
      `${version}: "${method}" was refused (HTTP 400): No ${said}`
    await expect(connectTo(peer)).rejects.toMatchObject({
      code: 'HTTP',
      message: [
        '"https://peer.example/mcp" is not an MCP endpoint: ' +
          refused('server/discover', '2026-07-28', 'undefined'),
        refused('initialize', '2025-11-25'),
        refused('initialize', '2025-06-18'),
        refused('initialize', '2025-03-26'),
        refused('initialize', '2024-11-05'),
        'HTTP+SSE: The connection is closed: The server opened no stream (HTTP 405): Nothing streams here',
      ].join('; '),
    })
  })

  test.each([
    ['https://evil.example/post', 'The endpoint "https://evil.example/post" is on another origin'],
    ['/post', '"https://peer.example/post" refused a message (HTTP 404): No such path'],
  ])('over HTTP+SSE to the endpoint %s names its own reason [C023]', async (where, reason) => {
    const peer = httpPeer((request) => {
      if (request.method === 'POST') {
        return request.url.endsWith('/post')
          ? new Response('No such path', { status: 404 })
          : new Response(null, { status: 405 })
      }
      const stream = eventStream()
      stream.write(`event: endpoint\ndata: ${where}\n\n`)
      return stream.response
    })
    await expect(connectTo(peer)).rejects.toMatchObject({
      code: 'HTTP',
      message: expect.stringContaining(reason) as string,
    })
  })

  test('over a transport reports the outcome of each attempt, with the code of the last [C023]', async () => {
    const peer = duplexPeer((message) =>
      message.method === 'server/discover' ? refuse(message, -32601) : refuse(message, -32603),
    )
    await expect(connectTo(peer, { revision: ['2026-07-28', '2025-11-25'] })).rejects.toMatchObject(
      { code: -32603, message: '2026-07-28: error -32601; 2025-11-25: error -32603' },
    )
  })

  test('for lack of authorization reports only that, not the earlier attempts [C023]', async () => {
    const peer = httpPeer((request) =>
      request.message.method === 'server/discover'
        ? error(request, -32601, 404)
        : new Response(null, { status: 401 }),
    )
    await expect(connectTo(peer)).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
      message: '"https://peer.example/mcp" is protected (HTTP 401)',
    })
  })

  test('by an error of the application leaves that as it is [C023]', async () => {
    const mine = new Error('No key in the vault')
    const peer = httpPeer((request) => error(request, -32601, 404))
    const headers = (): Record<string, string> => {
      if (peer.requests.length > 0) throw mine
      return {}
    }
    await expect(connectTo(peer, { headers })).rejects.toBe(mine)
    expect(mine.message).toBe('No key in the vault')
  })

  test('of a single attempt is reported unchanged [C023]', async () => {
    const peer = httpPeer((request) => error(request, -32603, 500))
    await expect(connectTo(peer, { revision: '2025-11-25' })).rejects.toMatchObject({
      code: -32603,
      message: 'error -32603',
    })
  })
})

describe("a server's explanation in an error body", () => {
  test.each<[string, Response]>([
    ['plain text', new Response('Your plan has no API access\n', { status: 403 })],
    ['"message"', json({ message: 'Your plan has no API access' }, 403)],
    [
      '"error_description"',
      json({ error: 'x', error_description: 'Your plan has no API access' }, 403),
    ],
    ['"error"."message"', json({ error: { message: 'Your plan has no API access' } }, 403)],
    [
      '"detail" of RFC 9457',
      json({ title: 'Forbidden', detail: 'Your plan has no API access' }, 403),
    ],
  ])('as %s is part of the message [I012]', async (_, response) => {
    const peer = httpPeer(() => response)
    await expect(connectTo(peer, { revision: '2026-07-28' })).rejects.toMatchObject({
      code: 'HTTP',
      message: '"server/discover" was refused (HTTP 403): Your plan has no API access',
    })
  })

  test.each([401, 403])(
    'is part of the message of a protected server too: %s [I012]',
    async (status) => {
      const headers = { 'www-authenticate': 'Bearer realm="x"' }
      const peer = httpPeer(() => new Response('Ask your administrator', { status, headers }))
      await expect(connectTo(peer)).rejects.toMatchObject({
        code: status === 401 ? 'UNAUTHORIZED' : 'FORBIDDEN',
        message: `"https://peer.example/mcp" is protected (HTTP ${status}): Ask your administrator`,
        data: { body: 'Ask your administrator' },
      })
    },
  )

  test('in the challenge alone is part of the message [I012]', async () => {
    const headers = { 'www-authenticate': 'Bearer error_description="The token has expired"' }
    const peer = httpPeer(() => new Response(null, { status: 401, headers }))
    await expect(connectTo(peer)).rejects.toThrow('(HTTP 401): The token has expired')
  })

  test('as markup is left out, control characters and length are bounded [I012]', async () => {
    const page = httpPeer(() => new Response('<html>Forbidden</html>', { status: 403 }))
    await expect(connectTo(page)).rejects.toThrow(/\(HTTP 403\)$/)
    const long = httpPeer(() => new Response(`a\u001b[2J\nb${'x'.repeat(1_000)}`, { status: 403 }))
    await expect(connectTo(long)).rejects.toThrow(/: a \[2J bx{193}$/)
  })
})

test.each([
  ['localhost:8787/mcp', '; did you mean "http://localhost:8787/mcp"?'],
  ['127.0.0.1:8787', '; did you mean "http://127.0.0.1:8787"?'],
  ['api.example.com/mcp', '; did you mean "https://api.example.com/mcp"?'],
  ['/mcp', ''],
  ['ws://example.com/mcp', ''],
])(
  'an address without a scheme, %s, is rejected with a suggestion [P009]',
  async (address, hint) => {
    await expect(connect(address)).rejects.toMatchObject({
      code: 'INVALID_USE',
      message: `"${address}" is not an HTTP URL${hint}`,
    })
  },
)
