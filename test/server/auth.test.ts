/** Callers whom `authenticate` knows without OAuth, such as by an API key. */
import { describe, expect, test, vi } from 'vitest'
import { serve } from '../../runtimes/node/index.ts'
import { connect, type SdkError } from '../../src/presets/client.ts'
import {
  createHandler,
  authenticate,
  statefulSessions,
  type Handler,
} from '../../src/presets/server.ts'
import {
  createHandler as createTinyHandler,
  createServer as createTinyServer,
} from '../../src/presets/server-tiny.ts'
import { post } from '../transport/streamable-http/post.ts'

const url = 'https://keys.test/mcp'
const page = 'https://app.example'
const onError = vi.fn<(error: unknown) => void>()

const server = createTinyServer<{ region: string }>({ name: 'keys', version: '1' }, { onError })
server.tool('who', {}, (_args, ctx) => `${ctx.principal} in ${ctx.env.region}`)

const auth = authenticate(async ({ headers }) => {
  const key = headers.get('x-api-key')
  if (key === 'broken') throw new Error('The database is away')
  if (key !== 'ada-key') return Response.json({ error: 'no such key' }, { status: 401 })
  return { principal: 'ada', env: { region: 'EU' } }
})
const options = { auth, allowedOrigins: [page] }
const handlers: [string, Handler][] = [
  ['a tiny handler', createTinyHandler(server, options)],
  ['a handler with sessions', createHandler(server, { ...options, sessions: statefulSessions() })],
]

describe.each(handlers)('%s that identifies callers', (_name, handle) => {
  test.each(['2025-06-18', '2026-07-28'] as const)(
    'serves authenticated callers, in %s',
    async (revision) => {
      await using client = await connect(url, {
        revision,
        headers: { 'x-api-key': 'ada-key' },
        fetch: (to, init) => handle(new Request(to, init)),
      })
      const { content } = await client.callTool('who')
      expect(content).toEqual([{ type: 'text', text: 'ada in EU' }])
    },
  )

  test('rejects others with the response of the author, which pages can read', async () => {
    const refused = await post(handle, {}, { origin: page, 'x-api-key': 'other' })
    expect([refused.status, await refused.json()]).toEqual([401, { error: 'no such key' }])
    expect(refused.headers.get('access-control-allow-origin')).toBe(page)
    const foreign = await post(handle, {}, { origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
  })

  test('requires no key for a CORS preflight', async () => {
    const headers = { origin: page, 'access-control-request-headers': 'x-api-key' }
    const answer = await handle(new Request(url, { method: 'OPTIONS', headers }))
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-headers')).toBe('x-api-key')
  })

  test('reports a failure to its author only', async () => {
    onError.mockClear()
    const failed = await post(handle, {}, { 'x-api-key': 'broken' })
    expect(failed.status).toBe(500)
    expect(await failed.text()).not.toContain('database')
    expect(onError).toHaveBeenCalledOnce()
  })
})

test('a server of Node identifies callers, and gives handlers an environment', async () => {
  await using http = await serve(server, { auth })
  await using client = await connect(http.url, { headers: { 'x-api-key': 'ada-key' } })
  expect((await client.callTool('who')).content).toEqual([{ type: 'text', text: 'ada in EU' }])
  const refused = await connect(http.url).catch((error: SdkError) => error)
  expect(refused).toMatchObject({ code: 'UNAUTHORIZED' })
})

test('authenticate gets the environment that the host gives the handler', async () => {
  const handle = createHandler(server, {
    auth: authenticate<{ keys: Map<string, string>; region: string }>((request, { keys }) => ({
      principal: keys.get(request.headers.get('x-api-key') ?? ''),
    })),
  })
  const env = { keys: new Map([['bob-key', 'bob']]), region: 'US' }
  await using client = await connect(url, {
    headers: { 'x-api-key': 'bob-key' },
    fetch: (to, init) => handle(new Request(to, init), { env }),
  })
  expect((await client.callTool('who')).content).toEqual([{ type: 'text', text: 'bob in US' }])
})
