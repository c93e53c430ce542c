// What `edgewise check` finds about a server that loses sessions, stops answering, or speaks no published revision.
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/index.ts'
import {
  check,
  failure,
  handlerAt,
  legacyOnly,
  LOCAL,
  messageOf,
  otherwise,
  result,
  rulesOf,
  type Fetch,
} from './checked-server.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('A session', () => {
  /** Answers every second call with an error. */
  function losing(onLoss = () => {}): Fetch {
    let calls = 0
    return otherwise(handlerAt(LOCAL), (request, message) => {
      if (message?.method !== 'tools/call' || !request.headers.has('mcp-session-id'))
        return undefined
      if (calls++ % 2 === 1) return undefined
      onLoss()
      return failure(null, -32001, 404)
    })
  }

  it('that the server loses is found, instead of what follows from it', async () => {
    expect(await check(LOCAL, losing())).toEqual([
      {
        rule: 'session-lost',
        severity: 'error',
        message:
          'The session was lost after 2 requests: "tools/call" was answered with 404 and the error -32001',
      },
    ])
  })

  it('that the server loses in every process is found', async () => {
    const serve = otherwise(handlerAt(LOCAL), (request, message) =>
      message?.method === 'tools/call' && request.headers.has('mcp-session-id')
        ? failure(null, -32001, 404)
        : undefined,
    )
    expect(rulesOf(await check(LOCAL, serve))).toEqual(['session-lost'])
  })

  it('that the server loses after a minute gets a warning', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const serve = losing(() => vi.setSystemTime(Date.now() + 60_000))
    expect(await check(LOCAL, serve)).toMatchObject([{ rule: 'session-lost', severity: 'warning' }])
  })

  it('that the server requires, but gives no id of, is found, instead of what follows from it', async () => {
    const serve = otherwise(legacyOnly, (_request, message) => {
      if (message?.method === 'tools/list')
        return Response.json(
          {
            jsonrpc: '2.0',
            id: null,
            error: { code: -32000, message: 'Mcp-Session-Id is required' },
          },
          { status: 400 },
        )
      if (message?.method !== 'initialize')
        return message ? new Response(null, { status: 202 }) : undefined
      const serverInfo = { name: 'forgetful', version: '1' }
      const { protocolVersion } = message.params as JsonObject
      const version = protocolVersion === '1999-12-31' ? '2025-11-25' : protocolVersion
      return result(message.id, {
        protocolVersion: version,
        capabilities: { tools: {} },
        serverInfo,
      })
    })
    expect(await check(LOCAL, serve)).toEqual([
      {
        rule: 'session-id',
        severity: 'error',
        message:
          'The server requires a session, but "initialize" was answered without "Mcp-Session-Id". The rest was not checked',
      },
    ])
  })

  it('is not lost if the server answers an unknown method with 404 in each session', async () => {
    const serve = otherwise(handlerAt(LOCAL), (request, message) =>
      message?.method === 'edgewise/unknown' && request.headers.has('mcp-session-id')
        ? new Response('Not found', { status: 404 })
        : undefined,
    )
    expect(rulesOf(await check(LOCAL, serve))).toEqual(['unknown-method'])
  })
})

it.each<[string, (id: unknown) => Response]>([
  ['a result with "isError": true', (id) => result(id, { content: [], isError: true })],
  ['200 and the error -32601', (id) => failure(id, -32601)],
])('The answer to a call of an unknown tool with %s is a note', async (what, answer) => {
  const serve = otherwise(handlerAt(LOCAL), (_request, message) =>
    message?.method === 'tools/call' ? answer(message.id) : undefined,
  )
  expect(await check(LOCAL, serve)).toEqual([
    {
      rule: 'unknown-tool',
      severity: 'note',
      message: `"tools/call" was sent with the name "edgewise-unknown-tool", which no tool has. It was answered with ${what}, instead of the error -32602`,
    },
  ])
})

