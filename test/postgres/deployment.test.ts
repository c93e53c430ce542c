// Sessions of real processes behind a proxy without sticky sessions, of which some are killed.
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/index.ts'
import { initializeRequest } from '../transport/streamable-http/post.ts'
import { openSchema } from './database.ts'
import { deploy, type Deployment } from './deployment.ts'
import { call, receive, type ReceivedStream } from './fleet.ts'
import { startPostgres, type PostgresServer } from './server.ts'

let postgres: PostgresServer

beforeAll(async () => {
  postgres = await startPostgres()
})

afterAll(() => postgres.stop())

/** Starts processes with a table for what their tools do. */
async function start(count: number) {
  const { sql, schema, open } = openSchema(postgres.url)
  await open().storage.migrate()
  await sql`CREATE TABLE ${sql(schema)}.effects ("order" text, what text, process text)`
  const deployment = await deploy(count, postgres.url, schema)
  const effects = (): Promise<{ order: string; what: string; process: string; count: number }[]> =>
    sql`SELECT "order", what, process, count(*)::int AS count FROM ${sql(schema)}.effects
      GROUP BY 1, 2, 3`
  return { deployment, effects }
}

/** A session through the proxy, whose client tries again what a killed process did not answer. */
class ProxySession {
  readonly #url: string
  #headers: Record<string, string> = {}
  #lastId = 0

  constructor({ url }: Deployment) {
    this.#url = url
  }

  async open(): Promise<void> {
    const capabilities = { elicitation: {} }
    const response = await this.#send(initializeRequest('2025-11-25', { capabilities }))
    this.#headers = {
      'mcp-session-id': response.headers.get('mcp-session-id') ?? '',
      'mcp-protocol-version': '2025-11-25',
    }
    await this.#send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }

