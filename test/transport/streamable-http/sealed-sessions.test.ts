import { afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { connect } from '../../../src/presets/client.ts'
import { revisions, type JsonObject } from '../../../src/index.ts'
import {
  createHandler,
  createServer,
  sealedSessions,
  text,
  type Handler,
  type HandlerOptions,
} from '../../../src/presets/server.ts'
import { allMessages, lastMessage, openSession, post, postModern } from './post.ts'

const LEGACY = revisions.filter(({ era }) => era === 'legacy').map(({ version }) => version)
const SECRET = 'a secret of this test only'
const client = { name: 'test', version: '1' }

/** One of many instances that share nothing but a secret. */
function instance(secret: string | string[] = SECRET, options: HandlerOptions = {}): Handler {
  const server = createServer({ name: 'sealed', version: '1' })
  server.tool('facts', {}, async (_args, ctx) => {
    await ctx.progress(1)
    return JSON.stringify([ctx.revision, ctx.client, ctx.principal ?? null])
  })
  server.tool('ask', {}, async (_args, ctx) => {
    const { action } = await ctx.elicit({ message: 'Sure?', schema: z.object({}) })
    return text(action)
  })
  server.resource('a:b', { name: 'a' }, () => 'contents')
  const sessions = sealedSessions({ secrets: secret })
  return createHandler(server, { sessions, secrets: secret, ...options })
}

const call = (name: string, id = 1): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, _meta: { progressToken: id } },
})
const initialize = (
  clientInfo: JsonObject = client,
  capabilities: JsonObject = {},
): JsonObject => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities, clientInfo },
})

const facts = async (response: Response): Promise<unknown> => {
  const { content } = (await lastMessage(response)).result as { content: [{ text: string }] }
  return JSON.parse(content[0].text)
}

afterEach(() => vi.useRealTimers())

describe.each(LEGACY)('A sealed session of %s', (revision) => {
  it('carries the negotiated state to any instance', async () => {
    const { id } = await openSession(instance(), revision, { roots: { listChanged: true } })
    expect(id).toMatch(/^[\w-]{100,500}$/)
    const response = await post(instance(), call('facts'), { 'mcp-session-id': id })
    expect(await facts(response)).toEqual([
      revision,
      { info: client, capabilities: { roots: { listChanged: true } } },
      null,
    ])
  })

  it('rejects unsupported features at once', async () => {
    const { send, id } = await openSession(instance(), revision, { elicitation: {} })
    const asked = await lastMessage(await send(call('ask')))
    expect(asked.result).toMatchObject({ isError: true })
    expect(JSON.stringify(asked.result.content)).toMatch(
      /needs a stateful session|does not support/,
    )
    for (const [method, params] of [
      ['logging/setLevel', { level: 'debug' }],
      ['resources/subscribe', { uri: 'a:b' }],
      ['resources/unsubscribe', { uri: 'a:b' }],
    ] as const) {
      const { error } = await lastMessage(await send({ jsonrpc: '2.0', id: 2, method, params }))
      expect([error.code, error.message]).toEqual([-32601, `Method not found: "${method}"`])
    }
    for (const method of ['GET', 'DELETE']) {
      const headers = { 'mcp-session-id': id, accept: 'text/event-stream' }
      const refused = await instance()(new Request('http://localhost/mcp', { method, headers }))
      expect(refused.status).toBe(405)
    }
  })

  it('does not declare these features', async () => {
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: client }
    const opened = await post(instance(), { ...initialize(), params })
    const { capabilities } = (await lastMessage(opened)).result
    expect(capabilities).toEqual({ tools: {}, resources: {} })
  })
})