it.each([
  ['400 without a JSON-RPC response', 'Invalid JSON'],
  [
    '400 and a stack trace, which reveals paths of the server',
    '<pre>SyntaxError: Unexpected end<br> &nbsp; &nbsp;at parse (/srv/app/node_modules/a/index.js:7:19)</pre>',
  ],
])('A malformed body that is answered with %s gets a note', async (what, text) => {
  const serve = otherwise(handlerAt(LOCAL), (request, message) =>
    request.method === 'POST' && !message ? new Response(text, { status: 400 }) : undefined,
  )
  expect(await check(LOCAL, serve)).toEqual([
    {
      rule: 'parse-error',
      severity: 'note',
      message: `A body that is not JSON was answered with ${what}`,
    },
  ])
})

it('A GET request that gets no response is found', async () => {
  const serve = handlerAt(LOCAL)
  const found = await check(LOCAL, (request) =>
    request.method === 'GET' && request.headers.has('mcp-session-id')
      ? Promise.reject(new TypeError('fetch failed'))
      : serve(request),
  )
  expect(found).toMatchObject([
    {
      rule: 'get-stream',
      message: `GET ${LOCAL}, which tests "get-stream", got no response: fetch failed`,
    },
  ])
})

describe('A version in the answer to "initialize"', () => {
  const answering = (protocolVersion: string): Fetch =>
    otherwise(legacyOnly, (_request, message) =>
      message?.method === 'initialize'
        ? result(message.id, {
            protocolVersion,
            capabilities: {},
            serverInfo: { name: 'notes', version: '1' },
          })
        : undefined,
    )

  it('that is not the latest one of the server is found', async () => {
    const serve = otherwise(legacyOnly, (_request, message) => {
      const { protocolVersion } = (message?.params ?? {}) as JsonObject
      if (message?.method !== 'initialize' || protocolVersion === '2025-06-18') return undefined
      const serverInfo = { name: 'old', version: '1' }
      return result(message.id, { protocolVersion: '2025-03-26', capabilities: {}, serverInfo })
    })
    expect(await check(LOCAL, serve)).toContainEqual({
      rule: 'version-negotiation',
      severity: 'warning',
      message:
        'The version "1999-12-31" was answered with the version "2025-03-26", although the server supports "2025-06-18"',
    })
  })

  it.each([
    ['2024-10-07', 'not a published revision'],
    ['draft', 'not a published revision'],
    ['2099-01-01', 'newer than the revisions that can be checked'],
  ])('that is %s is the first finding', async (version, what) => {
    const [found] = await check(LOCAL, answering(version))
    expect(found).toMatchObject({
      rule: 'version-negotiation',
      message: `"initialize" was answered with the version "${version}", which is ${what}`,
    })
  })
})