  /** Sends one request, which is not repeated. */
  attempt(method: string): Promise<Response> {
    const accept = 'application/json, text/event-stream'
    const headers = { ...this.#headers, 'content-type': 'application/json', accept }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'ping', method: 'ping' })
    return fetch(this.#url, { method, headers, ...(method === 'POST' && { body }) })
  }

  /**
   * Calls a tool, answers its questions, and resumes its stream as often as that breaks. The answer is
   * empty if the stream broke before its first event id, after which no client can resume it.
   */
  async call(
    name: string,
    args: JsonObject = {},
    leaveAfter = Infinity,
  ): Promise<{ answer: string; messages: JsonObject[] }> {
    const messages: JsonObject[] = []
    const answered = new Set<unknown>()
    // One that was not answered may run nevertheless, so each attempt has an id of its own
    const request = (): JsonObject => {
      const id = ++this.#lastId
      const { params, ...message } = call(id, name, args) as { params: JsonObject }
      return { ...message, params: { ...params, _meta: { progressToken: id } } }
    }
    let stream = receive(await this.#send(request))
    for (;;) {
      const fresh = await next(stream)
      for (const each of fresh) {
        messages.push(each)
        if (messages.length === leaveAfter) await stream.leave()
        if (each.method === 'elicitation/create' && !answered.has(each.id)) {
          answered.add(each.id)
          const result = { action: 'accept', content: { sure: true } }
          await this.#send({ jsonrpc: '2.0', id: each.id, result })
        }
        if ('result' in each || 'error' in each) return { answer: JSON.stringify(each), messages }
      }
      if (fresh.length === 0 && stream.ended()) {
        if (stream.lastId() === '') return { answer: '', messages }
        stream = await this.#resume(stream.lastId())
      }
    }
  }

  async #resume(lastId: string): Promise<ReceivedStream> {
    for (;;) {
      const headers = { ...this.#headers, accept: 'text/event-stream', 'last-event-id': lastId }
      const response = await fetch(this.#url, { headers }).catch(() => undefined)
      if (response?.status === 200) return receive(response)
      expect([undefined, 502, 503]).toContain(response?.status)
      await sleep(100)
    }
  }

  async #send(message: JsonObject | (() => JsonObject)): Promise<Response> {
    const headers = {
      ...this.#headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    for (;;) {
      const init = {
        method: 'POST',
        headers,
        body: JSON.stringify(typeof message === 'function' ? message() : message),
      }
      const response = await fetch(this.#url, init).catch(() => undefined)
      if (response?.ok) return response
      if (response && response.status !== 502 && response.status !== 503) {
        throw new Error(`${response.status} ${await response.text()}`)
      }
      await sleep(100)
    }
  }
}

const seen = new WeakMap<ReceivedStream, number>()

/** The messages that arrived since the last time; none at the end of the stream. */
async function next(stream: ReceivedStream): Promise<JsonObject[]> {
  for (;;) {
    const isOver = stream.ended()
    const all = stream.messages()
    const fresh = all.slice(seen.get(stream) ?? 0)
    seen.set(stream, all.length)
    if (fresh.length > 0 || isOver) return fresh
    await sleep(5)
  }
}

/** Places orders in sessions of their own. */
async function placeOrders(deployment: Deployment, count: number) {
  const orders = Array.from({ length: count }, (_, n) => `order ${n}`)
  return Promise.all(
    orders.map(async (order) => {
      const session = new ProxySession(deployment)
      await session.open()
      return { order, ...(await session.call('order', { order })) }
    }),
  )
}

describe('Three processes behind a proxy that knows no sessions', () => {
  it('answer 200 sessions at once, each in order and without loss', async () => {
    const { deployment, effects } = await start(3)
    const placed = await placeOrders(deployment, 200)
    for (const { order, answer, messages } of placed) {
      expect(answer).toContain(`${order} accept`)
      const progress = messages
        .filter(({ method }) => method === 'notifications/progress')
        .map(({ params }) => (params as JsonObject).progress)
      expect(progress).toEqual([0, 1, 2, 3, 4])
      expect(messages.filter(({ method }) => method === 'elicitation/create')).toHaveLength(1)
    }
    const counted = await effects()
    expect(counted).toHaveLength(200 * 9)
    expect(counted.filter(({ count }) => count !== 1)).toEqual([])
  })

  it('lose no call and repeat no step that was done when one of them is killed', async () => {
    const { deployment, effects } = await start(3)
    const placing = placeOrders(deployment, 60)
    const [killed] = deployment.processes
    while (!(await effects()).some(({ process, what }) => process === 'p0' && what === 'done 1')) {
      await sleep(10)
    }
    await killed?.end('SIGKILL')
    const placed = await placing
    const resumable = placed.filter(({ answer }) => answer !== '')
    for (const { order, answer } of resumable) expect(answer).toContain(`${order} accept`)
    expect(resumable.length).toBeGreaterThan(placed.length / 2)
    const counted = await effects()
    const total = (order: string, what: string): number =>
      counted
        .filter((each) => each.order === order && each.what === what)
        .reduce((sum, { count }) => sum + count, 0)
    for (const order of new Set(counted.map((each) => each.order))) {
      expect(total(order, 'ship'), order).toBe(1)
      for (let n = 0; n < 4; n++) {
        expect(total(order, `work ${n}`)).toBeGreaterThan(0)
        const wasDone = counted.some(
          (each) => each.order === order && each.what === `done ${n}` && each.process === 'p0',
        )
        // The one step that was under way may have been done without being noted
        if (wasDone) expect(total(order, `work ${n}`), `${order} ${n}`).toBe(1)
      }
    }
    expect(counted.some(({ process }) => process === 'p0')).toBe(true)
  })

  it('answer with 503 while the database is gone, and as before when it is back', async () => {
    const { deployment } = await start(3)
    const session = new ProxySession(deployment)
    await session.open()
    const listening = new ProxySession(deployment)
    await listening.open()
    const stream = receive(await listening.attempt('GET'))
    const slow = session.call('slow')
    // Its client comes back through another process
    const left = listening.call('slow', {}, 2)
    await sleep(700)
    await postgres.kill()
    const opening = new ProxySession(deployment)
    const statuses = new Set<number>()
    for (let n = 0; n < 9; n++) {
      const response = await fetch(deployment.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(initializeRequest('2025-11-25')),
      })
      statuses.add(response.status)
      expect(response.headers.get('retry-after')).toBe('5')
    }
    expect([...statuses]).toEqual([503])
    for (const method of ['GET', 'POST', 'DELETE']) {
      const response = await session.attempt(method)
      expect([response.status, response.headers.get('retry-after')], method).toEqual([503, '5'])
    }
    await postgres.start()
    await opening.open()
    const { answer } = await opening.call('order', { order: 'after' })
    expect(answer).toContain('after accept')
    const { answer: late, messages } = await slow
    expect(late).toContain('slow')
    expect(messages).toHaveLength(21)
    expect((await left).answer).toContain('slow')
    expect((await left).messages).toHaveLength(21)
    expect(stream.ended()).toBe(false)
    await stream.leave()
    for (const { name, printed } of deployment.processes) {
      // It prints the first error of the outage, and goes on
      expect((await fetch(deployment.url, { method: 'OPTIONS' })).ok, name).toBe(true)
      expect(printed.join('\n')).not.toContain('node:internal/process')
    }
  })

  it('serve the client of the official SDK, whose process is stopped and replaced', async () => {
    const { deployment } = await start(3)
    const client = new Client({ name: 'c', version: '1' }, { capabilities: { elicitation: {} } })
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: 'accept',
      content: { sure: true },
    }))
    await client.connect(new StreamableHTTPClientTransport(new URL(deployment.url)))
    const names = new Set<string>()
    for (let n = 0; n < 9; n++) {
      const { content } = await client.callTool({ name: 'where', arguments: {} })
      names.add(JSON.stringify(content))
    }
    expect(names.size).toBe(3)
    const ordered = client.callTool({ name: 'order', arguments: { order: 'official' } })
    await deployment.processes[1]?.end('SIGTERM')
    expect(JSON.stringify((await ordered).content)).toContain('official accept')
    await client.close()
  })
})