describe('A sealed session', () => {
  it('streams notifications before a response', async () => {
    const { send } = await openSession(instance())
    expect(await allMessages(await send(call('facts')))).toHaveLength(2)
  })

  it('answers batches where its revision has them, and refuses them elsewhere', async () => {
    const old = await openSession(instance(), '2025-03-26')
    expect(await allMessages(await old.send([call('facts', 1), call('facts', 2)]))).toHaveLength(4)
    const recent = await openSession(instance(), '2025-06-18')
    expect((await recent.send([call('facts')])).status).toBe(400)
  })

  it("is its principal's alone", async () => {
    const as = (principal?: string): Handler => {
      const handle = instance()
      return Object.assign((request: Request) => handle(request, { principal }), handle)
    }
    const { id } = await openSession(as('ann'))
    const headers = { 'mcp-session-id': id }
    expect(await facts(await post(as('ann'), call('facts'), headers))).toMatchObject({ 2: 'ann' })
    expect((await post(as('bob'), call('facts'), headers)).status).toBe(404)
    expect((await post(as(), call('facts'), headers)).status).toBe(404)
  })

  it('expires, and is reopened by our client', async () => {
    const handle = instance()
    await using connected = await connect('http://localhost/mcp', {
      revision: '2025-11-25',
      fetch: (input, init) => handle(new Request(input, init)),
    })
    const { id } = await openSession(handle)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_001 })
    const late = await post(handle, call('facts'), { 'mcp-session-id': id })
    expect([late.status, (await lastMessage(late)).error.message]).toEqual([
      404,
      'Session not found',
    ])
    const { content } = await connected.callTool('facts')
    expect(JSON.stringify(content)).toContain('2025-11-25')
  })

  it('outlives a change of secrets while the old one is known', async () => {
    const { id } = await openSession(instance(SECRET))
    const headers = { 'mcp-session-id': id }
    const renewed = ['another secret of this test', SECRET]
    expect((await post(instance(renewed), call('facts'), headers)).status).toBe(200)
    expect(
      (await post(instance('another secret of this test'), call('facts'), headers)).status,
    ).toBe(404)
  })

  it('is not opened by ids that were changed, made up or meant for something else', async () => {
    const handle = instance()
    const { id } = await openSession(handle)
    const capabilities = { elicitation: {} }
    const round = await lastMessage(
      await postModern(handle, 'tools/call', { name: 'ask' }, capabilities),
    )
    const changed = `${id.slice(0, 60)}${id[60] === 'A' ? 'B' : 'A'}${id.slice(61)}`
    const requestState = String(round.result.requestState)
    expect(requestState.length).toBeGreaterThan(100)
    for (const no of [changed, id.slice(1), `${id}A`, 'x', 'A'.repeat(5000), requestState]) {
      expect((await post(handle, call('facts'), { 'mcp-session-id': no })).status).toBe(404)
    }
    const stolen = { name: 'ask', requestState: id }
    const refused = await lastMessage(await postModern(handle, 'tools/call', stolen, capabilities))
    expect(refused.error.code, 'An id is no state of a round').toBe(-32602)
    expect((await post(handle, call('facts'))).status, 'No id').toBe(400)
    const other = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-03-26' }
    expect((await post(handle, call('facts'), other)).status, 'Another revision').toBe(400)
  })

  it('omits display-only fields, and rejects state that is too long for a header', async () => {
    const icons = [{ src: `data:image/png;base64,${'A'.repeat(9000)}` }]
    const shown = await post(instance(), initialize({ ...client, title: 'Test', icons }))
    expect(shown.headers.get('mcp-session-id')?.length).toBeLessThan(500)
    const experimental = { much: { text: 'x'.repeat(4000) } }
    const refused = await post(instance(), initialize(client, { experimental }))
    expect([refused.status, (await lastMessage(refused)).error.code]).toEqual([400, -32602])
  })

  it('takes notifications and answers, which change nothing', async () => {
    const { send } = await openSession(instance())
    const cancelled = { method: 'notifications/cancelled', params: { requestId: 1 } }
    expect((await send({ jsonrpc: '2.0', ...cancelled })).status).toBe(202)
    expect((await send({ jsonrpc: '2.0', id: 1, result: {} })).status).toBe(202)
  })
})
