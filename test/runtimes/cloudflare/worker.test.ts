import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  allMessages,
  initializeRequest,
  lastMessage,
  modernHeaders,
  modernRequest,
  openSession,
  post,
  postModern,
} from '../../transport/streamable-http/post.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'
import { PATIENCE } from '../../patience.ts'

const add = { name: 'add', arguments: { a: 1, b: 2 } }
const call = (id: number, params: object): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params,
})

let workerd: Workerd

beforeAll(async () => {
  workerd = await startWorker(await bundleWorker('worker.ts'), { bindings: { GREETING: 'hello' } })
})
afterAll(() => workerd.stop())

describe('A Worker and clients of 2026-07-28', () => {
  it('answers where the request arrives, without a session [M-HTTP-046]', async () => {
    const { handle } = workerd
    const response = await post(handle, modernRequest('tools/call', add), {
      ...modernHeaders('tools/call', 'add'),
      'mcp-session-id': 'left-over',
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('mcp-session-id')).toBeNull()
    expect((await lastMessage(response)).result.structuredContent).toEqual({ sum: 3 })
  })

  it('streams notifications before the response', async () => {
    const params = { name: 'chat', arguments: {}, _meta: { progressToken: 1 } }
    const messages = await allMessages(await postModern(workerd.handle, 'tools/call', params))
    expect(messages).toHaveLength(3)
    expect(messages.at(-1)).toHaveProperty('result.content.0.text', 'done')
  })

  it('seals rounds of input with a secret that outlives it', async () => {
    const params = { name: 'confirm', arguments: { what: 'tea' } }
    const capabilities = { elicitation: {} }
    const first = await postModern(workerd.handle, 'tools/call', params, capabilities)
    const { inputRequests, requestState } = (await lastMessage(first)).result as {
      inputRequests: object
      requestState: string
    }
    const [key] = Object.keys(inputRequests) as [string]
    await workerd.restart()
    const second = await postModern(
      workerd.handle,
      'tools/call',
      {
        ...params,
        requestState,
        inputResponses: { [key]: { action: 'accept', content: { yes: true } } },
      },
      capabilities,
    )
    expect((await lastMessage(second)).result).toHaveProperty('content.0.text', 'bought: true')
  })
})

describe('A Worker and clients with sessions', () => {
  it('keeps a session with its client over a restart of workerd', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-06-18', { elicitation: {} })
    expect(id).toMatch(/^[0-9a-f]{64}$/)
    await workerd.restart()
    const listed = await send({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    expect(listed.status).toBe(200)
    const mismatch = await send(call(3, add), { 'mcp-protocol-version': '2025-11-25' })
    expect(mismatch.status, 'The revision was kept').toBe(400)

    const response = await send(call(4, { name: 'confirm', arguments: { what: 'tea' } }))
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('elicitation/create')) text += (await reader.read()).value
    const asked = JSON.parse(/data: (.*elicitation.*)/.exec(text)![1]!) as { id: number }
    const answer = { action: 'accept', content: { yes: true } }
    expect((await send({ jsonrpc: '2.0', id: asked.id, result: answer })).status).toBe(202)
    while (!text.includes('bought: true')) text += (await reader.read()).value
  })

  it('does not know an id that it did not mint [L-HTTP-056]', async () => {
    for (const id of ['0'.repeat(64), 'x', '../../etc']) {
      const response = await post(workerd.handle, call(1, add), { 'mcp-session-id': id })
      expect(response.status).toBe(404)
    }
  })

  it('rejects requests without a session id [L-HTTP-055]', async () => {
    expect((await post(workerd.handle, call(1, add))).status).toBe(400)
  })

  it('erases a session at DELETE [L-HTTP-056]', async () => {
    const { id, send } = await openSession(workerd.handle)
    const end = (): Promise<Response> =>
      workerd.handle(
        new Request('http://localhost/mcp', {
          method: 'DELETE',
          headers: { 'mcp-session-id': id },
        }),
      )
    expect((await end()).status).toBe(200)
    expect((await send(call(1, add))).status).toBe(404)
    expect((await end()).status).toBe(404)
    await workerd.restart()
    expect((await send(call(1, add))).status).toBe(404)
  })

  it('binds a session to its principal [L-HTTP-062]', async () => {
    const opened = await post(workerd.handle, initializeRequest(), { 'x-user': 'ann' })
    const id = opened.headers.get('mcp-session-id')!
    const callAs = async (user?: string, forged?: string): Promise<number> => {
      const headers = { 'mcp-session-id': id, 'x-user': user, 'edgewise-caller': forged }
      return (await post(workerd.handle, call(2, add), headers)).status
    }
    expect(await callAs('ann')).toBe(200)
    expect(await callAs('bob')).toBe(404)
    expect(await callAs()).toBe(404)
    expect(await callAs(undefined, encodeURIComponent('{"principal":"ann"}'))).toBe(404)
  })

  it('lends handlers the storage of their object, until the session ends', async () => {
    const one = await openSession(workerd.handle)
    const other = await openSession(workerd.handle)
    const visit = async ({ send }: typeof one): Promise<unknown> =>
      (await lastMessage(await send(call(1, { name: 'visits', arguments: {} })))).result.content
    expect(await visit(one)).toMatchObject([{ text: '1, visits' }])
    await workerd.restart()
    expect(await visit(one)).toMatchObject([{ text: '2, visits' }])
    expect(await visit(other)).toMatchObject([{ text: '1, visits' }])
    const params = { name: 'visits', arguments: {} }
    const { result } = await lastMessage(await postModern(workerd.handle, 'tools/call', params))
    expect(result.isError, 'There is no storage without a session').toBe(true)
  })

  it('gives handlers its bindings, with a session and without', async () => {
    const { send } = await openSession(workerd.handle)
    const params = { name: 'bound_environment', arguments: {} }
    for (const response of [
      await send(call(1, params)),
      await postModern(workerd.handle, 'tools/call', params),
    ]) {
      expect((await lastMessage(response)).result.content).toMatchObject([{ text: 'hello' }])
    }
  })

  it('lets work of handlers continue after the answer, with a session and without', async () => {
    const { send } = await openSession(workerd.handle)
    const params = { name: 'later', arguments: {} }
    await send(call(1, params))
    await postModern(workerd.handle, 'tools/call', params)
    await vi.waitFor(async () => {
      const ran = (await (await workerd.get('/ran')).json()) as string[]
      expect(ran).toContain('later than 2025-11-25')
      expect(ran).toContain('later than 2026-07-28')
    }, PATIENCE)
  })

  it('answers a page of an allowed origin, and no other [L-HTTP-003]', async () => {
    const { send } = await openSession(workerd.handle)
    const response = await send(call(1, add), { origin: 'http://localhost:3000' })
    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBe('http://localhost:3000')
    expect((await send(call(2, add), { origin: 'https://evil.example' })).status).toBe(403)
  })
})

describe('A Worker', () => {
  it('leaves other paths to the application', async () => {
    expect((await workerd.get('/ran')).status).toBe(200)
    expect((await workerd.get('/elsewhere')).status).toBe(404)
  })

  it('gives the refusal of an application as it is', async () => {
    const response = await postModern(
      Object.assign(
        (request: Request) => {
          request.headers.set('x-user', 'nobody')
          return workerd.handle(request)
        },
        { close: () => Promise.resolve() },
      ),
      'tools/call',
      add,
    )
    expect(response.status).toBe(401)
    expect(await response.text()).toBe('Who are you?')
  })
})
