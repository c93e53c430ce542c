// What `edgewise check` finds: nothing on a server that follows the rules, and each rule that a server breaks.
import { describe, expect, it } from 'vitest'
import { checkEndpoint, checkProgram } from '../../src/check/check-server.ts'
import type { Finding } from '../../src/check/finding.ts'
import { rules, type RuleId } from '../../src/check/rules.ts'
import type { JsonObject } from '../../src/index.ts'
import { connect } from '../../src/presets/client.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import {
  check,
  collect,
  failure,
  goodServer,
  handlerAt,
  legacyOnly,
  LOCAL,
  messageOf,
  otherwise,
  PUBLIC,
  result,
  rulesOf,
  type Fetch,
} from './checked-server.ts'

describe('A check', () => {
  it.each([LOCAL, PUBLIC])('finds nothing on a server of ours at %s', async (url) => {
    expect(await check(url, handlerAt(url))).toEqual([])
  })

  it('finds nothing in a program of ours', async () => {
    const findings = checkProgram(() => connectInMemory(goodServer()))
    expect(await collect(findings)).toEqual([])
  })

  it('leaves no session open, and calls no tool', async () => {
    const opened = new Set<string>()
    const called: unknown[] = []
    const serve = handlerAt(LOCAL)
    await check(LOCAL, async (request) => {
      const message = await messageOf(request)
      if (message?.method === 'tools/call') called.push((message.params as JsonObject).name)
      const { method, headers } = request
      const response = await serve(request)
      const sessionId = response.headers.get('mcp-session-id')
      if (message?.method === 'initialize' && sessionId !== null) opened.add(sessionId)
      if (method === 'DELETE') opened.delete(headers.get('mcp-session-id') ?? '')
      return response
    })
    expect([...opened]).toEqual([])
    expect(new Set(called)).toEqual(new Set(['edgewise-unknown-tool']))
  })

  it('fails if nothing answers, or not in time', async () => {
    const refuse: Fetch = () => Promise.reject(new TypeError('fetch failed'))
    await expect(check(LOCAL, refuse)).rejects.toThrow(
      `POST ${LOCAL} with "initialize" got no response: fetch failed`,
    )
    const options = { url: LOCAL, headers: new Headers(), timeoutMs: 1 }
    const never = checkEndpoint({ ...options, fetch: () => new Promise(() => {}) }, () => {
      throw new Error('unused')
    })
    await expect(collect(never)).rejects.toMatchObject({ code: 'TIMEOUT' })
  })

  it('sends the headers of the user, but not with a preflight', async () => {
    const seen: [string, string | null][] = []
    const serve = handlerAt(PUBLIC)
    const log: Fetch = (request) => {
      seen.push([request.method, request.headers.get('authorization')])
      return serve(request)
    }
    await check(PUBLIC, log, new Headers({ authorization: 'Bearer x' }))
    expect(seen).toContainEqual(['POST', 'Bearer x'])
    expect(seen).toContainEqual(['OPTIONS', null])
  })
})

