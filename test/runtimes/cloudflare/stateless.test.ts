import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lastMessage, openSession, post, postModern } from '../../transport/streamable-http/post.ts'
import { listen } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

const confirm = { name: 'confirm', arguments: { what: 'tea' } }
const capabilities = { elicitation: {} }

let workerd: Workerd

function startWith(bindings: Record<string, string>): void {
  beforeAll(async () => {
    const script = await bundleWorker('stateless.ts')
    workerd = await startWorker(script, { durableObjects: {}, bindings })
  })
  afterAll(() => workerd.stop())
}

describe('A Worker without Durable Objects', () => {
  startWith({ MCP_SECRET: 'a secret of this test only' })

  it('answers clients of every revision', async () => {
    for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
      const { id, send } = await openSession(workerd.handle, version)
      expect(id, 'The id holds what was negotiated').toMatch(/^[\w-]{100,}$/)
      await workerd.restart()
      const params = { name: 'add', arguments: { a: 1, b: 2 } }
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      expect((await lastMessage(await send(message))).result).toBeDefined()
      expect((await post(workerd.handle, message)).status).toBe(400)
      expect((await post(workerd.handle, message, { 'mcp-session-id': `${id}A` })).status).toBe(404)
    }
    const response = await postModern(workerd.handle, 'tools/list')
    expect((await lastMessage(response)).result.tools).toBeDefined()
  })

  it('asks clients of 2026-07-28, whichever isolate takes the answer', async () => {
    const first = await postModern(workerd.handle, 'tools/call', confirm, capabilities)
    const { result } = await lastMessage(first)
    const [key] = Object.keys(result.inputRequests as object)
    await workerd.restart()
    const inputResponses = { [key!]: { action: 'accept', content: { yes: true } } }
    const params = { ...confirm, requestState: result.requestState, inputResponses }
    const second = await postModern(workerd.handle, 'tools/call', params, capabilities)
    expect((await lastMessage(second)).result).toHaveProperty('content.0.text', 'bought: true')
  })

  it('rejects unsupported features at once [M-SUB-013] [L-HTTP-034]', async () => {
    const notifications = { toolsListChanged: true }
    const refused = await postModern(workerd.handle, 'subscriptions/listen', { notifications })
    expect((await lastMessage(refused)).error.code).toBe(-32601)
    expect((await listen(workerd.handle, 'any')).status).toBe(405)
  })
})

describe('A Worker without Durable Objects and without a secret', () => {
  startWith({})

  it('answers clients of every revision by their headers', async () => {
    for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
      const { id, send } = await openSession(workerd.handle, version)
      expect(id).toBe('')
      const params = { name: 'add', arguments: { a: 1, b: 2 } }
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      const headers = { 'mcp-session-id': undefined, 'mcp-protocol-version': version }
      expect((await lastMessage(await send(message, headers))).result).toBeDefined()
    }
  })

  it('rejects input requests, and reports the reason to the author', async () => {
    const response = await postModern(workerd.handle, 'tools/call', confirm, capabilities)
    expect((await lastMessage(response)).error.code).toBe(-32603)
    expect((await postModern(workerd.handle, 'tools/list')).status).toBe(200)
    expect(workerd.printed.join('')).toContain('wrangler secret put MCP_SECRET')
  })
})