describe('A server that stops answering', () => {
  const MALFORMED = '{"jsonrpc": "2.0", '

  /** A server, and the methods that it received after a malformed body. */
  function crashing(isAliveAfter: boolean): { readonly serve: Fetch; readonly after: unknown[] } {
    let hasCrashed = false
    const after: unknown[] = []
    const serve: Fetch = async (request) => {
      const text = await request.clone().text()
      if (hasCrashed) after.push((await messageOf(request))?.method ?? request.method)
      if (hasCrashed && !isAliveAfter) throw new TypeError('fetch failed')
      if (text !== MALFORMED) return handler(request)
      hasCrashed = true
      throw new TypeError('fetch failed', { cause: new Error('other side closed') })
    }
    const handler = handlerAt(LOCAL)
    return { serve, after }
  }

  it('after a malformed body is found, after everything else was checked', async () => {
    const { serve, after } = crashing(false)
    expect(await check(LOCAL, serve)).toMatchObject([
      {
        rule: 'malformed-body',
        severity: 'error',
        message: 'The server stopped answering after a malformed body',
      },
    ])
    expect(after).toEqual(['initialize'])
  })

  it('only to a malformed body is found, with the request and the reason', async () => {
    const { serve, after } = crashing(true)
    expect(await check(LOCAL, serve)).toMatchObject([
      {
        rule: 'malformed-body',
        message: `POST ${LOCAL} with the body ${JSON.stringify(MALFORMED)}, which tests "malformed-body", got no response: fetch failed: other side closed`,
      },
    ])
    expect(after).toEqual(['initialize', 'DELETE', 'DELETE'])
  })

  it('in time may just be slow, and the rest was not checked', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const serve = handlerAt(LOCAL)
    const found = await check(LOCAL, async (request) => {
      const message = await messageOf(request)
      const isLegacy = request.headers.has('mcp-session-id')
      if (!isLegacy || message?.method !== 'tools/call') return serve(request)
      vi.advanceTimersByTime(5_000)
      return new Promise(() => {})
    })
    expect(found).toEqual([
      {
        rule: 'no-response',
        severity: 'error',
        message: `POST ${LOCAL} with "tools/call", which tests "unknown-tool", got no response within 5000 ms. The server may just be slow. The rest was not checked`,
      },
    ])
  })

  it('in between is found, with the request, its rule and what was found before', async () => {
    const serve = handlerAt(LOCAL)
    const found = await check(LOCAL, async (request) => {
      const message = await messageOf(request)
      const { protocolVersion } = (message?.params ?? {}) as JsonObject
      if (protocolVersion === '1999-12-31') return failure(message?.id, -32602)
      const isLegacy = request.headers.has('mcp-session-id')
      if (isLegacy && message?.method === 'edgewise/unknown') throw new TypeError('fetch failed')
      return serve(request)
    })
    expect(found).toMatchObject([
      { rule: 'version-negotiation' },
      {
        rule: 'no-response',
        message: `POST ${LOCAL} with "edgewise/unknown", which tests "unknown-method", got no response: fetch failed. The rest was not checked`,
      },
    ])
  })
})

describe('A response', () => {
  const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  /** Answers one method with a body. */
  const answering = (method: string, body: string): Fetch =>
    otherwise(legacyOnly, (_request, message) => {
      const headers = { 'content-type': 'application/json' }
      return message?.method === method ? new Response(body, { headers }) : undefined
    })

  it('that is nested so deeply that recursion would fail is not a JSON-RPC response', async () => {
    const body = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":${nested}}}`
    expect(rulesOf(await check(LOCAL, answering('initialize', body)))).toEqual(['not-mcp'])
  })

  it('that is too long is a finding, and if it is the first one, the check fails', async () => {
    const body = ' '.repeat(5_000_000)
    expect(await check(LOCAL, answering('edgewise/unknown', body))).toMatchObject([
      { rule: 'no-response', message: expect.stringMatching(/"edgewise\/unknown".* more than/) },
    ])
    await expect(check(LOCAL, answering('initialize', body))).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining(`POST ${LOCAL} with "initialize" got a response`),
    })
  })

  it('with entries that have no name is a finding, and the other entries are checked', async () => {
    const named = { name: 'a b', description: 'A', inputSchema: { type: 'object' } }
    const tools = [{ name: 7 }, named]
    const serve = otherwise(legacyOnly, (_request, message) =>
      message?.method === 'tools/list' ? result(message.id, { tools }) : undefined,
    )
    const found = await check(LOCAL, serve)
    expect(rulesOf(found)).toEqual(['list-fails', 'tool-name', 'tool-annotations'])
    expect(found[0]?.message).toBe('The "name" of an entry is not a string: {"name":7}')
  })

  it('with the names of many authorization servers leads to few requests', async () => {
    let count = 0
    const serve: Fetch = async (request) => {
      count++
      if (!request.url.includes('oauth-protected-resource'))
        return new Response(null, { status: request.url === LOCAL ? 401 : 404 })
      const servers = Array.from({ length: 1_000 }, (_, index) => `https://as${index}.example`)
      return Response.json({ resource: LOCAL, authorization_servers: servers })
    }
    await check(LOCAL, serve)
    expect(count).toBeLessThan(30)
  })
})