/** How a server breaks a rule: its URL, what it answers otherwise, and a part of the finding. */
const broken: [
  rule: RuleId,
  url: string,
  answer: (request: Request, message: JsonObject | undefined) => Response | undefined,
  message: string,
][] = [
  [
    'not-mcp',
    LOCAL,
    () => new Response('<!doctype html><p>Hello', { headers: { 'content-type': 'text/html' } }),
    'is the path right?',
  ],
  [
    'version-negotiation',
    LOCAL,
    (_request, message) => {
      const { protocolVersion } = (message?.params ?? {}) as JsonObject
      return protocolVersion === '1999-12-31' ? failure(message?.id, -32602) : undefined
    },
    '200 and the error -32602',
  ],
  [
    'initialize-result',
    LOCAL,
    (_request, message) =>
      message?.method === 'initialize'
        ? result(message.id, { protocolVersion: '2025-11-25', capabilities: {} })
        : undefined,
    '"capabilities":{}',
  ],
  [
    'session-id',
    LOCAL,
    (_request, message) =>
      message?.method === 'initialize'
        ? result(
            message.id,
            {
              protocolVersion: '2025-11-25',
              capabilities: {},
              serverInfo: { name: 'a', version: '1' },
            },
            { 'mcp-session-id': 'a b' },
          )
        : undefined,
    '"a b"',
  ],
  [
    'ended-session',
    LOCAL,
    (request) => (request.method === 'DELETE' ? new Response(null, { status: 204 }) : undefined),
    '200 and a result',
  ],
  [
    'notification',
    LOCAL,
    (_request, message) =>
      message?.method === 'notifications/initialized'
        ? new Response('null', { status: 202 })
        : undefined,
    'answered with 202 and the body "null"',
  ],
  [
    'notification',
    LOCAL,
    (_request, message) =>
      message?.method === 'notifications/initialized'
        ? new Response(null, { status: 204 })
        : undefined,
    'answered with 204',
  ],
  [
    'get-stream',
    LOCAL,
    ({ method }) => (method === 'GET' ? new Response('Cannot GET', { status: 404 }) : undefined),
    '"GET" was answered with 404',
  ],
  [
    'parse-error',
    LOCAL,
    (request, message) =>
      request.method === 'POST' && !message ? new Response('Oops', { status: 500 }) : undefined,
    '500 without a JSON-RPC response',
  ],
  [
    'unknown-method',
    LOCAL,
    (_request, message) =>
      message?.method === 'edgewise/unknown' ? failure(message.id, -32603) : undefined,
    '-32603',
  ],
  [
    'unknown-method',
    LOCAL,
    (request, message) =>
      message?.method === 'edgewise/unknown' && !request.headers.has('mcp-session-id')
        ? failure(message.id, -32601)
        : undefined,
    'answered with 200 and the error -32601, in 2026-07-28',
  ],
  [
    'unknown-tool',
    LOCAL,
    (_request, message) =>
      message?.method === 'tools/call' ? result(message.id, { content: [] }) : undefined,
    '200 and a result',
  ],
  [
    'ping',
    LOCAL,
    (request, message) =>
      message?.method === 'ping' && request.headers.get('mcp-protocol-version') === '2025-11-25'
        ? failure(message.id, -32601)
        : undefined,
    '"ping" was answered with 200 and the error -32601',
  ],
  [
    'invalid-version-header',
    LOCAL,
    (request, message) =>
      request.headers.get('mcp-protocol-version') === 'invalid'
        ? result(message?.id, {})
        : undefined,
    '200 and a result',
  ],
  [
    'method-header',
    LOCAL,
    (request, message) =>
      message?.method === 'server/discover' && request.headers.get('mcp-method') === 'tools/list'
        ? result(message.id, {})
        : undefined,
    '200 and a result',
  ],
  [
    'unsupported-version',
    LOCAL,
    (request, message) =>
      request.headers.get('mcp-protocol-version') === '2099-12-31'
        ? failure(message?.id, -32600, 400)
        : undefined,
    '400 and the error -32600',
  ],
  [
    'list-fails',
    LOCAL,
    (_request, message) =>
      message?.method === 'tools/list' ? failure(message.id, -32603) : undefined,
    'The server answered with the error -32603: No',
  ],
  [
    'origin-check',
    LOCAL,
    (request, message) => (request.headers.has('origin') ? result(message?.id, {}) : undefined),
    'answered with 200',
  ],
  [
    'cors-preflight',
    PUBLIC,
    (request) => (request.method === 'OPTIONS' ? new Response(null, { status: 405 }) : undefined),
    'not allowed',
  ],
  [
    'cors-expose',
    PUBLIC,
    (request, message) =>
      request.headers.has('origin') && message?.method === 'initialize'
        ? result(message.id, {}, { 'mcp-session-id': 'a' })
        : undefined,
    'Send "Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate"',
  ],
]

