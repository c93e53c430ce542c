// What `edgewise check` finds about origins and the headers of CORS.
import { describe, expect, it } from 'vitest'
import { createHandler, statefulSessions } from '../../src/presets/server.ts'
import {
  check,
  failure,
  goodServer,
  handlerAt,
  legacyOnly,
  LOCAL,
  otherwise,
  PUBLIC,
  result,
  rulesOf,
  type Fetch,
} from './checked-server.ts'

/** Answers preflight requests. */
const preflight = (serve: typeof legacyOnly, headers: Record<string, string>) =>
  otherwise(serve, ({ method }) =>
    method === 'OPTIONS' ? new Response(null, { headers }) : undefined,
  )

const methods = { 'access-control-allow-methods': 'GET, POST, DELETE' }
const all =
  'Content-Type, Authorization, MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID, Mcp-Method, Mcp-Name'

describe('A server that allows pages, but not the headers of MCP,', () => {
  it.each([LOCAL, PUBLIC])('is found at %s, with the header to send', async (url) => {
    const serve = preflight(handlerAt(url), {
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'content-type, x-key',
    })
    const found = (await check(url, serve)).filter(({ rule }) => rule === 'cors-headers')
    expect(found).toEqual([
      {
        rule: 'cors-headers',
        severity: 'warning',
        message:
          'These headers are not allowed: MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID, Mcp-Method, Mcp-Name. ' +
          `Send "Access-Control-Allow-Headers: ${all.replace('Type,', 'Type, X-Key,')}"`,
      },
    ])
  })

  it('is found if it allows only one origin', async () => {
    const headers = { 'access-control-allow-origin': 'https://app.example', ...methods }
    const found = await check(PUBLIC, preflight(handlerAt(PUBLIC), headers))
    expect(rulesOf(found)).toEqual(['cors-headers'])
    const complete = { ...headers, 'access-control-allow-headers': all }
    expect(await check(PUBLIC, preflight(handlerAt(PUBLIC), complete))).toEqual([])
  })

  it('is found if "*" does not include the token that the user gave', async () => {
    const serve = preflight(handlerAt(PUBLIC), {
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'Content-Type, *',
      ...methods,
    })
    expect(await check(PUBLIC, serve)).toEqual([])
    const [found] = await check(PUBLIC, serve, new Headers({ authorization: 'Bearer x' }))
    expect(found).toMatchObject({
      rule: 'cors-headers',
      message: expect.stringContaining('not allowed: Authorization. Send'),
    })
  })

  it('gets a note if only the headers of a revision are missing that it does not speak', async () => {
    const serve = preflight(legacyOnly, {
      'access-control-allow-origin': '*',
      'access-control-allow-headers': all.replace(', Mcp-Method, Mcp-Name', ''),
    })
    const found = (await check(LOCAL, serve)).filter(({ rule }) => rule === 'cors-headers')
    expect(found).toMatchObject([{ severity: 'note' }])
  })
})

describe('A server that allows pages, but not DELETE,', () => {
  const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': all }
  const postOnly = { ...headers, 'access-control-allow-methods': 'GET, POST, OPTIONS' }

  it('is found if clients can end sessions', async () => {
    const found = await check(PUBLIC, preflight(handlerAt(PUBLIC), postOnly))
    expect(found).toEqual([
      {
        rule: 'cors-methods',
        severity: 'warning',
        message:
          'Pages cannot end sessions, because "DELETE" is not allowed. Send "Access-Control-Allow-Methods: GET, POST, DELETE"',
      },
    ])
    const any = { ...headers, 'access-control-allow-methods': '*' }
    expect(await check(PUBLIC, preflight(handlerAt(PUBLIC), any))).toEqual([])
  })

  it('has no findings if it answers DELETE with 405', async () => {
    const serve = otherwise(handlerAt(PUBLIC), ({ method }) =>
      method === 'DELETE' ? new Response(null, { status: 405 }) : undefined,
    )
    expect(await check(PUBLIC, preflight(serve, postOnly))).toEqual([])
  })
})

it('A local server that requires a token need not check origins', async () => {
  const found = await check(LOCAL, async (request) =>
    request.url === LOCAL ? failure(1, -32001, 401) : new Response(null, { status: 404 }),
  )
  expect(rulesOf(found)).toEqual(['challenge', 'resource-metadata', 'token-required'])
  const careless = createHandler(goodServer(), {
    sessions: statefulSessions(),
    allowedOrigins: '*',
  })
  const serve: Fetch = async (request) =>
    request.headers.has('authorization') || request.method === 'OPTIONS'
      ? careless(request)
      : failure(1, -32001, 401)
  const headers = new Headers({ authorization: 'Bearer x' })
  const connected = await check(LOCAL, serve, headers)
  expect(rulesOf(connected)).not.toContain('origin-check')
  expect(rulesOf(await check(LOCAL, async (request) => careless(request)))).toEqual([
    'origin-check',
  ])
})

describe('A local server that does not check origins, but accepts text/plain,', () => {
  const accepting = (sessions: boolean): Fetch => {
    const careless = createHandler(goodServer(), {
      allowedOrigins: '*',
      ...(sessions && { sessions: statefulSessions() }),
    })
    return async (request) => {
      const headers = new Headers(request.headers)
      if (request.method === 'POST') headers.set('content-type', 'application/json')
      return careless(new Request(request, { headers }))
    }
  }

  it('is found if pages need no session', async () => {
    const [found] = await check(LOCAL, accepting(false))
    expect(found).toMatchObject({
      rule: 'origin-check',
      message: expect.stringContaining('also with "Content-Type: text/plain"') as string,
    })
  })

  it('is only found as such if pages need a session, whose header needs a preflight', async () => {
    expect(await check(LOCAL, accepting(true))).toEqual([
      {
        rule: 'origin-check',
        severity: 'error',
        message: '"Origin: https://edgewise-check.example" was answered with 200',
      },
    ])
  })
})

it('Origins are checked with a request that the server answers', async () => {
  const serve = otherwise(handlerAt(LOCAL), (_request, message) =>
    message?.method === 'initialize' ? failure(message.id, -32022, 400) : undefined,
  )
  expect(rulesOf(await check(LOCAL, serve))).not.toContain('origin-check')
  const careless = otherwise(serve, (request, message) =>
    request.headers.has('origin') ? result(message?.id, {}) : undefined,
  )
  expect(rulesOf(await check(LOCAL, careless))).toContain('origin-check')
})
