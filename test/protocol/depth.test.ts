// Messages whose values are inside each other deeper than recursion reaches.
import { describe, expect, it } from 'vitest'
import type { ProtocolError } from '../../src/index.ts'
import { parseJson } from '../../src/protocol/validate.ts'
import {
  createHandler,
  createServer,
  createSseHandler,
  statefulSessions,
  sealedSessions,
} from '../../src/presets/server.ts'
import { stdioTransport } from '../../src/transport/index.ts'
import {
  initializeRequest,
  modernHeaders,
  modernRequest,
  postRaw,
} from '../transport/streamable-http/post.ts'

const DEEP = 'DEEP'
const nested = (depth: number): string => '{"a":'.repeat(depth - 1) + '{}' + '}'.repeat(depth - 1)
const write = (message: unknown): string =>
  JSON.stringify(message).replace(`"${DEEP}"`, nested(5000))

const server = createServer({ name: 's', version: '1' }, { onError: () => {} })
server.tool('echo', {}, () => 'text')

describe('A message that is nested 5,000 levels deep is refused with 400', () => {
  it.each([
    ['stateful sessions', statefulSessions()],
    ['sealed sessions', sealedSessions()],
    ['no sessions', false as const],
  ])('in the facts about a client, with %s [S028]', async (_what, sessions) => {
    const handle = createHandler(server, { sessions })
    const initialize = initializeRequest('2025-11-25', { capabilities: { experimental: DEEP } })
    const response = await postRaw(handle, write(initialize))
    expect(response.status).toBe(400)
    const message = 'Parse error: the message is nested more than 1000 levels deep'
    expect(await response.json()).toMatchObject({ error: { code: -32700, message } })
  })

  it.each(['arguments', '_meta'])('in the %s of a call of 2026-07-28 [S028]', async (where) => {
    const text = write(modernRequest('tools/call', { name: 'echo', [where]: { x: DEEP } }))
    const headers = modernHeaders('tools/call', 'echo')
    expect((await postRaw(createHandler(server), text, headers)).status).toBe(400)
  })

  it('over HTTP+SSE [S028]', async () => {
    const handle = createSseHandler(server, { keepAliveMs: 0 })
    const headers = { accept: 'text/event-stream' }
    const stream = await handle(new Request('http://localhost/sse', { headers }))
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
    const { value = '' } = await reader.read()
    const address = new URL(/data: (.*)/.exec(value)![1]!, 'http://localhost').href
    const initialize = initializeRequest('2024-11-05', { capabilities: { experimental: DEEP } })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const posted = await handle(new Request(address, { ...init, body: write(initialize) }))
    expect(posted.status).toBe(400)
    await handle.close()
  })
})

it('a line of stdio that is nested 5,000 levels deep is malformed [S028]', async () => {
  const line = write(initializeRequest('2025-11-25', { capabilities: { x: DEEP } }))
  const error = await new Promise<ProtocolError>((resolve, reject) => {
    void stdioTransport(new Response(`${line}\n`).body!, new WritableStream()).start({
      message: () => reject(new Error('The line was taken')),
      malformed: resolve,
      closed: () => {},
    })
  })
  expect(error.message).toContain('nested more than 1000 levels deep')
})

describe('JSON', () => {
  it.each([
    ['objects', nested(1000), nested(1001)],
    ['arrays', '['.repeat(1000) + ']'.repeat(1000), '['.repeat(1001) + ']'.repeat(1001)],
  ])('is parsed up to 1,000 levels of %s, and no deeper [S028]', (_what, deepest, tooDeep) => {
    expect(() => parseJson(deepest)).not.toThrow()
    expect(() => parseJson(tooDeep)).toThrow('more than 1000 levels')
  })

  it.each([
    ['text of brackets', JSON.stringify('["{\\'.repeat(5000))],
    ['many sibling values', JSON.stringify(Array(5000).fill([{}]))],
  ])('with %s is parsed', (_what, text) => {
    expect(JSON.stringify(parseJson(text))).toBe(text)
  })
})
