import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { toNodeListener } from '../../../../runtimes/node/index.ts'
import { events, streams, webhooks } from '../../../../src/events/index.ts'
import { createMemoryEventStorage } from '../../../../src/events/memory-storage.ts'
import type { EventsOptions } from '../../../../src/events/options.ts'
import type { WebhookRequest } from '../../../../src/events/webhooks/options.ts'
import {
  createHandler,
  createServer as createMcpServer,
  type Caller,
} from '../../../../src/presets/server.ts'
import { PATIENCE } from '../../../patience.ts'
import { command, start, type Running } from './run.ts'

const opened: Server[] = []
const running: Running[] = []

afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGINT')
    await ended
  }
  for (const http of opened.splice(0)) {
    http.closeAllConnections()
    http.close()
  }
})

/** A server with two event types, and the means to emit one. */
async function serve(
  options: EventsOptions = {},
  caller: Caller = {},
): Promise<{
  url: string
  ship: (id: string, city: string) => Promise<unknown>
  remove: () => unknown
  close: () => Promise<void>
}> {
  const server = createMcpServer({ name: 'shop', version: '1.0.0' })
  const shop = events({ streams: streams(), ...options })
  const shipped = shop.type('order.shipped', {
    description: 'An order was shipped',
    input: z.object({ city: z.string().optional(), weight: z.number().optional() }),
    payload: z.object({ id: z.string(), city: z.string() }),
    matches: ({ city }, payload) => city === undefined || payload.city === city,
  })
  shop.type('stock.low', { payload: z.object({ sku: z.string() }), delivery: ['poll'] })
  server.extend(shop)
  const handler = createHandler(server)
  const http = createServer(toNodeListener((request) => handler(request, caller)))
  opened.push(http)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    ship: (id, city) => shipped.emit({ id, city }, { eventId: id }),
    remove: () => shipped.remove(),
    close: () => shop.close(),
  }
}

function follow(...words: readonly string[]): Running {
  const command = start('events', ...words)
  running.push(command)
  return command
}

/** Emits until the command prints, which is when it is subscribed. */
async function untilPrinted({ outcome }: Running, emit: (id: string) => unknown): Promise<void> {
  let count = 0
  await expect
    .poll(async () => {
      await emit(`in_${count++}`)
      return outcome.out
    }, PATIENCE)
    .not.toBe('')
}

describe('The command "events"', () => {
  it('lists the event types', async () => {
    const { url } = await serve()
    expect(await command('events', url)).toEqual({
      code: 0,
      out: '  order.shipped  An order was shipped (poll, push)\n  stock.low      poll\n',
      err: '',
    })
    const { out, code } = await command('events', url, '--json')
    expect(code).toBe(0)
    expect((JSON.parse(out) as { name: string }[]).map(({ name }) => name)).toEqual([
      'order.shipped',
      'stock.low',
    ])
  })

  it('prints the events that match its arguments, until it is interrupted', async () => {
    const { url, ship } = await serve()
    const command = follow(url, 'order.shipped', 'city=Oslo')
    await untilPrinted(command, async (id) => {
      await ship(`${id}_rome`, 'Rome')
      await ship(id, 'Oslo')
    })
    command.child.kill('SIGINT')
    expect(await command.ended).toMatchObject({ code: 0, err: '' })
    for (const line of command.outcome.out.trimEnd().split('\n')) {
      expect(line).toMatch(/^\d{4}-\d\d-\d\dT\S+Z order\.shipped \{"id":"in_\d+","city":"Oslo"\}$/)
    }
  })

  it('prints events as JSON, one on each line', async () => {
    const { url, ship } = await serve()
    const command = follow(url, 'order.shipped', '--json', '--args', '{"city":"Oslo"}')
    await untilPrinted(command, (id) => ship(id, 'Oslo'))
    const [line = ''] = command.outcome.out.split('\n')
    expect(JSON.parse(line)).toMatchObject({ name: 'order.shipped', data: { city: 'Oslo' } })
  })

  it('receives webhooks on a port of this machine, and unsubscribes when it is interrupted', async () => {
    const storage = createMemoryEventStorage()
    const methods: string[] = []
    // What a tunnel does
    const tunnel = async (
      to: string,
      { signal, ...request }: WebhookRequest,
    ): Promise<Response> => {
      const port = /127\.0\.0\.1:(\d+)/.exec(running.at(-1)?.outcome.err ?? '')?.[1]
      const { pathname, search } = new URL(to)
      methods.push(request.method)
      return fetch(`http://127.0.0.1:${port}${pathname}${search}`, { signal, ...request })
    }
    const { url, ship, close } = await serve(
      { storage, webhooks: webhooks({ fetch: tunnel }) },
      { principal: 'alice' },
    )
    const webhook = ['--webhook', 'https://me.example/hooks']
    const { outcome, child, ended } = follow(url, 'order.shipped', 'city=Oslo', ...webhook)
    await expect.poll(() => storage.count(), PATIENCE).toBe(1)
    await ship('in_1', 'Rome')
    await ship('in_2', 'Oslo')
    await expect.poll(() => outcome.out, PATIENCE).toContain('"id":"in_2"')
    expect(outcome.out).toMatch(/^\S+Z order\.shipped \{"id":"in_2","city":"Oslo"\}\n$/)
    // The challenge and one event, each of which a busy machine may have received again
    expect(methods.length).toBeGreaterThanOrEqual(2)
    expect(new Set(methods)).toEqual(new Set(['POST']))
    child.kill('SIGINT')
    expect((await ended).code).toBe(0)
    expect(await storage.count()).toBe(0)
    await close()
  })

  it('ends with 1 when the server ends the subscription', async () => {
    const { url, ship, remove } = await serve()
    const command = follow(url, 'order.shipped')
    await untilPrinted(command, (id) => ship(id, 'Oslo'))
    remove()
    const { code, err } = await command.ended
    expect(code).toBe(1)
    expect(err).toContain('The server returned an error: ')
  })

  it('fails for a type or a mode that the server does not have', async () => {
    const { url } = await serve()
    expect(await command('events', url, 'nope')).toEqual({
      code: 1,
      out: '',
      err: 'The server has no event type "nope" (UNSUPPORTED)\n',
    })
    const webhook = ['--webhook', 'https://me.example/hooks']
    const { code, err } = await command('events', url, 'stock.low', ...webhook)
    expect(code).toBe(1)
    expect(err).toMatch(
      /^Receiving on http:\/\/127\.0\.0\.1:\d+, to which https:\/\/me\.example\/hooks must forward requests\n/,
    )
    expect(err).toContain('"stock.low" is delivered by poll, but "webhook" was requested')
  })

  it('refuses options that do not fit', async () => {
    for (const [words, message] of [
      [['--webhook', 'https://me.example/'], 'Specify an event type'],
      [['a', '--port', '8080'], '"--port" needs "--webhook"'],
      [['a', '--webhook', 'http://me.example'], '"--webhook" must be a URL that begins with'],
      [['a', 'city'], '"city" is not of the form name=value'],
    ] as const) {
      const { url } = await serve()
      const { code, err } = await command('events', url, ...words)
      expect([code, err]).toEqual([2, expect.stringContaining(message)])
    }
  })
})