describe('A server that breaks the rule', () => {
  it.each(broken)('"%s" at %s is found', async (rule, url, answer, message) => {
    const findings = await check(url, otherwise(handlerAt(url), answer))
    const found = findings.filter((finding) => finding.rule === rule)
    expect(found).toMatchObject([{ severity: rules[rule].severity }, ...found.slice(1)])
    expect(found[0]?.message).toContain(message)
  })

  /** Fails the handshakes of clients, apart from the requests of the check itself. */
  const failing = (version: string): Fetch =>
    otherwise(handlerAt(LOCAL), (_request, message) => {
      const { protocolVersion, clientInfo, _meta } = (message?.params ?? {}) as JsonObject
      const isOfCheck = JSON.stringify(clientInfo ?? _meta ?? {}).includes('edgewise-check')
      const asked =
        protocolVersion ?? (_meta as JsonObject)?.['io.modelcontextprotocol/protocolVersion']
      return asked === version && !isOfCheck ? new Response(null, { status: 500 }) : undefined
    })

  it.each(['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const)(
    '"supported-version" is found for %s',
    async (version) => {
      const serve = failing(version)
      const fetch = (at: string | URL | Request, init?: RequestInit): Promise<Response> => {
        return serve(new Request(at, init))
      }
      const options = { url: LOCAL, headers: new Headers(), fetch, timeoutMs: 5_000 }
      const other = version === '2025-06-18' ? '2025-11-25' : '2025-06-18'
      const findings = checkEndpoint(options, (revision = other) =>
        connect(LOCAL, { fetch, revision }),
      )
      expect(await collect(findings)).toMatchObject([
        { rule: 'supported-version', message: expect.stringContaining(version) },
      ])
    },
  )

  it('"supported-version" is not found for a version that is unknown here', async () => {
    const serve = otherwise(handlerAt(LOCAL), (request, message) => {
      if (message?.method !== 'server/discover') return undefined
      if (request.headers.get('mcp-protocol-version') !== '2026-07-28') return undefined
      if (request.headers.get('mcp-method') !== 'server/discover') return undefined
      const supportedVersions = ['2031-01-01', '2026-07-28']
      const serverInfo = { name: 'good', version: '1' }
      const capabilities = { tools: {} }
      return result(message.id, {
        supportedVersions,
        capabilities,
        serverInfo,
        resultType: 'complete',
      })
    })
    expect(await check(LOCAL, serve)).toEqual([])
  })

  it('of 2026-07-28 is not found if it speaks only earlier revisions', async () => {
    expect(await check(LOCAL, legacyOnly)).toEqual([])
  })
})

describe('A ping', () => {
  const answering = (value: JsonObject): Fetch =>
    otherwise(legacyOnly, (request, message) =>
      message?.method === 'ping' && request.headers.get('mcp-protocol-version') === '2025-11-25'
        ? result(message.id, value)
        : undefined,
    )

  it('may be answered with metadata, and with other members gets a note', async () => {
    // This server also answers a ping of a session that has ended
    const isOfPing = ({ rule }: Finding): boolean => rule === 'ping'
    const found = await check(LOCAL, answering({ _meta: { at: 1 } }))
    expect(found.filter(isOfPing)).toEqual([])
    expect((await check(LOCAL, answering({ ok: true }))).filter(isOfPing)).toEqual([
      { rule: 'ping', severity: 'note', message: 'The result of "ping" has "ok"' },
    ])
  })

  it('of a program that answers with an error is found', async () => {
    const serve = otherwise(legacyOnly, (_request, message) =>
      message?.method === 'ping' ? failure(message.id, -32601) : undefined,
    )
    const fetch = (at: string | URL | Request, init?: RequestInit): Promise<Response> => {
      return serve(new Request(at, init))
    }
    expect(await collect(checkProgram(() => connect(LOCAL, { fetch })))).toEqual([
      { rule: 'ping', severity: 'error', message: '"ping" was answered with the error -32601' },
    ])
  })

  it('is not sent in 2026-07-28, which does not have it', async () => {
    const methods = new Set<unknown>()
    const modernOnly = otherwise(handlerAt(LOCAL), (_request, message) => {
      methods.add(message?.method)
      return message?.method === 'initialize' ? failure(message.id, -32601, 404) : undefined
    })
    const fetch = (at: string | URL | Request, init?: RequestInit): Promise<Response> => {
      return modernOnly(new Request(at, init))
    }
    await check(LOCAL, modernOnly)
    expect(await collect(checkProgram(() => connect(LOCAL, { fetch })))).toEqual([])
    expect(methods).toContain('tools/list')
    expect(methods).not.toContain('ping')
  })
})

describe('A program', () => {
  it.each<[string, RuleId, (id: unknown) => Response, string]>([
    ['an unknown method with a result', 'unknown-method', (id) => result(id, {}), 'with a result'],
    [
      'an unknown tool with a result',
      'unknown-tool',
      (id) => result(id, { content: [], isError: true }),
      'answered with a result with "isError": true, instead',
    ],
    [
      'an unknown tool with another error',
      'unknown-tool',
      (id) => failure(id, -32601),
      'answered with the error -32601, instead',
    ],
  ])('that answers %s is found', async (_what, rule, answer, message) => {
    const method = rule === 'unknown-method' ? 'edgewise/unknown' : 'tools/call'
    const serve = otherwise(legacyOnly, (_request, sent) =>
      sent?.method === method ? answer(sent.id) : undefined,
    )
    const fetch = (at: string | URL | Request, init?: RequestInit): Promise<Response> => {
      return serve(new Request(at, init))
    }
    const found = await collect(checkProgram(() => connect(LOCAL, { fetch })))
    expect(found).toMatchObject([{ rule }])
    expect(found[0]?.message).toContain(message)
  })

  it('that ends at an unknown method is found', async () => {
    const serve = otherwise(legacyOnly, (_request, message) => {
      if (message?.method === 'edgewise/unknown') throw new TypeError('fetch failed')
      return undefined
    })
    const fetch = (at: string | URL | Request, init?: RequestInit): Promise<Response> => {
      return serve(new Request(at, init))
    }
    const found = await collect(checkProgram(() => connect(LOCAL, { fetch })))
    expect(found).toMatchObject([{ rule: 'no-response' }])
    expect(found[0]?.message).toContain('"edgewise/unknown": ')
  })
})

it('A server of 2026-07-28 alone that answers an unknown tool with a result is found', async () => {
  const serve = otherwise(handlerAt(LOCAL), (_request, message) => {
    if (message?.method === 'initialize') return failure(message.id, -32601, 404)
    return message?.method === 'tools/call'
      ? result(message.id, { content: [], isError: true, resultType: 'complete' })
      : undefined
  })
  const found = await check(LOCAL, serve)
  expect(found.filter(({ rule }) => rule === 'unknown-tool')).toMatchObject([{ severity: 'note' }])
})

describe('An endpoint that offers only HTTP+SSE', () => {
  const serve: Fetch = async ({ method }) =>
    method === 'GET'
      ? new Response('event: endpoint\ndata: /messages\n\n', {
          headers: { 'content-type': 'text/event-stream' },
        })
      : new Response('<!doctype html><pre>Cannot POST', { status: 404 })
  const options = {
    url: LOCAL,
    headers: new Headers(),
    fetch: (at: string, init: RequestInit) => serve(new Request(at, init)),
    timeoutMs: 5_000,
  }

  it('is found, and its lists are checked', async () => {
    const server = goodServer()
    server.tool('undescribed', { annotations: { readOnlyHint: true } }, () => '')
    const findings = checkEndpoint(options, () => connectInMemory(server))
    expect(await collect(findings)).toMatchObject([
      { rule: 'http-sse', severity: 'warning' },
      { rule: 'tool-description', subject: 'undescribed' },
    ])
  })

  it('is not an MCP endpoint if no client can connect', async () => {
    const findings = checkEndpoint(options, () => Promise.reject(new Error('No endpoint')))
    expect(rulesOf(await collect(findings))).toEqual(['not-mcp'])
  })
})

describe('A protected server', () => {
  const metadataUrl = 'https://mcp.example/.well-known/oauth-protected-resource/mcp'
  const serverUrl = 'https://login.example/.well-known/oauth-authorization-server'
  const metadata = { resource: PUBLIC, authorization_servers: ['https://login.example'] }
  const login = { issuer: 'https://login.example', code_challenge_methods_supported: ['S256'] }
  const challenge = { 'www-authenticate': `Bearer resource_metadata="${metadataUrl}"` }

  function protectedBy(
    documents: Readonly<Record<string, JsonObject>>,
    headers: Record<string, string> = challenge,
  ): Fetch {
    return async ({ url, method }) => {
      const open = {
        'access-control-allow-origin': '*',
        'access-control-allow-headers': 'authorization, *',
        'access-control-expose-headers': '*',
      }
      if (method === 'OPTIONS') return new Response(null, { headers: open })
      if (url === PUBLIC)
        return new Response(null, { status: 401, headers: { ...open, ...headers } })
      const document = documents[url]
      return document ? Response.json(document) : new Response(null, { status: 404 })
    }
  }

  /** Returns the findings before the last one, which says that the rest was not checked. */
  async function checkWithoutToken(serve: Fetch): Promise<Finding[]> {
    const findings = await check(PUBLIC, serve)
    expect(findings.pop()).toEqual({
      rule: 'token-required',
      severity: 'note',
      message: 'The server answered with 401: it requires a token. The rest was not checked',
    })
    return findings
  }

  it('that rejects the token of the check is found', async () => {
    const documents = { [metadataUrl]: metadata, [serverUrl]: login }
    const headers = new Headers({ authorization: 'Bearer x' })
    expect(await check(PUBLIC, protectedBy(documents), headers)).toMatchObject([
      { message: expect.stringContaining('although the check sent a token. The rest was not') },
    ])
  })

  it('with all metadata has no further findings', async () => {
    const documents = { [metadataUrl]: metadata, [serverUrl]: login }
    expect(await checkWithoutToken(protectedBy(documents))).toEqual([])
    // Without "resource_metadata", clients try the well-known URLs
    const plain = protectedBy(documents, { 'www-authenticate': 'Bearer' })
    expect(await checkWithoutToken(plain)).toEqual([])
  })

  it.each<[RuleId, JsonObject | undefined, JsonObject | undefined, string]>([
    ['resource-metadata', undefined, login, 'There is no resource metadata at'],
    [
      'resource-metadata',
      { ...metadata, resource: 'https://other.example' },
      login,
      'other.example',
    ],
    ['resource-metadata', { resource: PUBLIC }, login, 'no authorization server'],
    ['authorization-server', metadata, undefined, 'There is no metadata at'],
    ['authorization-server', metadata, { ...login, issuer: 'https://x.example' }, 'x.example'],
    ['pkce', metadata, { issuer: login.issuer }, 'missing'],
  ])('that breaks the rule "%s" is found', async (rule, resource, server, message) => {
    const serve = protectedBy({
      ...(resource && { [metadataUrl]: resource }),
      ...(server && { [serverUrl]: server }),
    })
    const findings = await checkWithoutToken(serve)
    expect(rulesOf(findings)).toEqual([rule])
    expect(findings[0]?.message).toContain(message)
  })

  it('whose metadata cannot be read is found, with the reason', async () => {
    const serve = protectedBy({ [metadataUrl]: metadata })
    const unreachable: Fetch = (request) =>
      request.url.startsWith('https://login.example')
        ? Promise.reject(new TypeError('fetch failed', { cause: new Error('ENOTFOUND') }))
        : serve(request)
    expect(await checkWithoutToken(unreachable)).toMatchObject([
      {
        rule: 'authorization-server',
        message: `There is no metadata at ${serverUrl} (fetch failed: ENOTFOUND) and https://login.example/.well-known/openid-configuration (fetch failed: ENOTFOUND)`,
      },
    ])
  })

  it('that names no metadata, as if it accepted only other tokens, gets a warning', async () => {
    const plain = protectedBy({}, { 'www-authenticate': 'Bearer' })
    expect(await checkWithoutToken(plain)).toMatchObject([
      { rule: 'resource-metadata', severity: 'warning' },
    ])
    expect(await checkWithoutToken(protectedBy({}))).toMatchObject([
      { rule: 'resource-metadata', severity: 'error' },
    ])
  })

  it('without a challenge is found', async () => {
    const serve = protectedBy({ [metadataUrl]: metadata, [serverUrl]: login }, {})
    expect(rulesOf(await checkWithoutToken(serve))).toEqual(['challenge'])
  })
})
