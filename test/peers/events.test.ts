/** Events of a server on Node, over HTTP and stdio, to the client of the official SDK. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { serve } from '../../runtimes/node/index.ts'
import type { JsonObject } from '../../src/index.ts'
import { until } from '../client/peers.ts'
import { commandOf } from './contract.ts'
import { program } from './programs.ts'
import { createEventsServer } from './servers/events.ts'

const name = 'build.finished'
const anything = z.looseObject({})

let http: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  http = await serve(createEventsServer(), { port: 0 })
})
afterAll(() => http.close())

const transports: [string, () => StreamableHTTPClientTransport | StdioClientTransport][] = [
  ['HTTP', () => new StreamableHTTPClientTransport(new URL(http.url))],
  ['stdio', () => new StdioClientTransport(commandOf(program('events-stdio')))],
]

describe.each(transports)('the official client over %s', (_, open) => {
  test('lists event types, polls, and receives a stream until it cancels it', async () => {
    const client = new Client(
      { name: 'official', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    const received: JsonObject[] = []
    client.fallbackNotificationHandler = async (message) => {
      received.push(message)
    }
    await client.connect(open())
    const request = (method: string, params: JsonObject = {}, options = {}) =>
      client.request({ method, params }, anything, options) as Promise<JsonObject>
    const finish = (n: number, project = 'lantern') =>
      client.callTool({ name: 'finish', arguments: { project, n } })

    const { events } = await request('events/list')
    expect(events).toMatchObject([{ name, delivery: ['poll', 'push'] }])
    const params = { name, arguments: { project: 'lantern' } }
    const { cursor } = await request('events/poll', params)

    const stopped = new AbortController()
    const streaming = request('events/stream', params, { signal: stopped.signal, timeout: 60_000 })
    const ended = streaming.catch((error: unknown) => error)
    const of = (method: string) =>
      received.filter((message) => message.method === `notifications/events/${method}`)
    await until(() => of('active').length > 0)
    await finish(1)
    await finish(2, 'other')
    await finish(3)
    await until(() => of('event').length >= 2 && of('heartbeat').length > 0)
    const ids = of('event').map(({ params: event }) => (event as JsonObject).eventId)
    expect(ids).toEqual(['build_1', 'build_3'])
    stopped.abort()
    await ended

    const polled = await request('events/poll', { ...params, cursor })
    expect(polled.events).toMatchObject([{ eventId: 'build_1' }, { eventId: 'build_3' }])
    await expect(request('events/poll', { name: 'nope' })).rejects.toMatchObject({ code: -32011 })
    await client.close()
  })
})
